"""The benchmark of failures, on a small pool."""

import csv

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks import kept_tasks
from benchmarks.pools.data.catalogue import Pool
from benchmarks.pools.failing import plays
from benchmarks.pools.failing.causes import LIPOPHILIC, RANDOM, find_causes
from benchmarks.pools.failing.tables import tables

MOLECULES = some_molecules(60)


@pytest.fixture
def pool(tmp_path, monkeypatch):
    for name, value in (("START", 14), ("BATCH", 6), ("ROUNDS", 2)):
        monkeypatch.setattr(plays, name, value)
    with open(tmp_path / "pool.csv", "w", newline="") as file:
        csv.writer(file).writerows([("smiles", "y"), *zip(MOLECULES.smiles, MOLECULES.targets, strict=True)])
    return Pool("pool", "computed", "pool.csv", "y")


def run_here(function, tasks, workers):
    for task in tasks:
        yield task, function(*task)


def test_causes_fail_about_a_fifth_of_a_pool_and_are_always_the_same():
    causes = find_causes("pool", MOLECULES)
    assert list(causes)[-2:] == [LIPOPHILIC, RANDOM]
    assert all(0.1 < fails.mean() < 0.3 for fails in causes.values())
    assert np.array_equal(causes[RANDOM], find_causes("pool", MOLECULES)[RANDOM])
    assert not np.array_equal(causes[RANDOM], find_causes("other", MOLECULES)[RANDOM])


def test_both_ways_of_a_cause_start_alike_and_count_what_failed(pool, tmp_path):
    rows = plays.play_cause("pool", LIPOPHILIC, 0, "molecule-greedy", tmp_path, pool)
    assert [row[4] for row in rows] == [0, 1]
    assert {row[6] for row in rows} == {12}
    fails = find_causes("pool", MOLECULES)[LIPOPHILIC]
    orders = [plays.play(MOLECULES, fails, "molecule-greedy", learns, 0) for learns in (False, True)]
    assert orders[0][:14].tolist() == orders[1][:14].tolist()
    assert [row[7] for row in rows] == [fails[order[14:]].sum() for order in orders]


def test_finished_plays_are_not_repeated(pool, tmp_path, monkeypatch):
    out = tmp_path / "out.csv"
    monkeypatch.setattr(kept_tasks, "run_in_parallel", run_here)
    first, failed = plays.play_all(tmp_path, [pool], "random", 1, 1, out)
    assert (failed, len(first)) == (0, 2 * len(find_causes("pool", MOLECULES)))
    monkeypatch.setattr(plays, "play_cause", None)
    again, _ = plays.play_all(tmp_path, [pool], "random", 1, 1, out)
    pd.testing.assert_frame_equal(again, first, check_dtype=False)
    assert len(tables(again)[0].rows) > 1


def test_tables_sum_failures_over_pools_and_subtract_tops():
    columns = ["pool", "cause", "learns", "seed", "agent", "share", "suggested", "failed", "top", "seconds"]
    rows = [
        ("A", "halogen", 0, 0, "x", 0.2, 100, 20, 50.0, 1),
        ("A", "halogen", 1, 0, "x", 0.2, 100, 5, 55.0, 1),
        ("B", "ester", 0, 0, "x", 0.2, 100, 10, 40.0, 1),
        ("B", "ester", 1, 0, "x", 0.2, 100, 1, 41.0, 1),
        ("B", RANDOM, 0, 0, "x", 0.2, 100, 0, 40.0, 1),
        ("B", RANDOM, 1, 0, "x", 0.2, 100, 0, 40.0, 1),
    ]
    found = tables(pd.DataFrame(rows, columns=columns), by_cause=True)
    substructures, random = found[0].rows[1:]
    assert substructures[:5] == ("a substructure", "2", "20", "15.0", "3.0")
    assert substructures[5].startswith("0.20 [")
    assert substructures[6:] == ("45.0", "+3.0 [+1.0, +5.0]")
    assert random[0] == "random"
    assert [row[0] for row in found[1].rows[1:]] == ["A: halogen", "B: ester", "B: random"]
