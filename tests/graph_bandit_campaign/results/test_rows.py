import gzip

import pytest

from graph_bandit_campaign.results.rows import (
    BadResultsError,
    Columns,
    MeasuredRow,
    ResultTables,
)

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
    assert read([path], COLUMNS) == [
        MeasuredRow("results.csv, line 2", "a", "C", 1.5),
        MeasuredRow("results.csv, line 3", "b", "CC", "failed"),
        MeasuredRow("results.csv, line 4", "c", "CCC", "pending"),
        MeasuredRow("results.csv, line 6", "e", "N", -0.002),
    ]


def test_what_people_write_for_nothing_is_nothing(table):
    path = table("id,activity\na,1\n" + "".join(f"b,{text}\n" for text in ("-", "n.d.", "ND", "#N/A", " ")))
    assert len(read([path], COLUMNS)) == 1


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
