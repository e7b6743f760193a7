"""Whole backtests: tables with a known answer, killed and continued, and by any number of processes."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import BacktestSettings, run_backtest
from graph_bandit_campaign.backtest import run, work
from graph_bandit_campaign.backtest.kept import COLUMNS
from graph_bandit_campaign.backtest.players import SIMILARITY
from graph_bandit_campaign.backtest.table import Table
from graph_bandit_cli.main import main

MOLECULES = some_molecules(120)
FILES = {"backtest.html", "results.csv", "backtest.json"}
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


def read_page(table, out="out"):
    return " ".join((table.parent / out / "backtest.html").read_text(encoding="utf-8").split())


def test_what_follows_from_the_structure_is_found_far_sooner_than_at_random(logp, capsys):
    results = backtest(logp, baselines=("similarity",))
    assert tuple(results.columns) == COLUMNS
    last = results[results["measurement"] == 24].set_index(["player", "start"])["top_ten_found"].unstack("start")
    assert last.shape == (3, 5)
    assert last.loc["molecule-ucb"].min() >= 6
    assert last.loc["random"].max() <= 4
    assert dict(results.groupby("player")["batch"].unique().str[0]) == {"molecule-ucb": 6, "random": 1, SIMILARITY: 6}
    printed = capsys.readouterr().out
    assert "It would have helped." in printed
    assert "fewer than random choice" in printed
    assert "It would have helped." in read_page(logp)
    assert {path.name for path in (logp.parent / "out").iterdir()} >= FILES


def test_of_pure_noise_page_and_terminal_say_that_it_would_not_have_helped(tmp_path, capsys):
    table = write_table(tmp_path, np.random.default_rng(1000).normal(size=len(MOLECULES)))
    backtest(table, n=(8,), start=10, starts=10, budget=34)
    assert "It would not have helped" in capsys.readouterr().out
    assert "It would not have helped" in read_page(table)


@pytest.mark.slow
def test_small_values_are_found_as_large_negatives_are(logp, tmp_path):
    other = write_table(tmp_path, -MOLECULES.targets, "negative.csv")
    large = backtest(logp)
    small = backtest(other, "small", maximize=None, minimize="y")
    assert large["id"].tolist() == small["id"].tolist()
    assert large["best_so_far"].tolist() == (-small["best_so_far"]).tolist()
    assert large["top_ten_found"].tolist() == small["top_ten_found"].tolist()


@pytest.mark.slow
def test_one_process_and_two_play_the_same(logp):
    pytest.importorskip("sklearn")
    settings = {"baselines": ("forest", "similarity"), "budget": 14}
    backtest(logp, "one", **settings)
    backtest(logp, "two", **{**settings, "workers": 2})
    one, two = ((logp.parent / out / "results.csv").read_bytes() for out in ("one", "two"))
    assert one == two


@pytest.mark.slow
def test_what_was_finished_before_a_kill_is_not_played_again(logp, monkeypatch):
    whole = backtest(logp, "whole")
    played = []

    def dies(path, task, seed):
        played.append(task)
        if len(played) == 3:
            raise KeyboardInterrupt
        return original(path, task, seed)

    original = work.play_from_file
    monkeypatch.setattr(work, "play_from_file", dies)
    with pytest.raises(KeyboardInterrupt):
        backtest(logp)
    assert not (logp.parent / "out" / "backtest.html").exists()
    pd.testing.assert_frame_equal(backtest(logp), whole)
    assert len(played) == 3 + 3
    assert len(set(played)) == 5
    backtest(logp)
    assert len(played) == 6


@pytest.mark.slow
def test_more_starts_batches_and_agents_are_added_to_a_folder(logp, capsys):
    first = backtest(logp, n=(6, 9), start=9)
    more = backtest(logp, n=(6, 9), start=9, starts=6, agents=("molecule-ucb", "molecule-ts"))
    assert "10 of 24 plays are kept" in capsys.readouterr().out
    key = ["player", "batch", "start", "measurement"]
    both = first.merge(more, on=key, suffixes=("", "_more"))
    assert len(both) == len(first)
    assert (both["id"] == both["id_more"]).all()
    page = read_page(logp)
    assert "served best here" in page
    assert "molecule-ts, batches of 9" in page
    again = backtest(logp, n=(6, 9), start=9)
    pd.testing.assert_frame_equal(again.sort_values(key, ignore_index=True), first.sort_values(key, ignore_index=True))


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"seed": 1}, {"budget": 23}, {"start": 7}, {"minimize": "y", "maximize": None}])
def test_another_backtest_is_refused_and_nothing_changes(logp, changes):
    backtest(logp)
    before = {path.name: path.read_bytes() for path in (logp.parent / "out").iterdir()}
    with pytest.raises(ValueError, match="Expected .* to hold plays of the same backtest"):
        backtest(logp, **changes)
    assert {path.name: path.read_bytes() for path in (logp.parent / "out").iterdir()} == before


def test_a_changed_value_and_other_versions_are_refused(logp):
    backtest(logp)
    write_table(logp.parent, MOLECULES.targets + 1)
    with pytest.raises(ValueError, match="another table"):
        backtest(logp)
    write_table(logp.parent, MOLECULES.targets)
    path = logp.parent / "out" / "backtest.json"
    known = json.loads(path.read_text(encoding="utf-8"))
    known["versions"]["rdkit"] = "2020.09"
    path.write_text(json.dumps(known), encoding="utf-8")
    with pytest.raises(ValueError, match=r"rdkit 2020\.09, now "):
        backtest(logp)


def test_a_cut_file_of_results_is_refused(logp):
    backtest(logp)
    path = logp.parent / "out" / "results.csv"
    path.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[:-3]), encoding="utf-8")
    with pytest.raises(ValueError, match="not a whole play"):
        backtest(logp)


def test_files_of_others_are_not_replaced(logp):
    (logp.parent / "out").mkdir()
    theirs = logp.parent / "out" / "results.csv"
    theirs.write_text("mine\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"Expected no .*results\.csv"):
        backtest(logp)
    assert theirs.read_text(encoding="utf-8") == "mine\n"


@pytest.mark.slow
def test_without_scikit_learn_the_forest_is_left_out_and_told(logp, monkeypatch, capsys):
    monkeypatch.setattr(run, "is_installed", lambda module: False)
    results = backtest(logp, baselines=("forest",))
    assert set(results["player"]) == {"molecule-ucb", "random"}
    assert "The random forest is left out: it needs scikit-learn" in capsys.readouterr().out
    assert "The random forest is left out" in read_page(logp)


def test_the_command(logp, capsys):
    flags = "--maximize y --n 4 --starts 5 --budget 20 --start 6 --workers None --baselines similarity --agents random"
    assert main(["backtest", str(logp), "--out", str(logp.parent / "out"), *flags.split()]) == 0
    printed = capsys.readouterr().out
    assert "120 molecules with y; 5 random starts of 6, 20 measurements in all, in batches of 4." in printed
    assert "backtest.html" in printed
    assert main(["backtest", str(logp), "--out", str(logp.parent / "new"), "--maximize", "y", "--agents", "gnn"]) == 1
    assert "Unknown agent" in capsys.readouterr().err
    assert not (logp.parent / "new").exists()


def test_what_is_said_of_the_table_begins_with_a_capital(logp):
    settings = BacktestSettings(logp, logp.parent / "out", maximize="y", baselines=(), **PLAYS)
    table = Table(MOLECULES, MOLECULES.targets, True, 6, 24, ("two rows left out", "one sheet of two"))
    assert run.choose_players(settings, table)[2] == ["Two rows left out, one sheet of two."]
    assert run.choose_players(settings, dataclasses.replace(table, remarks=()))[2] == []
