"""A tour of messy tables: each cell and each row is read right, or refused with its place."""

from pathlib import Path

import pytest

from graph_bandit_campaign.results.books import match_results
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_env import from_smiles

SMILES = ("CCO", "CCN", "CCCl", "CCCO", "CCCN", "c1ccccc1", "CCCCO")
POOL = from_smiles(SMILES, ids=[f"m{k}" for k in range(7)])
HEADER, PLAIN = ("id", "logd"), [(f"m{k}", text) for k, text in enumerate(("1.0", "2.0", "1.5", "2.2", "1.8", "2.4"))]
REFUSED = None


def write(rows):
    """Write a table into the working folder, and return its path."""
    with open("results.csv", "w", encoding="utf-8") as file:
        file.writelines(f"{','.join(map(str, row))}\n" for row in rows)
    return "results.csv"


def read(path):
    """Return the results of a table by id: numbers, and bounds as text."""
    books = match_results({"": ResultTables.open([Path(path)]).read(Columns("logd", "id")).rows}, POOL)
    return {each.id: each.value for each in books.results} | dict(books.bounds)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def check(path, expected, place):
    """Check that the last row is read as expected, or refused with its place."""
    if expected is REFUSED:
        with pytest.raises(ValueError, match=place):
            read(path)
    else:
        assert read(path)["m6"] == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("２.２５", 2.25),
        ("\N{MINUS SIGN}0.5", -0.5),
        ("1.234", 1.234),
        ("<= 3", "<= 3"),
        *((cell, REFUSED) for cell in ("\N{EN DASH}0.5", "12%", "~2.25", "2.25*", "(2.25)", "2.25 nM", "inactive")),
        *((cell, REFUSED) for cell in ("1<x<4", "2.25 ± 0.1", "2.1-2.4", "<LOD", ">=<4", "02.Mrz", "2026-03-02")),
        ('"1,234"', REFUSED),
    ],
)
def test_a_cell_between_commas(cell, expected):
    check(write([HEADER, *PLAIN, ("m6", cell)]), expected, "line 8")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([HEADER, ("\u00a0m6\u00a0", 2)], 2.0),
        ([("ID", "logd"), ("m6", 2)], 2.0),
        ([("SMILES", "logd"), ("OCCCC", 2)], 2.0),
        ([("id", "logd", "LogD"), ("m6", 1, 3)], 1.0),
        ([("id", "LOGD", "LogD"), ("m6", 1, 3)], REFUSED),
        ([("Results of March",), HEADER, ("m6", 1)], REFUSED),
        ([HEADER, ("", "nM"), ("m6", 1)], REFUSED),
        *(([HEADER, ("m0", 1), (name, 2)], REFUSED) for name in ("mean", "", "M6", "m6\u00a0b", "X-77")),
        ([("id", "smiles", "logd"), ("X-1", "CCCCCC", 1), ("X-1", "CCCCCCC", 2)], REFUSED),
        ([("id", "smiles", "logd"), ("CCO", "m0", 1)], REFUSED),
    ],
)
def test_names_and_rows_without_a_result(rows, expected):
    check(write(rows), expected, "results.csv")
