"""Suggestions in tables of every kind, with the other columns of the pool."""

import json
from pathlib import Path

import pytest
from support.molecules import some_molecules
from support.tables import write

from graph_bandit_campaign.report.tables import write_table
from graph_bandit_cli.main import main
from graph_bandit_env.tables import open_table

SMILES = some_molecules(24).smiles
OTHERS = ["vendor", "Rank", "dock", "note"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = [("A", f"r{k}", f"-{k}.5", "=1+1") for k in range(len(SMILES))]
    rows = [(f"m{k}", text, 10, "", *cells[k]) for k, text in enumerate(SMILES)]
    rows += [(f"m{k}", text, 9, "", "B", f"r{k}", f"-{k}.5", "") for k, text in enumerate(SMILES)]  # a second offer
    write("pool.csv", [("id", "smiles", "price", "LogP", *OTHERS), *rows])
    write("results.csv", [("id", "logp"), *((f"m{k}", float(k)) for k in range(4))])
    return tmp_path


def suggest(out, *more, pool="pool.csv", measured=("results.csv",)):
    command = ["suggest", pool, "--measured", *measured, "--n", "3", "--maximize", "logp", "--out", out]
    return main([*command, "--agent", "molecule-ucb:short_list=20", *more])


def read(name):
    with open_table(name) as table:
        return [dict(zip(table.columns, cells, strict=True)) for _, cells in table.rows(table.columns)]


@pytest.mark.parametrize("kind", [".sdf", ".parquet"])
def test_suggestions_of_any_kind_are_read_again_as_results(folder, kind):
    assert suggest("plain.csv") == suggest(f"out{kind}", "--predictions", f"all{kind}") == 0
    expected, found = read("plain.csv"), read(f"out{kind}")
    assert [row["id"] for row in found] == [row["id"] for row in expected]
    for name in ("predicted_logp", "probability_of_beating_best", "nearest_1_similarity", "dock"):
        assert [float(row[name]) for row in found] == [float(row[name]) for row in expected]
    assert len(read(f"all{kind}")) == len(SMILES)
    names = [*found[0], "logp"]
    rows = [[*row.values(), str(7 + place)] for place, row in enumerate(found)]  # typed in
    Path(f"typed{kind}").write_bytes(write_table(Path(f"typed{kind}"), [names, *rows]))
    assert suggest(f"out{kind}", measured=("results.csv", f"typed{kind}")) == 0
    measured = json.loads(Path("out.campaign.json").read_text())["measured"]
    told = {result["id"]: result["value"] for result in measured}
    assert {row["id"]: told[row["id"]] for row in expected} == {row["id"]: 7 + k for k, row in enumerate(expected)}


def test_other_columns_of_the_pool_are_passed_on(folder):
    assert suggest("out.csv", "--price", "price") == 0
    for row in read("out.csv"):
        number = row["id"].removeprefix("m")
        assert row["vendor"] == "A | B"  # both rows say what they say
        assert row["rank"] in ("1", "2", "3")
        assert row["Rank (pool)"] == f"r{number}"
        assert row["dock"] == f"-{number}.5"
        assert row["note"] == "'=1+1"
        assert row["price"] == "9"
        assert {name.casefold() for name in row}.isdisjoint({"logp", "price (pool)"})


def test_decimal_commas_are_passed_on_as_points(folder):
    rows = [[cell.replace(".", ",") for cell in row.values()] for row in read("pool.csv")]
    write("pool.csv", [["id", "smiles", "price", "LogP", *OTHERS], *rows], ";")
    assert suggest("out.csv") == 0
    assert all(row["dock"] == f"-{row['id'][1:]}.5" for row in read("out.csv"))
