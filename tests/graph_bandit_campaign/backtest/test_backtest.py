"""Whole backtests: tables with a known answer, and by any number of processes."""

import pandas as pd
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import BacktestSettings, run_backtest
from graph_bandit_campaign.backtest.run import COLUMNS

MOLECULES = some_molecules(120)
FILES = {"backtest.html", "results.csv"}
PLAYS = {"n": (6,), "starts": 5, "budget": 24, "start": 6, "workers": None}


def write_table(folder, values, name="table.csv"):
    rows = {"id": [f"m{k}" for k in range(len(MOLECULES))], "smiles": MOLECULES.smiles, "y": values}
    pd.DataFrame(rows).to_csv(folder / name, index=False)
    return folder / name


@pytest.fixture
def logp(tmp_path):
    """A table whose values are computed from the structure."""
    return write_table(tmp_path, MOLECULES.targets)


def backtest(table, out="out", **settings):
    given = {"maximize": "y", "baselines": (), **PLAYS, **settings}
    return run_backtest(BacktestSettings(table, table.parent / out, **given))


def test_what_follows_from_the_structure_is_found_far_sooner_than_at_random(logp, capsys):
    results = backtest(logp, baselines=("ucb1",))
    assert tuple(results.columns) == COLUMNS
    last = results[results["measurement"] == 24].set_index(["player", "start"])["top_ten_found"].unstack("start")
    assert last.shape == (3, 5)
    assert last.loc["molecule-ucb"].min() >= 6
    assert last.loc["random"].max() <= 4
    assert dict(results.groupby("player")["batch"].unique().str[0]) == {"molecule-ucb": 6, "random": 1, "ucb1": 6}
    assert "It would have helped." in capsys.readouterr().out
    page = (logp.parent / "out" / "backtest.html").read_text(encoding="utf-8")
    assert "It would have helped." in page
    assert page.count("<tr><td>") == 3  # a row for each player
    assert {path.name for path in (logp.parent / "out").iterdir()} >= FILES


@pytest.mark.slow
def test_one_process_and_two_play_the_same(logp):
    settings = {"baselines": ("ucb1",), "budget": 14}
    backtest(logp, "one", **settings)
    backtest(logp, "two", **{**settings, "workers": 2})
    one, two = ((logp.parent / out / "results.csv").read_bytes() for out in ("one", "two"))
    assert one == two


@pytest.mark.slow
def test_more_starts_batches_and_agents_change_no_play(logp):
    first = backtest(logp, n=(6, 9), start=9)
    more = backtest(logp, n=(6, 9), start=9, starts=6, agents=("molecule-ucb", "molecule-ts"))
    both = first.merge(more, on=["player", "batch", "start", "measurement"], suffixes=("", "_more"))
    assert len(both) == len(first)
    assert (both["id"] == both["id_more"]).all()


def test_results_of_something_else_are_not_replaced(logp):
    (logp.parent / "results.csv").write_text("id,y\n")
    with pytest.raises(ValueError, match=r"results\.csv"):
        backtest(logp, "")
    assert (logp.parent / "results.csv").read_text() == "id,y\n"
