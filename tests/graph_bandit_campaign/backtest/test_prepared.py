"""A backtest reads a prepared pool as it reads the table that the pool was made from."""

import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts
from support.tables import write

from graph_bandit_campaign import BacktestSettings
from graph_bandit_campaign.backtest.table import read_table

MOLECULES = some_molecules(60)
VALUES = [f"{value:.3f}" for value in MOLECULES.targets]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table with failures, bounds, gaps and repeated molecules, and a column of numbers that help to predict."""
    values = [*VALUES]
    values[0], values[1], values[2], values[3] = "failed", "", ">4.5", "1.0"
    cells = zip(range(60), MOLECULES.smiles, values, strict=True)
    rows = [(f"m{k}", text, value, "" if k == 9 else k % 7, "good" if k == 50 else "") for k, text, value in cells]
    rows += [("again3", MOLECULES.smiles[3], 3.0, 8, ""), ("salt", "[Na+].CC(=O)[O-]", "-0.5", 1, "")]
    folder = tmp_path_factory.mktemp("table")
    return write(folder / "table.csv", [("id", "smiles", "Y", "dock", "text"), *rows])


@pytest.fixture(scope="module")
def pool(table):
    return prepare_in_parts(table, table.parent / "pool", 16, ignore_column=("Y", "dock"))


def read(path, **more):
    given = {"maximize": "y", "ignore_column": ("dock",), **more}
    return read_table(BacktestSettings(path, path.parent / "out", **given))


@pytest.mark.parametrize("features", [(), ("dock",)])
def test_molecules_and_values_are_those_of_the_table(features, table, pool):
    plain, prepared = read(table, features=features), read(pool, features=features)
    assert prepared.molecules.ids == plain.molecules.ids
    assert prepared.digest() == plain.digest(), "so a backtest of the one goes on with the other"
    assert prepared.remarks == plain.remarks
    assert prepared.budget == plain.budget
    assert set(plain.molecules.traits.names) <= set(prepared.molecules.traits.names)
