"""Values that are only known to be above or below a number."""

import csv
import json

import pytest
from support.molecules import some_molecules

from graph_bandit_cli.main import main

MOLECULES = some_molecules()


@pytest.fixture
def suggest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("pool.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "smiles"), *((f"m{k}", text) for k, text in enumerate(MOLECULES.smiles))])

    def run(*rows, separator=","):
        text = "\n".join(separator.join(row) for row in [("id", "logp"), *rows])
        with open("results.csv", "w", encoding="utf-8") as file:
            file.write(text + "\n")
        command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", "3", "--maximize", "logp"]
        code = main([*command, "--out", "out.csv", "--html", "out.html", "--agent", "molecule-ucb"])
        if code:
            return code
        with open("out.campaign.json", encoding="utf-8") as file:
            return json.load(file)

    return run


def values(state):
    return sorted((row["id"], row["value"]) for row in state["measured"])


def test_a_bound_is_measured_at_its_number_and_named(suggest, capsys):
    state = suggest(("m0", "1.0"), ("m1", ">4.5"), ("m2", "<= 0.25"))
    assert values(state) == [("m0", 1.0), ("m1", 4.5), ("m2", 0.25)]
    assert not {"m0", "m1", "m2"} & {suggestion["id"] for suggestion in state["rounds"][0]}
    sentence = "Only a bound is known, and taught as if it were the value: m1 ({}4.5), m2 ({}= 0.25)."
    assert sentence.format(">", "<") in capsys.readouterr().out
    with open("out.html", encoding="utf-8") as page:
        assert sentence.format("&gt;", "&lt;") in page.read()


def test_it_is_no_longer_pending(suggest):
    first = suggest(("m0", "1.0"), ("m1", "2.0"))["pending"]
    state = suggest(("m0", "1.0"), ("m1", "2.0"), (first[0], ">9"))
    assert first[0] not in state["pending"]
    assert set(first[1:]) <= set(state["pending"])


def test_an_exact_value_of_the_same_molecule_replaces_it(suggest, capsys):
    state = suggest(("m0", "1.0"), ("m1", ">4.5"), ("m1", "5.5"))
    assert values(state) == [("m0", 1.0), ("m1", 5.5)]
    assert "Only a bound" not in capsys.readouterr().out


def test_a_bound_has_a_decimal_comma_where_numbers_have(suggest):
    state = suggest(("m0", "1,5"), ("m1", ">4,5"), separator=";")
    assert values(state) == [("m0", 1.5), ("m1", 4.5)]


@pytest.mark.parametrize("cell", [">", ">x", ">>4", "> failed", ">nan", ">inf"])
def test_refuses_a_bound_without_a_number(suggest, capsys, cell):
    assert suggest(("m0", "1.0"), ("m1", cell)) == 1
    assert "results.csv, line 3: expected a" in capsys.readouterr().err
