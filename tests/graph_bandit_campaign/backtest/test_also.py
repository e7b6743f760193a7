"""`backtest --also`: results of other assays."""

import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts
from support.tables import write

from graph_bandit_campaign import BacktestSettings
from graph_bandit_campaign.backtest.table import read_table
from graph_bandit_cli.main import main

MOLECULES = some_molecules(60)
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
VALUES = MOLECULES.targets.tolist()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = zip(NAMES, MOLECULES.smiles, ["", *VALUES[1:]], (-value for value in VALUES), strict=True)
    write("table.csv", [("id", "smiles", "y", "rat"), *rows])
    write_assay()
    return tmp_path


def write_assay(first=0.0):
    rows = [(MOLECULES.smiles[k], 3 * VALUES[k]) for k in range(20, 55)]
    write("rlm.csv", [("smiles", "rlm"), *rows, ("CCCCCCCCO", first)])


def table(folder, *also, path="table.csv", **more):
    return read_table(BacktestSettings(folder / path, folder / "out", maximize="y", also=also, **more))


def backtest(*more):
    flags = "--out out --maximize y --n 8 --starts 5 --budget 18 --start 10 --workers None"
    return main(["backtest", "table.csv", *flags.split(), *more])


def test_results_of_other_assays_are_a_part_of_the_table(folder):
    (rlm,) = table(folder, "rlm.csv").sources
    told = dict(zip(rlm.graphs, rlm.values.tolist(), strict=True))
    assert told == {"CCCCCCCCO": 0.0, **{MOLECULES.smiles[k]: 3 * VALUES[k] for k in range(20, 55)}}


def test_a_prepared_pool_learns_what_its_table_does(folder):
    prepare_in_parts(folder / "table.csv", folder / "pool", 32)
    plain, prepared = (table(folder, "rlm.csv", "table.csv:rat", path=path) for path in ("table.csv", "pool"))
    assert prepared.digest() == plain.digest()


@pytest.mark.parametrize("path", ["table.csv", "pool"])
def test_a_copy_of_the_values_is_refused(folder, path):
    prepare_in_parts(folder / "table.csv", folder / "pool", 32)
    (folder / "copy.csv").write_bytes((folder / "table.csv").read_bytes())
    with pytest.raises(ValueError, match="copy"):
        table(folder, "copy.csv:y", path=path)
