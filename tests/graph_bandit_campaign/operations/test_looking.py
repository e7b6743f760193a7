"""Questions about a campaign that change nothing."""

from pathlib import Path

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import Desk, enough, why
from graph_bandit_cli.main import main

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *SMILES.items()])
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in NAMES[:8])])
    return Desk(tmp_path / "out.campaign.json", tmp_path, workers=None)


def suggest(*more):
    assert main(["suggest", "pool.csv", "--n", "3", "--maximize", "logp", "--out", "out.csv", *more]) == 0


def test_why_says_what_the_table_of_suggestions_says(desk):
    suggest("--measured", "results.csv")
    before = Path("out.campaign.json").read_bytes()
    rows = read("out.csv")
    answers = why(desk, [row["id"] for row in rows])
    assert Path("out.campaign.json").read_bytes() == before
    for answer, row in zip(answers, rows, strict=True):
        assert (answer.id, answer.smiles) == (row["id"], row["smiles"])
        assert answer.reasons == {"logp": row["reasons"]}
        assert answer.predictions["predicted_logp"] == row["predicted_logp"]
        assert answer.predictions["interval_90_low"] == row["interval_90_low"]
        assert [text.split(" ")[0] for text in answer.nearest] == [row[f"nearest_{k}"] for k in (1, 2, 3)]


def test_enough_says_what_the_command_says(desk, capsys):
    suggest("--measured", "results.csv")
    said = capsys.readouterr().out
    assert enough(desk) in said
    assert "a better logp" in enough(desk)
