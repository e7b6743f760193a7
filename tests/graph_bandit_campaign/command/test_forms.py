"""Results may name a molecule by its salt or tautomer; what was matched so is said."""

from pathlib import Path

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign.results.books import match_rows
from graph_bandit_campaign.results.rows import BadResultsError, MeasuredRow
from graph_bandit_cli.main import main
from graph_bandit_env import from_smiles

POOL = from_smiles(["CCN", "Oc1ccccn1", "C[C@H](N)C(=O)O", "CCO"], ids=["amine", "pyridone", "alanine", "alcohol"])


def match(*rows, pool=POOL, structures=None, trust_ids=False):
    measured = [MeasuredRow(f"line {line}", *row) for line, row in enumerate(rows, start=2)]
    return match_rows(measured, pool, structures, trust_ids)


def test_the_salt_of_a_named_molecule_is_that_molecule():
    books = match(("amine", "CC[NH3+].[Cl-]", 1.0))
    assert books.measured == (("amine", 1.0),)
    assert books.forms == {"amine": "CC[NH3+].[Cl-]"}


@pytest.mark.parametrize("name", ["", "batch 7"])
def test_a_salt_or_tautomer_without_a_known_id_is_the_molecule_of_the_pool(name):
    books = match((name, "CCN.Cl", 1.0), (name, "O=c1cccc[nH]1", "failed"))
    assert books.measured == (("amine", 1.0),)
    assert books.failed == ("pyridone",)
    assert books.forms == {"amine": "CCN.Cl", "pyridone": "O=c1cccc[nH]1"}
    assert books.outside == {}


def test_an_enantiomer_is_another_molecule():
    assert match(("", "C[C@@H](N)C(=O)O", 1.0)).outside == {"C[C@@H](N)C(=O)O": "C[C@@H](N)C(=O)O"}
    with pytest.raises(BadResultsError, match="`alanine` is .* in the pool, and .* here. If the ids are right, pass"):
        match(("alanine", "C[C@@H](N)C(=O)O", 1.0))


def test_a_form_of_two_molecules_of_the_pool_needs_an_id():
    pool = from_smiles(["CCN", "CCN.Cl"], ids=["free", "salt"], forms="apart")
    with pytest.raises(BadResultsError, match="line 2: CCN.I is a form of `free` or `salt`. Give its id"):
        match(("", "CCN.I", 1.0), pool=pool)
    assert match(("", "CCN.Cl", 1.0), ("free", "CCN.I", 2.0), pool=pool).measured == (("salt", 1.0), ("free", 2.0))


def test_the_salt_of_a_suggestion_that_left_the_pool_is_that_suggestion():
    books = match(("", "CCCCN.Cl", 1.0), structures={"old": "CCCCN"})
    assert (books.measured, books.outside) == ((("old", 1.0),), {"old": "CCCCN"})


@pytest.mark.parametrize("text", ["CCCCCC", "nonsense"])
def test_an_id_can_be_trusted_whatever_the_structure(text):
    row = ("alcohol", text, 1.0)
    with pytest.raises(BadResultsError):
        match(row)
    books = match(row, trust_ids=True)
    assert (books.measured, books.forms, books.outside) == ((("alcohol", 1.0),), {"alcohol": text}, {})


def test_an_unknown_id_cannot_be_trusted():
    books = match(("mine", "CCCCCC", 1.0), trust_ids=True)
    assert (books.outside, books.forms) == ({"mine": "CCCCCC"}, {})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    molecules = some_molecules()
    write("pool.csv", [("id", "smiles"), *((f"m{k}", text) for k, text in enumerate(molecules.smiles))])
    write("results.csv", [("id", "logp"), ("m0", 1.0), ("m1", 2.0), ("m2", 3.0)])
    return molecules


def suggest(*more):
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", "2", "--maximize", "logp", "--out", "out.csv"]
    return main([*command, "--agent", "molecule-ucb", *more])


def test_the_output_says_what_was_matched_so_and_names_strangers(folder, capsys):
    assert suggest() == 0
    first, second = read("out.csv")
    salt, wrong = f"{first['smiles']}.Cl", "CCCCCCCC"
    write("results.csv", [("id", "smiles", "logp"), ("m0", "", 1.0), ("m1", "", 2.0), ("m2", "", 3.0), ("", salt, 4.0)])
    with open("results.csv", "a", encoding="utf-8") as file:
        file.write(f"{second['id']},{wrong},5.0\nstranger,CCCCCCCCC,0.5\n")
    assert suggest() == 1
    capsys.readouterr()
    assert suggest("--trust-ids", "--html", "out.html") == 0
    for text in (capsys.readouterr().out, Path("out.html").read_text(encoding="utf-8")):
        assert f"trusted ids): {first['id']} ({salt}), {second['id']} ({wrong})." in text
        assert "Measured, but not in the pool: stranger." in text
        assert "counted as pending" not in text
