"""Rules that say when to stop, by replays that are written down; and the command, on small pools."""

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks import parallel
from benchmarks.pools import __main__ as command_line
from benchmarks.pools.stopping import replays
from benchmarks.pools.stopping.replays import COLUMNS
from benchmarks.pools.stopping.rules import below, stop_of, tables, without_success
from graph_bandit_lab.execution import InProcess


def replay_of(better, regret, pool="p", start="0"):
    """A replay in batches of 20, from 30 of 100."""
    count = len(better)
    numbers = {
        "round": np.arange(count) + 1,
        "molecules": 100,
        "measured": 30 + 20 * np.arange(count),
        "better": better,
        "batch": np.asarray(better) / 2,
        "gain": 0.1,
        "came": -np.diff([*regret, regret[-1]]) - 0.01,
        "regret": regret,
        "found": [3 if value else 10 for value in regret],
    }
    return pd.DataFrame({"pool": pool, "start": start, "size": "20", "most": "1.0", **numbers})[list(COLUMNS)]


REPLAY = replay_of([0.5, 0.12, 0.3, 0.14, 0.08], [0.4, 0.4, 0.4, 0.0, 0.0])


@pytest.mark.parametrize(
    ("rule", "measured"),
    [
        (below("better", 0.15), 50),
        (below("better", 0.15, rounds=2), 110),
        (below("better", 0.1), 110),
        (below("better", 0.05), None),
        (without_success(40), 70),
        (without_success(60), None),  # a better one came after 60 results
        (without_success(20), 50),
    ],
)
def test_a_rule_stops_in_the_first_round_in_which_it_holds(rule, measured):
    stop = stop_of(REPLAY, rule)
    assert (stop is None) == (measured is None)
    assert stop is None or stop["measured"] == measured


def test_a_table_counts_what_was_missed_and_saved():
    other = replay_of([0.5, 0.4, 0.14], [0.2, 0.0, 0.0], pool="q")
    rules, found, *_ = tables(pd.concat([REPLAY, other, replay_of([0.9], [1.0], pool="r")], ignore_index=True))
    assert rules.title == "When to stop, 3 replays of 3 pools"
    row = next(row for row in rules.rows if row[0] == "better below 15%")
    assert row[1:] == (
        "2 of 3",
        "1",
        "2",
        "6.5",
        "0.20, 0.40",
        "60",
        "27",
    )  # stops at 50 and 70 of 100; 80 / 3 are saved
    assert next(row for row in rules.rows if row[0] == "better below 5%")[1:3] == ("0 of 3", "")
    by_bin = {row[0]: row for row in found.rows[1:]}
    assert by_bin["10% to 15%"][1:] == ("0.133", "0.333 [0.000, 0.500]", "3")
    assert by_bin["50% to 100%"][2].startswith("1.000")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two small pools, replayed in this process."""
    (tmp_path / "rbo").mkdir()
    molecules = some_molecules(60)
    for number, name in enumerate(("QED", "LogP")):
        table = pd.DataFrame({"smiles": molecules.smiles, "target": molecules.targets * (-1) ** number})
        table.to_csv(tmp_path / "rbo" / f"zinc_{name}.csv.gz", index=False)
    monkeypatch.setattr(parallel, "Processes", lambda count: InProcess())
    return tmp_path


def test_a_command_replays_what_is_missing(folder, capsys, monkeypatch):
    monkeypatch.setattr(replays, "START", 10)
    out = folder / "stopping.csv"
    command = ["stopping", "--data", str(folder), "--size", "8", "--most", "0.5", "--starts", "2", "--out", str(out)]
    assert command_line.main([*command, "--pools", "zinc_QED"]) == 0
    assert command_line.main([*command, "--pools", "zinc_QED", "zinc_LogP"]) == 0
    shown = capsys.readouterr().out
    assert "When to stop, 4 replays of 2 pools" in shown
    rounds = pd.read_csv(out)
    assert rounds["measured"].unique().tolist() == [10, 18]  # and 8 more, of the 30 that are half of the pool
    assert rounds.groupby(["pool", "start"]).size().tolist() == [2] * 4
    after = rounds["regret"].to_numpy()[0::2] - np.clip(rounds["came"].to_numpy()[0::2], 0, None)
    np.testing.assert_allclose(after, rounds["regret"].to_numpy()[1::2], atol=1e-5)
    monkeypatch.setattr(replays, "replay_one", lambda *task: 1 / 0)
    assert command_line.main([*command, "--pools", "zinc_QED", "zinc_LogP"]) == 0  # nothing is replayed again
    assert capsys.readouterr().out.endswith(shown[shown.index("When to stop, 4") :])


def test_a_pool_without_room_for_a_batch_and_bad_settings_are_refused(folder, capsys):
    command = ["stopping", "--data", str(folder), "--pools", "zinc_QED"]
    assert command_line.main([*command, "--most", "0.5"]) == 1
    assert "Expected pools of at least 50 molecules in a share of 0.5" in capsys.readouterr().err
    for changes, name in ((["--most", "1.5"], "most"), (["--size", "0"], "size"), (["--starts", "0"], "starts")):
        with pytest.raises(SystemExit):
            command_line.main([*command, *changes])
        assert f"Expected `{name}`" in capsys.readouterr().err
