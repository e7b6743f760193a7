"""Tables, figures and explanations of a campaign; nothing is changed."""

from pathlib import Path

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import Place, ask, explain, export, find_rows, stopping_advice
from graph_bandit_cli.main import main
from graph_bandit_env.tables import open_table

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(
        "pool.csv", [("id", "smiles", "note"), *((n, s, "=1+1") for n, s in zip(NAMES, MOLECULES.smiles, strict=True))]
    )
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])])
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--maximize", "logp", "--n", "3", "--out", "out.csv"]
    assert main([*command, "--predictions", "all.csv"]) == 0
    return Place(tmp_path / "out.campaign.json", tmp_path, workers=None)


def rows_of(place, sort="", falling=False, contains="", part="", start=0, count=100):
    return find_rows(place, "predictions", sort, falling, contains, part, start, count)


def test_numbers_are_sorted_as_numbers_and_pages_add_up(place):
    table = rows_of(place, "predicted_logp", falling=True)
    column = table.columns.index("predicted_logp")
    values = [float(row[column]) for row in table.rows if row[column]]
    assert values == sorted(values, reverse=True)
    assert table.count == len(NAMES)
    pages = [rows_of(place, "predicted_logp", falling=True, start=k, count=7).rows for k in range(0, len(NAMES), 7)]
    assert tuple(row for page in pages for row in page) == table.rows
    assert rows_of(place, start=10**9).rows == ()


def test_rows_are_found_by_text_and_by_substructure(place):
    from rdkit import Chem

    ring = Chem.MolFromSmarts("c1ccncc1")
    having = {n for n, s in zip(NAMES, MOLECULES.smiles, strict=True) if Chem.MolFromSmiles(s).HasSubstructMatch(ring)}
    assert {row[0] for row in rows_of(place, part="c1ccncc1").rows} == having
    assert [row[0] for row in rows_of(place, contains="M12").rows] == ["m12"]
    assert rows_of(place, contains="\0").count == 0


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".xlsx"])
def test_a_table_is_the_same_as_any_file(place, tmp_path, kind):
    (tmp_path / f"sent{kind}").write_bytes(export(place, "predictions", kind))
    with open_table(tmp_path / f"sent{kind}") as table, open_table(tmp_path / "all.csv") as other:
        columns = ["id", "predicted_logp"]
        assert [cells for _, cells in table.rows(columns)] == [cells for _, cells in other.rows(columns)]


def test_why_says_what_the_table_of_suggestions_says(place):
    before = Path("out.campaign.json").read_bytes()
    rows = read("out.csv")
    answers = explain(place, [row["id"] for row in rows])
    assert Path("out.campaign.json").read_bytes() == before
    for answer, row in zip(answers, rows, strict=True):
        assert (answer.id, answer.smiles) == (row["id"], row["smiles"])
        assert answer.explanations == {"logp": row["explanation"]}
        assert answer.predictions["predicted_logp"] == row["predicted_logp"]
        assert answer.predictions["interval_90_low"] == row["interval_90_low"]
        assert [(near.id, f"{near.value:.4g}") for near in answer.nearest] == [
            (row[f"nearest_{k}"], f"{float(row[f'nearest_{k}_logp']):.4g}") for k in (1, 2, 3)
        ]


def test_enough_says_what_the_command_says(place):
    assert stopping_advice(place) == ask(place).advice
