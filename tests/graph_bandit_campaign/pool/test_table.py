"""A table is a pool in memory: its molecules, and what stands beside them in tables of every kind of row."""

import csv
from pathlib import Path

import pytest

from graph_bandit_campaign import Limits
from graph_bandit_campaign.constraints.limits.columns import ColumnNames
from graph_bandit_campaign.pool.other_columns import join_cells, list_forms
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.pool.table import Budget, TablePool
from graph_bandit_env.tables import open_table

HEADER = ("id", "smiles", "price", "stock")
ROWS = (
    ("a", "OCC", 1, "yes"),
    ("b", "CCN", "", "no"),
    ("c", "CCO", 9, "no"),  # the molecule of `a`
    ("", "CCCl", 5, " yes "),
    ("'=d", "CCC", 7, "n/a"),
)


def write(rows, header=HEADER):
    with open("pool.csv", "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(path="pool.csv", skip=False):
    source = Source(path=Path(path), skip_bad_rows=skip)
    with open_table(source.path) as table:
        return TablePool.read(table, source, Budget(0))


def select(limits, skip=False):
    pool = read(skip=skip)
    names = ColumnNames(*limits.find_columns(pool.cells.texts, "pool.csv"))
    selection = limits.select_rows(pool.molecules.smiles, names.read(pool.cells, skip))
    return [name for name, meets in zip(pool.molecules.smiles, selection.mask, strict=True) if meets], selection


def test_all_rows_of_a_molecule_count():
    write(ROWS)
    assert select(Limits(require=["Price<6"]))[0] == ["CCO", "CCCl"]
    assert select(Limits(require=["price>8"]))[0] == ["CCO"]
    assert select(Limits(require=["price>8"], only=["stock=yes"]))[0] == []
    left, selection = select(Limits(only=["stock=yes,n/a"], require=["price=0..9"]))
    assert left == ["CCO", "CCCl", "CCC"]
    assert selection.steps[1].unknown == 0  # `b` fails the first limit
    assert select(Limits(require=["price>=0"]))[1].steps[0].unknown == 1


def test_text_in_a_column_of_numbers_is_refused_with_its_line_or_counts_as_not_known():
    write([*ROWS, ("e", "CCBr", "on request", "yes"), ("f", "CCI", ">5", "yes")])
    with pytest.raises(ValueError, match="line 7: "):
        select(Limits(require=["price<6"]))
    left, selection = select(Limits(require=["price<6"]), skip=True)
    assert left == ["CCO", "CCCl"]
    assert selection.steps[0].unknown == 3
    assert select(Limits(require=["price<6"], only=["stock=yes"]), skip=True)[1].steps[-1].unknown == 2
    assert "CCBr" in select(Limits(only=["stock=yes"]), skip=True)[0]


def other_columns_of(ids):
    pool = read()
    index = [pool.molecules.ids.index(name) for name in ids]
    return list_forms(pool.forms(index)) | join_cells(pool.take(index, pool.columns), len(ids))


def test_suggestions_carry_the_other_columns_of_all_their_rows():
    write(ROWS)
    assert other_columns_of(["CCCl", "a"]) == {
        "other_forms": ["", "c (CCO)"],
        "price": ["5", "1 | 9"],
        "stock": ["yes", "yes | no"],
    }


def test_numbers_with_decimal_commas_are_carried_with_points():
    Path("pool.csv").write_text("id;smiles;price;remark\na;CCO;1,5;1,2-diol\nb;CCN;2;\n")
    assert other_columns_of(["b", "a"]) == {"price": ["2", "1.5"], "remark": ["", "1,2-diol"]}
