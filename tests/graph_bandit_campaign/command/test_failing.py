"""`suggest` when molecules fail, from the command line to files and page."""

import json

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_cli.main import main

MOLECULES = some_molecules(40)
NAMES = [f"m{k}" for k in range(40)]
FAILS = {name for name, text in zip(NAMES, MOLECULES.smiles, strict=True) if "=O" in text}
SOUND = [name for name in NAMES if name not in FAILS]
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *zip(NAMES, MOLECULES.smiles, strict=True)])


def suggest(*more, failed=6, n=18):
    told = [(name, "failed") for name in sorted(FAILS)[:failed]] + [(name, VALUES[name]) for name in SOUND[:12]]
    write("results.csv", [("id", "logp"), *told])
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", str(n), "--maximize", "logp"]
    command += ["--out", "out.csv", "--html", "out.html", "--predictions", "all.csv"]
    assert main([*command, "--agent", "molecule-greedy", *more]) == 0
    return read("out.csv")


def test_those_that_are_likely_to_fail_are_left_out_and_it_is_told(capsys):
    rows = suggest()
    assert not FAILS & {row["id"] for row in rows}
    assert all(float(row["probability_of_failing"]) < 0.5 for row in rows)
    number = len(FAILS) - 6
    sentence = f"{number} molecules are likely to fail (with more than 50 %). "
    sentence += "Failed so far: 6 of 6 with carbonyl O, 0 of 12 others."
    out = capsys.readouterr().out
    assert sentence in out
    assert "fails" in out
    with open("out.html", encoding="utf-8") as page:
        text = page.read()
    assert sentence in text
    assert text.count("fails with probability") == 18
    predicted = read("all.csv")
    assert [row["state"] for row in predicted].count("likely to fail") == number
    assert {row["id"] for row in predicted if row["state"] in ("failed", "likely to fail")} == FAILS
    assert {row["id"] for row in predicted if float(row["probability_of_failing"]) > 0.5} == FAILS


@pytest.mark.parametrize(("option", "failed"), [((), 4), (("--ignore-failures",), 6)], ids=["few", "ignored"])
def test_otherwise_everything_is_as_before(option, failed, capsys):
    rows = suggest(*option, failed=failed, n=22)
    assert "probability_of_failing" not in rows[0]
    assert FAILS & {row["id"] for row in rows}
    assert "likely to fail" not in capsys.readouterr().out
    assert "probability_of_failing" not in read("all.csv")[0]
    assert "likely to fail" not in {row["state"] for row in read("all.csv")}


def test_the_same_question_gets_the_same_answer_and_ignoring_is_another_question():
    first = suggest()
    assert suggest() == first
    with open("out.campaign.json") as file:
        assert len(json.load(file)["rounds"]) == 1
    suggest("--ignore-failures", n=4)
    with open("out.campaign.json") as file:
        assert len(json.load(file)["rounds"]) == 2
