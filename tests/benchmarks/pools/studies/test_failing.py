"""The study of failures, on a small pool."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks.pools import __main__ as command_line
from benchmarks.pools.studies import failing as plays
from benchmarks.pools.studies.failing import LIPOPHILIC, RANDOM, FailingStudy, find_causes
from benchmarks.pools.study import read_molecules

MOLECULES = some_molecules(60)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    for name, value in (("START", 14), ("BATCH", 6), ("ROUNDS", 2)):
        monkeypatch.setattr(plays, name, value)


def test_causes_fail_about_a_fifth_of_a_pool_and_are_always_the_same():
    causes = find_causes("pool", MOLECULES)
    assert list(causes)[-2:] == [LIPOPHILIC, RANDOM]
    assert all(0.1 < fails.mean() < 0.3 for fails in causes.values())
    assert np.array_equal(causes[RANDOM], find_causes("pool", MOLECULES)[RANDOM])
    assert not np.array_equal(causes[RANDOM], find_causes("other", MOLECULES)[RANDOM])


def test_both_ways_of_a_cause_start_alike_and_count_what_failed(folder):
    rows = [*FailingStudy(data=folder).play("zinc_QED", LIPOPHILIC, 0)]
    assert [row[0] for row in rows] == [0, 1]
    assert {row[2] for row in rows} == {12}
    molecules = read_molecules("zinc_QED", folder)
    fails = find_causes("zinc_QED", molecules)[LIPOPHILIC]
    orders = [plays.play(molecules, fails, learns, 0) for learns in (False, True)]
    assert orders[0][:14].tolist() == orders[1][:14].tolist()
    assert [row[3] for row in rows] == [fails[order[14:]].sum() for order in orders]


def test_a_command_plays_every_cause(folder, monkeypatch, capsys):
    causes = find_causes("zinc_QED", read_molecules("zinc_QED", folder))
    monkeypatch.setattr(plays, "play", lambda molecules, fails, learns, seed: np.arange(30))
    command = ["failing", "--data", str(folder), "--pools", "zinc_QED", "--by-cause"]
    assert command_line.main(command) == 0
    shown = capsys.readouterr().out
    assert all(f"zinc_QED: {cause} " in shown for cause in causes)


def test_tables_sum_failures_over_pools_and_subtract_tops():
    columns = [*FailingStudy.key, *FailingStudy.scores]
    rows = [
        ("A", "halogen", "0", 0, 0.2, 100, 20, 50.0),
        ("A", "halogen", "0", 1, 0.2, 100, 5, 55.0),
        ("B", "ester", "0", 0, 0.2, 100, 10, 40.0),
        ("B", "ester", "0", 1, 0.2, 100, 1, 41.0),
        ("B", RANDOM, "0", 0, 0.2, 100, 0, 40.0),
        ("B", RANDOM, "0", 1, 0.2, 100, 0, 40.0),
    ]
    found = [*FailingStudy(data=Path(), by_cause=True).tables(pd.DataFrame(rows, columns=columns))]
    substructures, random = found[0].rows[1:]
    assert substructures[:5] == ("a substructure", "2", "20", "15.0", "3.0")
    assert substructures[5].startswith("0.20 [")
    assert substructures[6:] == ("45.0", "+3.0 [+1.0, +5.0]")
    assert random[0] == "random"
    assert [row[0] for row in found[1].rows[1:]] == ["A: halogen", "B: ester", "B: random"]
