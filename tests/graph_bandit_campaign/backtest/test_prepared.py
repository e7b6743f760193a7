"""A backtest reads a prepared pool as it reads the table that the pool was made from."""

import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts
from support.tables import write

from graph_bandit_campaign import BacktestSettings
from graph_bandit_campaign.backtest.table import read_table
from graph_bandit_campaign.pool import table as memory
from graph_bandit_cli.main import main

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
    return prepare_in_parts(table, table.parent / "pool", 16)


def read(path, **more):
    return read_table(BacktestSettings(path, path.parent / "out", **{"maximize": "y", **more}))


@pytest.mark.parametrize("features", [(), ("dock",)])
def test_molecules_and_values_are_those_of_the_table(features, table, pool):
    plain, prepared = read(table, features=features), read(pool, features=features)
    assert prepared.molecules.ids == plain.molecules.ids
    assert prepared.digest() == plain.digest(), "so a backtest of the one goes on with the other"
    assert prepared.remarks == plain.remarks
    assert prepared.budget == plain.budget
    assert set(plain.molecules.traits.names) <= set(prepared.molecules.traits.names)


def test_the_plays_are_those_of_the_table(table, pool, tmp_path):
    for name, path in (("plain", table), ("prepared", pool)):
        command = ["backtest", str(path), "--maximize", "y", "--out", str(tmp_path / name), "--workers", "None"]
        command += ["--starts", "5", "--budget", "16", "--n", "3", "--baselines", "similarity", "--features", "dock"]
        assert main(command) == 0
    assert (tmp_path / "prepared/results.csv").read_bytes() == (tmp_path / "plain/results.csv").read_bytes()


def test_a_pool_that_does_not_fit_into_memory_is_refused_with_the_count_that_fits(pool, monkeypatch):
    room = memory.BYTES_AT_ALL + 300 * (memory.BYTES_PER_MEASUREMENT + 300 * memory.BYTES_PER_PAIR)
    monkeypatch.setattr(memory, "available_memory", lambda: room + 40 * memory.BYTES_PER_MOLECULE)
    with pytest.raises(ValueError, match=r"has 61 molecules, and 40 fit into the 0\.\d GB"):
        read(pool)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"maximize": "z"}, "Expected a column `z`"),
        ({"maximize": "text"}, r"table.csv, line 52: expected a number.* Got 'good'"),
        ({"features": ("text",)}, "line 52: expected a number in `text`"),
        ({"features": ("text",), "skip_bad_rows": True}, "Expected at least one number in column `text`"),
    ],
)
def test_what_cannot_be_replayed_is_refused(change, message, pool):
    with pytest.raises(ValueError, match=message):
        read(pool, **change)


def test_a_folder_that_is_no_pool_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="to be a prepared pool"):
        read(tmp_path)
