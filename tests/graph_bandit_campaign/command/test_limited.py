"""`suggest` with limits, from the command line to files, page and later rounds."""

import json

import pytest
from rdkit import Chem
from rdkit.Chem.Descriptors import MolWt
from support import ROOT
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign.constraints.limits.properties import PROPERTIES
from graph_bandit_cli.main import main

MOLECULES = some_molecules(24)
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))
MASS = {name: MolWt(Chem.MolFromSmiles(text)) for name, text in SMILES.items()}
MEDIAN = sorted(MASS.values())[12]
HEAVY, LIGHT = f"mw>{MEDIAN}", f"mw<{MEDIAN}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles", "stock"), *((name, SMILES[name], stock(name)) for name in NAMES)])
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])])
    return tmp_path


def stock(name):
    return "yes" if int(name[1:]) % 2 else "no"


def suggest(*more, n=3):
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", str(n), "--maximize", "logp"]
    return main([*command, "--out", "out.csv", "--agent", "molecule-ucb:short_list=10", *more])


def suggested():
    return [row["id"] for row in read("out.csv")]


def state():
    with open("out.campaign.json") as file:
        return json.load(file)


def test_other_cells_in_the_column_are_another_question(folder):
    assert suggest("--only", "stock=yes") == 0
    rows = [(name, SMILES[name], "yes") for name in NAMES]
    write("pool.csv", [("id", "smiles", "stock"), *rows])
    assert suggest("--only", "stock=yes") == 0
    assert len(state()["rounds"]) == 2


def test_results_that_break_a_limit_teach_and_pending_ones_stay_pending(folder):
    assert suggest("--require", LIGHT) == 0
    pending = set(suggested())
    light = {name for name in NAMES if MASS[name] < MEDIAN}
    assert light & set(NAMES[:6])
    assert suggest("--require", HEAVY, "--predictions", "all.csv") == 0
    assert {result["id"] for result in state()["measured"]} == set(NAMES[:6])
    assert pending < set(state()["pending"])
    assert all(MASS[name] > MEDIAN for name in suggested())
    states = {row["id"]: row["state"] for row in read("all.csv")}
    assert {states[name] for name in pending} == {"pending"}


def test_help_and_guide_name_every_property(capsys):
    with pytest.raises(SystemExit):
        main(["suggest", "--help"])
    for text in (capsys.readouterr().out, (ROOT / "docs/guides/limits_and_prices.md").read_text(encoding="utf-8")):
        assert not [name for name in PROPERTIES if name not in text]
