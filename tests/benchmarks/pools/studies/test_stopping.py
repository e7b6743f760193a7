"""Rules that say when to stop, by replays that are written down; and the command, on small pools."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.pools import __main__ as command_line
from benchmarks.pools.studies import stopping
from benchmarks.pools.studies.stopping import StoppingStudy, below, stop_of, without_success


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
    return pd.DataFrame({"pool": pool, "start": start, **numbers})


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
    rows = pd.concat([REPLAY, other, replay_of([0.9], [1.0], pool="r")], ignore_index=True)
    rules, found, *_ = StoppingStudy(data=Path(), pools=("zinc",)).tables(rows)
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


def test_a_command_replays_what_is_missing(folder, capsys, monkeypatch):
    for name, value in (("START", 10), ("SIZE", 8), ("MOST", 0.34)):
        monkeypatch.setattr(stopping, name, value)
    out = folder / "stopping.csv"
    command = ["stopping", "--data", str(folder), "--starts", "2", "--out", str(out)]
    assert command_line.main([*command, "--pools", "zinc_QED"]) == 0
    assert command_line.main([*command, "--pools", "zinc_QED", "zinc_LogP"]) == 0
    shown = capsys.readouterr().out
    assert "When to stop, 4 replays of 2 pools" in shown
    rounds = pd.read_csv(out)
    assert rounds["measured"].unique().tolist() == [10, 18]  # and 8 more, of the 30 that are a third of the pool
    assert rounds.groupby(["pool", "start"]).size().tolist() == [2] * 4
    after = rounds["regret"].to_numpy()[0::2] - np.clip(rounds["came"].to_numpy()[0::2], 0, None)
    np.testing.assert_allclose(after, rounds["regret"].to_numpy()[1::2], atol=1e-5)


def test_a_pool_without_room_for_a_batch_is_refused(folder, capsys, monkeypatch):
    monkeypatch.setattr(stopping, "MOST", 0.5)
    assert command_line.main(["stopping", "--data", str(folder), "--pools", "zinc_QED"]) == 1
    assert "Expected a task that was finished. Got none." in capsys.readouterr().err
