"""Replays: plans of the papers, scores by their definitions, pairs of equal starts, and the command on small pools."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks.pools import __main__ as command_line
from benchmarks.pools import catalogue, study
from benchmarks.pools.catalogue import Pool, find_pools
from benchmarks.pools.screening import Plan
from benchmarks.pools.studies import replay
from benchmarks.pools.studies.replay import PLANS, SCORES, WAY, ReplayStudy, read_shuffled, score


@pytest.fixture(autouse=True)
def nothing_read():
    read_shuffled.cache_clear()


def test_plans_are_those_of_the_papers_and_show_scores_that_there_are():
    assert {name: tuple(plan) for name, (plan, _, _) in PLANS.items()} == {
        "docking": (100, 100, 5),
        "affinity": (60, 30, 10),
        "zinc": (10, 5, 18),
        "chembl": (30, 20, 5),
        "peers": (10, 10, 9),
        "sequential": (10, 1, 40),
    }
    assert all(set(shown) <= set(SCORES) and find_pools(pools) for _, shown, pools in PLANS.values())


def test_scores_of_a_replay_are_those_of_its_order():
    generator = np.random.default_rng(0)
    values = generator.permutation(200).astype(float)  # the top 1, 2 and 5 % are 2, 4 and 10 molecules
    order = np.argsort(values)[[0, 50, 100, 150, 190, 199, 197]]
    assert dict(zip(SCORES, score(values, order, 3), strict=True)) == pytest.approx(
        {
            "% of the top 1 %": 50.0,
            "% of the top 2 %": 50.0,
            "% of the top 5 %": 30.0,
            "% of the way": 100.0,
            "% optimum found": 100.0,
            "mean simple regret (sd)": np.mean([49, 9, 0, 0]) / np.std(np.arange(200)),
        }
    )
    assert score(values, order[:5], 3)[3:5] == pytest.approx((100 * 90 / 99, 0.0))


def test_the_rows_of_a_table_are_mixed(tmp_path, monkeypatch):
    """A player that breaks ties by index must not profit from a table that is sorted by value."""
    chains = ["C" * n for n in range(1, 41)]
    pd.DataFrame({"smiles": chains, "target": range(40)}).to_csv(tmp_path / "table.csv", index=False)
    for name in ("p", "q", "p+more"):
        monkeypatch.setitem(catalogue.POOLS, name, Pool(name, "computed", "table.csv", "target"))
    first, other, more = (read_shuffled(name, tmp_path).targets.tolist() for name in ("p", "q", "p+more"))
    assert first == more != other != sorted(other)


def test_molecules_that_were_drawn_stay_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "DRAWN", 50)
    molecules = some_molecules(60)
    lines = ["smiles,score", *(f"{text},{-value}" for text, value in zip(*molecules_of(molecules), strict=True))]
    (tmp_path / "docking_pool.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    drawn = np.random.default_rng(3).choice(60, 50, replace=False)
    assert read_shuffled("docking-3", tmp_path).targets == pytest.approx(molecules.targets[drawn])


def molecules_of(molecules):
    return molecules.smiles, molecules.targets.tolist()


def test_a_command_plays_what_is_missing_and_prints_tables(folder, capsys, monkeypatch):
    monkeypatch.setitem(replay.PLANS, "zinc", (Plan(10, 5, 2), *PLANS["zinc"][1:]))
    command = ["replay", "--plan", "zinc", "--pools", "zinc_QED", "zinc_LogP", "--data", str(folder), "--seeds", "2"]
    command += ["--out", str(folder / "plays.csv"), "--by-pool", "--players", "tanimoto-ei"]
    assert command_line.main(command) == 0
    assert command_line.main([*command, "random"]) == 0
    shown = capsys.readouterr().out
    assert "computed: % of the way, 2 pools, with 95 % intervals over pools" in shown
    assert "computed, by pool: % optimum found" in shown
    assert len(pd.read_csv(folder / "plays.csv")) == 2 * 2 * 2
    monkeypatch.setattr(replay, "play", lambda *task: 1 / 0)
    study.read_pool.cache_clear()
    assert command_line.main([*command, "random"]) == 0  # nothing is played again
    assert shown.endswith(capsys.readouterr().out)


def plays_of(rows):
    """A table of (pool, player, seed, share of the way)."""
    filled = [(pool, "zinc", player, seed, 2.0, *[way] * len(SCORES)) for pool, player, seed, way in rows]
    return pd.DataFrame(filled, columns=[*ReplayStudy.key, *ReplayStudy.scores])


def tables_of(rows, *players, by_pool=False):
    asked = ReplayStudy(data=Path(), plan="zinc", players=players, by_pool=by_pool)
    return [table for table in asked.tables(plays_of(rows)) if WAY in table.title]


def test_differences_are_those_of_common_seeds():
    rows = [("zinc_QED", "random", seed, 10.0 * seed + 10) for seed in (0, 1)] + [("zinc_QED", "ucb1", 1, 25.0)]
    ((title, table),) = tables_of(rows, "random", "forest-greedy", "ucb1")
    assert title == "computed: % of the way, 1 pool, with 95 % intervals over plays"
    assert table[0][:3] == ("player", "% of the way [95 % interval]", "less random [95 % interval]")
    assert table[1:] == [
        ("random", "15.0 [10.0, 20.0]", "", "2", "2.0"),
        ("ucb1", "25.0 [25.0, 25.0]", "+5.0 [+5.0, +5.0]", "1", "2.0"),
    ]


def test_rows_of_each_pool_have_intervals_over_starts():
    shifts = {"random": 0.0, "ucb1": 1.0}
    rows = [("zinc_QED", player, seed, 10.0 * seed + shift) for player, shift in shifts.items() for seed in (0, 1)]
    rows += [("zinc_LogP", "random", 0, 5.0)]
    _, by_pool = tables_of(rows, "random", "ucb1", by_pool=True)
    assert by_pool.rows[1:] == [
        ("zinc_QED", "random", "5.0 [0.0, 10.0]", "", "2"),
        ("zinc_QED", "ucb1", "6.0 [1.0, 11.0]", "+1.0 [+1.0, +1.0]", "2"),
        ("zinc_LogP", "random", "5.0 [5.0, 5.0]", "", "1"),
    ]


def test_computed_and_measured_values_have_tables_of_their_own():
    found = tables_of([("zinc_QED", "random", 0, 1.0), ("Mpro", "random", 0, 3.0)], "random")
    assert [table.rows[1][1] for table in found] == ["1.0 [1.0, 1.0]", "3.0 [3.0, 3.0]"]
