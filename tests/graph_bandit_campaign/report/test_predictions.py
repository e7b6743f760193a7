"""The table of predictions for every molecule of the pool."""

import csv

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_cli.main import main

MOLECULES = some_molecules(16)
NAMES = [f"=m{k}" for k in range(len(MOLECULES))]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *zip(NAMES, MOLECULES.smiles, strict=True)])
    values = list(zip(NAMES, MOLECULES.targets, strict=True))
    write("results.csv", [("id", "smiles", "y"), *((name, "", value) for name, value in values[:5]), ("x", "CCCBr", 1)])


def suggest(*more, agent="molecule-ucb"):
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", "2", "--minimize", "y", "--out", "out.csv"]
    assert main([*command, "--agent", agent, "--predictions", "there/all.csv", *more]) == 0
    return read("out.csv"), read("there/all.csv")


def test_each_molecule_has_a_state():
    first, rows = suggest()
    assert [(row["id"], row["smiles"]) for row in rows] == [
        (f"'{name}", text) for name, text in zip(NAMES, MOLECULES.smiles, strict=True)
    ]
    with open("results.csv", "a", newline="") as file:
        csv.writer(file).writerow([NAMES[-1], "", "failed"])
    suggested, rows = suggest("--forbid", "[F,Cl,Br,I]")
    states = {row["id"].removeprefix("'"): row["state"] for row in rows}
    assert [states[name] for name in NAMES[:5]] == ["measured"] * 5
    assert states[NAMES[-1]] == "failed"
    assert {states[row["id"].removeprefix("'")] for row in suggested} == {"suggested"}
    assert {states[row["id"].removeprefix("'")] for row in first} == {"pending"}
    for name, smiles in zip(NAMES, MOLECULES.smiles, strict=True):
        excluded = any(halogen in smiles for halogen in ("F", "Cl", "Br", "I"))
        if states[name] in ("offered", "excluded by forbid [F,Cl,Br,I]"):
            assert excluded == states[name].startswith("excluded")
    assert "offered" in states.values()
