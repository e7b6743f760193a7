"""The benchmark of two goals: the hypervolume against a grid, equal starts, rows that are kept, and the tables."""

import contextlib
import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.molecules import some_molecules

from benchmarks.pools import __main__ as command_line
from benchmarks.pools import catalogue
from benchmarks.pools.studies import goals as plays
from benchmarks.pools.studies.goals import GoalsStudy, hypervolume, share_of_hypervolume

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
def data(tmp_path, monkeypatch):
    """A table with two quantities, the second one missing in five rows, and short plays in this process."""
    for name, value in (("START", 8), ("BATCH", 6), ("SCORED", (14, 20))):
        monkeypatch.setattr(plays, name, value)
    for name, wanted in (("big", "large"), ("little", "small")):
        monkeypatch.setitem(catalogue.POOLS, name, catalogue.Pool(name, "computed", "pool.csv", name, wanted))
    rows = [
        (smiles, value, value**2 % 1 if k > 4 else "")
        for k, (smiles, value) in enumerate(zip(MOLECULES.smiles, MOLECULES.targets.tolist(), strict=True))
    ]
    with open(tmp_path / "pool.csv", "w", newline="") as file:
        csv.writer(file).writerows([("smiles", "big", "little"), *rows])
    plays.read_pair.cache_clear()
    return tmp_path


def test_players_start_alike_and_measure_each_molecule_once(data):
    molecules, values = plays.read_pair("big:little", data)
    assert len(molecules) == 35
    assert values[:, 1] == pytest.approx(-(values[:, 0] ** 2 % 1))
    goals = [plays.Goal("big"), plays.Goal("little", "minimize")]
    orders = [plays.play(molecules, values, goals, player, seed=1) for player in plays.PLAYERS]
    assert all(order[:8] == orders[0][:8] for order in orders)
    assert all(len(set(order)) == len(order) == 20 for order in orders)
    assert len({tuple(order) for order in orders}) == len(orders)
    assert [plays.play(molecules, values, goals, "front", seed=1)] == orders[:1]


def test_a_campaign_of_both_goals_comes_nearer_to_the_front_than_chance(data):
    asked = GoalsStudy(data=data, pairs=("big:little",), players=("front", "random"), seeds=3)
    found = {name: [next(asked.play("big:little", name, seed))[3] for seed in range(3)] for name in asked.players}
    assert np.mean(found["front"]) > np.mean(found["random"])


def test_the_command_prints_a_table_for_each_reference(data, capsys):
    arguments = ["goals", "--data", str(data), "--pairs", "big:little", "--seeds", "1", "--players", "front", "random"]
    assert command_line.main(arguments) == 0
    shown = capsys.readouterr().out
    assert "big:little, 35 molecules: % of the hypervolume of the pool from the median values" in shown


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
    rows = pd.DataFrame(rows[:-1], columns=[*GoalsStudy.key, *GoalsStudy.scores])
    worst, median = GoalsStudy(data=Path()).tables(rows)
    assert worst.rows[1][1:3] == ("51.0 [50.0, 52.0]", "")
    assert worst.rows[2][2] == "+10.0 [+10.0, +10.0]"
    assert median.rows[2][4] == "+14.0 [+14.0, +14.0]"
    assert median.rows[2][5] == "2"
