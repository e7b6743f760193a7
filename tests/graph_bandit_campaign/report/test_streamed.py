"""Predictions for every molecule of a prepared pool are those of the pool in memory, in its order."""

import csv

import numpy as np
import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts, suggest
from support.tables import write

COUNT = 90
MOLECULES = some_molecules(COUNT)
RANDOM = np.random.default_rng(3)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A pool with prices, a stock and a column of numbers, and results with molecules that failed."""
    folder = tmp_path_factory.mktemp("tables")
    rows = [
        (f"=m{k}", MOLECULES.smiles[k], "" if k % 11 == 0 else 1 + k % 9, "no" if k % 5 == 0 else "yes", k % 13)
        for k in range(COUNT)
    ]
    rows += [(f"again{k}", MOLECULES.smiles[k], 2, "yes", "") for k in range(0, COUNT, 10)]
    write(folder / "pool.csv", [("id", "smiles", "price", "stock", "dock"), *rows])
    known = RANDOM.choice(COUNT, 30, replace=False).tolist()
    values = [(f"=m{k}", MOLECULES.smiles[k], round(float(MOLECULES.targets[k]), 3), 5) for k in known]
    for k in range(8):
        values[k] = (*values[k][:2], "failed", 4)
    values[9] = (*values[9][:2], "pending", 3.5)
    write(folder / "results.csv", [("id", "smiles", "logp", "dock"), *values, ("x1", "CCCCCCCCO", 2.5, 1)])
    return folder


@pytest.fixture(scope="module")
def prepared(tables):
    """The pool in three parts."""
    return prepare_in_parts(tables / "pool.csv", tables / "pool", 48)


LIMITS = ("--require", "mw<330", "dock<9", "--forbid", "C#N", "--only", "stock=yes", "--price", "price")


def test_they_are_those_of_the_pool_in_memory(tables, prepared, tmp_path):
    for name, pool in (("plain", tables / "pool.csv"), ("streamed", prepared)):
        more = ("--predictions", str(tmp_path / f"all-{name}.csv"), "--features", "dock", *LIMITS)
        suggest(pool, tables / "results.csv", tmp_path / f"{name}.csv", *more)
    text = (tmp_path / "all-streamed.csv").read_text()
    assert text == (tmp_path / "all-plain.csv").read_text()
    states = {row["state"].split()[0] for row in csv.DictReader(text.splitlines())}
    assert states >= {"measured", "failed", "pending", "suggested", "offered", "excluded"}
    assert "probability_of_failing" in text
