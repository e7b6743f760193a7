"""Tables of results: each cell and each row is read right, or refused with its place."""

import gzip
from dataclasses import replace

import pytest

from graph_bandit_campaign.results.matching import Matcher, match_rows
from graph_bandit_campaign.results.rows import BadResultsError, Columns, MeasuredRow, ResultTables
from graph_bandit_env import from_smiles

COLUMNS = Columns("activity", "id")


def read(paths, columns):
    return ResultTables.open(paths).read(columns).rows


@pytest.fixture
def table(tmp_path):
    def write(text, name="results.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode(encoding)) if name.endswith(".gz") else text.encode(encoding))
        return path

    return write


def test_numbers_failures_and_what_is_under_way(table):
    path = table("id,smiles,activity\na,C,1.5\nb,CC,failed\nc,CCC, Pending \nd,CCCC,\ne,N,-2e-3\nf,O,NaN\n")
    assert [replace(row, table="") for row in read([path], COLUMNS)] == [
        MeasuredRow("results.csv, line 2", "a", "C", 1.5),
        MeasuredRow("results.csv, line 3", "b", "CC", "failed"),
        MeasuredRow("results.csv, line 4", "c", "CCC", "pending"),
        MeasuredRow("results.csv, line 6", "e", "N", -0.002),
    ]


def test_every_bad_row_is_named_at_once(table):
    path = table('id,activity\na,high\nb,1\nc,inf\n,3\nd,"3,5"\ne,-1e160\n')
    with pytest.raises(BadResultsError) as caught:
        read([path], COLUMNS)
    assert all(f"line {number}: " in str(caught.value) for number in (2, 4, 5, 6, 7))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "results.csv"),
        ("id,Activities\na,1\n", "activity"),
        ("label,activity\na,1\n", "id"),
        ("id,activity\na,\n", "activity"),
    ],
)
def test_refuses_a_table_that_says_nothing(table, text, message):
    with pytest.raises(ValueError, match=message):
        read([table(text)], COLUMNS)


def test_columns_of_numbers_are_read_where_a_table_has_them(table):
    columns = Columns("activity", "id", features=("dock", "logd"))
    paths = [
        table("id;Dock;activity;DOCK2\na;-7,5;1;x\nb;;failed;y\nc;bad;;z\n", "one.csv"),
        table("id,logd,LOGD,dock,Dock,activity\nd,1,2,3,4,5\n", "two.csv"),
    ]
    found = {row.identifier: list(map(str, row.features)) for row in read(paths, columns)}
    assert found == {"a": ["-7.5", "nan"], "b": ["nan", "nan"], "d": ["3.0", "1.0"]}


def test_a_noise_may_be_small_or_missing(table):
    rows = read([table("id,activity,sd\na,1.5,0.001\nb,2,\n")], Columns("activity", "id", noise="sd"))
    assert [row.noise for row in rows] == [0.001, None]


# --- A tour of messy tables

SMILES = ("CCO", "CCN", "CCCl", "CCCO", "CCCN", "c1ccccc1", "CCCCO")
POOL = from_smiles(SMILES, ids=[f"m{k}" for k in range(7)])
HEADER, PLAIN = ("id", "logd"), [(f"m{k}", text) for k, text in enumerate(("1.0", "2.0", "1.5", "2.2", "1.8", "2.4"))]
REFUSED = "refused"


@pytest.fixture
def check(tmp_path):
    def check(rows, expected, place):
        """Check that the last row is read as expected, or refused with its place."""
        path = tmp_path / "results.csv"
        path.write_text("".join(f"{','.join(map(str, row))}\n" for row in rows), encoding="utf-8")

        def read_last():
            matched = match_rows({"": read([path], Columns("logd", "id"))}, Matcher(POOL))
            return {each.id: each.text if each.text[0] in "<>f" else each.value for each in matched.results}.get("m6")

        if expected is REFUSED:
            with pytest.raises(ValueError, match=place):
                read_last()
        else:
            assert read_last() == expected

    return check


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("２.２５", 2.25),
        ("\N{MINUS SIGN}0.5", -0.5),
        ("1.234", 1.234),
        ("<= 3", "<3"),
        *((cell, None) for cell in ("-", "n.d.", "ND", "#N/A", " ")),
        *((cell, REFUSED) for cell in ("\N{EN DASH}0.5", "12%", "~2.25", "2.25*", "(2.25)", "2.25 nM", "inactive")),
        *((cell, REFUSED) for cell in ("1<x<4", "2.25 ± 0.1", "2.1-2.4", "<LOD", ">=<4", "02.Mrz", "2026-03-02")),
        ('"1,234"', REFUSED),
    ],
)
def test_a_cell_between_commas(check, cell, expected):
    check([HEADER, *PLAIN, ("m6", cell)], expected, "line 8")


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
def test_names_and_rows_without_a_result(check, rows, expected):
    check(rows, expected, "results.csv")
