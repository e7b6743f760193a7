"""Salts and charged molecules of a pool are described by their parent, and forms of one compound are one molecule."""

from pathlib import Path

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_cli.main import main
from graph_bandit_env import canonical_smiles
from graph_bandit_env.pools import parent_smiles

COUNTER_IONS = ("Cl", "O=C(O)C(F)(F)F", "Cc1ccc(S(=O)(=O)O)cc1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def suggest(*more, pool="pool.csv", out="out.csv"):
    command = ["suggest", pool, "--n", "6", "--maximize", "y", "--agent", "molecule-ucb", "--out", out]
    assert main([*command, "--measured", "results.csv", "--workers", "None", *more]) == 0


@pytest.fixture
def pool(folder):
    """Twenty compounds, each in four forms, and sodium chloride; five are measured, one of them as a salt."""
    bases = [canonical_smiles(f"NC{text}") for text in some_molecules().smiles[:20]]
    rows = [
        (f"{k}-{number}", text)
        for k, base in enumerate(bases)
        for number, text in enumerate(
            [f"{base}.{ion}" for ion in COUNTER_IONS[:2]] + [base, f"{base}.{COUNTER_IONS[2]}"]
        )
    ]
    write(
        "pool.csv", [("id", "smiles", "batch"), *((*row, f"lot {row[0]}") for row in rows), ("nacl", "[Na+].[Cl-]", "")]
    )
    write("results.csv", [("id", "y"), *((f"{k}-{k % 4}", value) for k, value in enumerate([1.0, 4.0, 2.5, 3.0, 2.0]))])
    return dict(rows)


def test_a_batch_has_one_form_of_a_compound_and_says_which_others_there_are(pool, capsys):
    suggest("--html", "out.html")
    rows, printed = read(), capsys.readouterr().out
    compounds = [row["id"].split("-")[0] for row in rows]
    assert len(set(compounds)) == len(compounds) == 6
    assert not {"0", "1", "2", "3", "4"} & set(compounds)  # measured in one form or another
    for row in rows:
        base = parent_smiles(pool[row["id"]])
        assert row["smiles"] == pool[row["id"]] == f"{base}.Cl" or row["smiles"] == f"Cl.{base}"
        assert all(f"{row['id'][:-1]}{number}" in row["other_forms"] for number in (1, 2, 3))
    first = rows[0]
    for text in (printed, Path("out.html").read_text(encoding="utf-8")):
        assert "described by their parent" in text.lower()
    assert first["batch"].count(" | ") == 3


def test_a_result_of_a_salt_is_one_of_its_compound_by_whatever_row_it_is_named(pool):
    rows = [("id", "smiles", "y"), ("0-0", "", 1.0), ("0-2", "", 3.0), ("1-0", "", 4.0), ("2-0", "", 1.5)]
    write("results.csv", [*rows, ("", f"{parent_smiles(pool['3-0'])}.I", 2.0)])
    suggest("--predictions", "all.csv")
    states = {row["id"]: row["state"] for row in read("all.csv")}
    assert {name for name, state in states.items() if state == "measured"} == {"0-0", "1-0", "2-0", "3-0"}
