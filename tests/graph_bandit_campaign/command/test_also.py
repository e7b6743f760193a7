"""`suggest --also`: results of other assays."""

import json
from contextlib import nullcontext

import pytest
from support.molecules import some_molecules
from support.tables import read, write

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


def rounds():
    with open("out.campaign.json") as file:
        return json.load(file)["rounds"]


def test_the_answer_says_what_teaches_and_how_much(capsys):
    assert suggest("--out", "out.csv", "--also", "rlm.csv", "--html", "out.html") == 0
    printed = capsys.readouterr().out
    assert "36 molecules of rlm.csv teach by `rlm`, 35 of them in the pool" in printed
    assert "Other assays, by their correlation with logp: rlm +0." in printed
    with open("out.html", encoding="utf-8") as file:
        page = file.read()
    assert "Other assays, by their correlation" in page
    assert "(rlm)" in "".join(row["reasons"] for row in read("out.csv"))


def test_the_same_question_has_the_same_answer_and_other_values_are_another(capsys):
    suggest("--out", "out.csv", "--also", "rlm.csv")
    suggest("--out", "out.csv", "--also", "rlm.csv:rlm")
    assert len(rounds()) == 1
    write_assay(first=-20.0)
    suggest("--out", "out.csv", "--also", "rlm.csv")
    assert len(rounds()) == 2
    capsys.readouterr()
    suggest("--out", "out.csv")
    assert len(rounds()) == 3
    assert "rlm no longer given" in capsys.readouterr().out


def test_a_prepared_pool_is_taught_as_its_table_is(capsys):
    assert main(["prepare", "pool.csv", "--out", "prepared"]) == 0
    for pool in ("pool.csv", "prepared"):
        files = ("--out", f"{pool[:3]}.csv", "--predictions", f"{pool[:3]}.all.csv")
        assert suggest(*files, "--also", "rlm.csv", pool=pool) == 0
        assert "35 of them in the pool" in capsys.readouterr().out
    assert [row["id"] for row in read("pre.csv")] == [row["id"] for row in read("poo.csv")]
    means = [{row["id"]: float(row["predicted_logp"]) for row in read(f"{name}.all.csv")} for name in ("pre", "poo")]
    assert means[0] == pytest.approx(means[1], abs=1e-6)


def test_a_library_of_products_is_taught_too(capsys):
    assert main(["library", "--products", "--out", "products"]) == 0
    assert main(["suggest", "products/library.toml", "--maximize", "logp", "--n", "4", "--out", "first.csv"]) == 0
    rows = read("first.csv")
    write("results.csv", [("id", "logp"), *((row["id"], k + 1.5) for k, row in enumerate(rows))])
    write("old.csv", [("id", "old"), *((row["id"], 5 - k) for k, row in enumerate(rows))])
    assert suggest("--out", "out.csv", "--also", "old.csv", "--also", "rlm.csv", pool="products/library.toml") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "4 molecules of old.csv teach by `old`, 4 of them in the pool" in printed
    assert "Other assays, by their correlation with logp: old -0." in printed


def test_classes_teach_several_goals(capsys):
    write("results.csv", [("id", "logp", "x"), *((NAMES[k], VALUES[k], k * VALUES[k]) for k in range(0, 60, 6))])
    middle = sorted(VALUES)[30]
    classes = [(MOLECULES.smiles[k], "active" if VALUES[k] > middle else "inactive") for k in range(60)]
    write("screen.csv", [("smiles", "hit"), *classes])
    assert suggest("--maximize", "x", "--out", "out.csv", "--also", "screen.csv", "--also", "rlm.csv") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "`hit` has two classes: `active` counts as above `inactive`" in printed
    for goal in ("logp", "x"):
        assert f"Other assays, by their correlation with {goal}: hit +0." in printed


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


def test_before_any_result_nothing_is_known_of_them(capsys):
    write("results.csv", [("id", "logp"), ("m0", VALUES[0])])
    assert suggest("--out", "out.csv", "--also", "rlm.csv") == 0
    assert "rlm, not known yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("pool.csv --measured results.csv --maximize logp --out rlm.csv --also rlm.csv:rlm", "differ from all other"),
        ("pool.csv --measured results.csv --maximize logp --out out.csv --also rlm.csv:lrm", "lrm"),
        ("pool.csv --maximize logp --out out.csv --also out.campaign.json", "that of this command"),
        ("pool.csv --measured results.csv --maximize logp --out out.csv --agent gnn-ucb --also rlm.csv", "gnn-ucb"),
    ],
)
def test_it_is_refused_where_it_cannot_teach(arguments, text, capsys):
    with open("rlm.csv", encoding="utf-8") as file:
        before = file.read()
    capsys.readouterr()
    is_understood = "--out rlm.csv" not in arguments and "out.campaign.json" not in arguments
    with nullcontext() if is_understood else pytest.raises(SystemExit):
        assert main(["suggest", *arguments.split()]) == 1
    assert text in " ".join(capsys.readouterr().err.split())
    with open("rlm.csv", encoding="utf-8") as file:
        assert file.read() == before
