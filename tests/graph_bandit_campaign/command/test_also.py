"""`suggest --also`: results of other assays."""

import pytest
from support.molecules import some_molecules
from support.tables import write

from graph_bandit_cli.main import main

MOLECULES = some_molecules(60)
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
VALUES = MOLECULES.targets.tolist()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *zip(NAMES, MOLECULES.smiles, strict=True)])
    write("results.csv", [("id", "logp"), *((NAMES[k], VALUES[k]) for k in range(0, 60, 6))])
    write_assay()


def write_assay(first=0.0):
    rows = [(MOLECULES.smiles[k], 3 * VALUES[k]) for k in range(20, 55)]
    write("rlm.csv", [("smiles", "rlm"), *rows, ("CCCCCCCCO", first)])


def suggest(*more, pool="pool.csv"):
    return main(["suggest", pool, "--measured", "results.csv", "--n", "4", "--maximize", "logp", *more])


def test_another_campaign_teaches_by_what_it_has_measured(capsys):
    assert suggest("--out", "old.csv") == 0
    write(
        "pool.csv",
        [("name", "smiles"), *((f"new {name}", text) for name, text in zip(NAMES, MOLECULES.smiles, strict=True))],
    )
    write("results.csv", [("name", "logp"), *((f"new {NAMES[k]}", VALUES[k]) for k in range(3, 60, 9))])
    capsys.readouterr()
    assert suggest("--out", "out.csv", "--id", "name", "--also", "old.campaign.json") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "10 molecules of old.campaign.json teach by `old logp`, 10 of them in the pool" in printed
    assert "by their correlation with logp: old logp +0." in printed
