"""The benchmark of two goals: the hypervolume against a grid, equal starts, rows that are kept, and the tables."""

import contextlib
import csv

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.molecules import some_molecules

from benchmarks import kept_tasks
from benchmarks.pools import __main__ as command_line
from benchmarks.pools.data import catalogue
from benchmarks.pools.goals import plays
from benchmarks.pools.goals.hypervolume import hypervolume, share_of_hypervolume
from benchmarks.pools.goals.tables import tables

MOLECULES = some_molecules(40)
CELLS = 8


@given(arrays(np.int64, st.tuples(st.integers(0, 6), st.just(2)), elements=st.integers(-2, CELLS)))
def test_the_hypervolume_counts_the_cells_that_a_point_beats(points):
    x, y = np.indices((CELLS, CELLS))
    beaten = [(x < width) & (y < top) for width, top in points if min(width, top) > 0]
    expected = np.any(beaten, axis=0).sum() if beaten else 0
    assert hypervolume(points + 5.0, np.array([5.0, 5.0])) == expected


def test_a_share_does_not_depend_on_units():
    values = np.random.default_rng(0).normal(size=(50, 2))
    shares = [
        share_of_hypervolume(scaled, scaled[:10], np.median(scaled, axis=0))
        for scaled in (values, values * [3.0, 0.1] + 7.0)
    ]
    assert 0 < shares[0] < 1
    assert shares[0] == pytest.approx(shares[1])
    assert share_of_hypervolume(values, values, values.min(axis=0)) == 1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table with two quantities, the second one missing in five rows, and short plays in this process."""
    for name, value in (("START", 8), ("BATCH", 6), ("SCORED", (14, 20))):
        monkeypatch.setattr(plays, name, value)
    monkeypatch.setattr(
        kept_tasks, "run_in_parallel", lambda function, tasks, workers: ((each, function(*each)) for each in tasks)
    )
    for name, wanted in (("big", "large"), ("little", "small")):
        monkeypatch.setitem(catalogue.POOLS, name, catalogue.Pool(name, "computed", "pool.csv", name, wanted))
    rows = [
        (smiles, value, value**2 % 1 if k > 4 else "")
        for k, (smiles, value) in enumerate(zip(MOLECULES.smiles, MOLECULES.targets.tolist(), strict=True))
    ]
    with open(tmp_path / "pool.csv", "w", newline="") as file:
        csv.writer(file).writerows([("smiles", "big", "little"), *rows])
    plays._read_pair.cache_clear()
    return tmp_path


def test_players_start_alike_and_measure_each_molecule_once(folder):
    molecules, values = plays._read_pair(folder, "big:little")
    assert len(molecules) == 35
    assert values[:, 1] == pytest.approx(-(values[:, 0] ** 2 % 1))
    goals = [plays.Goal("big"), plays.Goal("little", "minimize")]
    orders = [plays.play(molecules, values, goals, player, seed=1) for player in plays.PLAYERS]
    assert all(order[:8] == orders[0][:8] for order in orders)
    assert all(len(set(order)) == len(order) == 20 for order in orders)
    assert len({tuple(order) for order in orders}) == len(orders)
    assert [plays.play(molecules, values, goals, "front", seed=1)] == orders[:1]


def test_a_campaign_of_both_goals_comes_nearer_to_the_front_than_chance(folder):
    asked = [plays.Task("big:little", player, seed) for seed in range(3) for player in ("front", "random")]
    rows, failed = plays.play_all(folder, asked, 1, None)
    assert not failed
    means = rows.groupby("player")["worst 100"].mean()
    assert means["front"] > means["random"]


def test_the_command_keeps_what_is_finished(folder, monkeypatch, capsys):
    arguments = ["goals", "--data", str(folder), "--pairs", "big:little", "--seeds", "1", "--out"]
    arguments += [str(folder / "out.csv"), "--players", "front", "random"]
    assert command_line.main(arguments) == 0
    shown = capsys.readouterr().out
    assert "big:little, 35 molecules: % of the hypervolume of the pool from the median values" in shown
    monkeypatch.setattr(plays, "play_one", lambda folder, *entries: pytest.fail("played again"))
    assert command_line.main(arguments) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pairs", "solubility"], "Expected the names of two pools"),
        (["--pairs", "solubility:adme"], "Expected the names of two pools"),
        (["--pairs", "solubility:HML"], "Did you mean `HLM`"),
        (["--players", "fronts"], "Unknown player `fronts`"),
        (["--seeds", "0"], "Expected `seeds` of at least 1"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments, message, tmp_path, capsys):
    with contextlib.suppress(SystemExit):
        assert command_line.main(["goals", "--data", str(tmp_path), *arguments]) == 1
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_differences_are_those_of_equal_seeds():
    rows = [
        ("a:b", player, str(seed), 200.0, 1.0, *(score + seed for score in scores))
        for player, scores in (("front", (50, 60, 10, 20)), ("random", (40, 45, 5, 6)))
        for seed in range(3)
    ]
    worst, median = tables(pd.DataFrame(rows[:-1], columns=plays.COLUMNS))
    assert worst.rows[1][1:3] == ("51.0 [50.0, 52.0]", "")
    assert worst.rows[2][2] == "+10.0 [+10.0, +10.0]"
    assert median.rows[2][4] == "+14.0 [+14.0, +14.0]"
    assert median.rows[2][5] == "2"
