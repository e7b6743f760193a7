"""Columns that limits name, from tables of every kind of row."""

import csv
from pathlib import Path

import numpy as np
import pytest

from graph_bandit_campaign import Limits, SuggestSettings
from graph_bandit_campaign.tables.limit_columns import read_limit_columns, read_other_columns
from graph_bandit_campaign.tables.measured_rows import Columns
from graph_bandit_env import from_smiles_csv

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


def select(limits, identifier="id", skip=False):
    settings = SuggestSettings(pool=Path("pool.csv"), out=Path("out.csv"), maximize="y", skip_bad_rows=skip)
    pool = from_smiles_csv("pool.csv", identifier=identifier, on_error="skip" if skip else "raise")
    found = limits.find_columns(HEADER, "pool.csv")
    columns = read_limit_columns(settings, Columns("y", identifier), pool, *found)
    selection = limits.select_rows(pool.smiles, columns)
    return [name for name, meets in zip(pool.smiles, selection.mask, strict=True) if meets], selection


@pytest.mark.parametrize("identifier", ["id", None])
def test_rows_of_a_molecule_are_found_by_id_or_structure(identifier):
    write(ROWS)
    assert select(Limits(require=["Price<6"]), identifier)[0] == ["CCO", "CCCl"]
    assert select(Limits(require=["price>8"]), identifier)[0] == ["CCO"]
    assert select(Limits(require=["price>8"], only=["stock=yes"]), identifier)[0] == []
    left, selection = select(Limits(only=["stock=yes,n/a"], require=["price=0..9"]), identifier)
    assert left == ["CCO", "CCCl", "CCC"]
    assert selection.steps[1].unknown == 0  # `b` fails the first limit
    assert select(Limits(require=["price>=0"]), identifier)[1].steps[0].unknown == 1


def test_text_in_a_column_of_numbers_is_refused_with_its_line_or_counts_as_not_known():
    write([*ROWS, ("e", "CCBr", "on request", "yes"), ("f", "CCI", ">5", "yes")])
    with pytest.raises(ValueError, match="2 rows are bad") as error:
        select(Limits(require=["price<6"]))
    assert "line 7: expected a number in `price`. Got 'on request'." in str(error.value)
    left, selection = select(Limits(require=["price<6"]), skip=True)
    assert left == ["CCO", "CCCl"]
    assert selection.steps[0].unknown == 3
    assert select(Limits(require=["price<6"], only=["stock=yes"]), skip=True)[1].steps[-1].unknown == 2
    assert "CCBr" in select(Limits(only=["stock=yes"]), skip=True)[0]


def test_rows_that_the_pool_leaves_out_do_not_count():
    write([*ROWS, ("b", "not a molecule", 2, "yes")])
    assert select(Limits(require=["price<6"]), skip=True)[0] == ["CCO", "CCCl"]


def test_without_such_limits_the_table_is_not_read():
    settings = SuggestSettings(pool=Path("nowhere.csv"), out=Path("out.csv"), maximize="y")
    assert np.size(read_limit_columns(settings, Columns("y"), None, {}, {}).owners) == 0


def test_a_table_without_a_header_has_names_and_structures():
    Path("pool.smi").write_text("CCO first\nCCN second\n")
    settings = SuggestSettings(pool=Path("pool.smi"), out=Path("out.csv"), maximize="y")
    pool = from_smiles_csv("pool.smi", identifier="id")
    columns = read_limit_columns(settings, Columns("y", "name", "structure"), pool, {}, {"id": "id"})
    assert list(columns.owners) == [0, 1]
    assert Limits(only=["id=second"]).select_rows(pool.smiles, columns).mask.tolist() == [False, True]


def other_columns_of(ids, identifier="id"):
    settings = SuggestSettings(pool=Path("pool.csv"), out=Path("out.csv"), maximize="y")
    pool = from_smiles_csv("pool.csv", identifier=identifier)
    return read_other_columns(settings, Columns("y", identifier), pool, ids)


def test_suggestions_carry_the_other_columns_of_all_their_rows():
    write(ROWS)
    assert other_columns_of(["CCCl", "a"]) == {
        "other_forms": ["", "c (CCO)"],
        "price": ["5", "1 | 9"],
        "stock": ["yes", "yes | no"],
    }


def test_rows_without_names_carry_their_columns_by_structure():
    write([row[1:] for row in ROWS], HEADER[1:])
    assert other_columns_of(["CCO", "CCC"], None)["price"] == ["1 | 9", "7"]


def test_numbers_below_zero_are_numbers_and_prices_below_zero_are_not():
    write([("a", "OCC", 1, -2), ("b", "CCN", 2, 0), ("c", "CCC", 3, 1)], ("id", "smiles", "price", "charge"))
    settings = SuggestSettings(pool=Path("pool.csv"), out=Path("out.csv"), maximize="y")
    pool = from_smiles_csv("pool.csv", identifier="id")
    limits = Limits(require=["charge<=0"])
    found = limits.find_columns(("id", "smiles", "price", "charge"), "pool.csv")
    columns = read_limit_columns(settings, Columns("y", "id"), pool, *found)
    assert limits.select_rows(pool.smiles, columns).mask.tolist() == [True, True, False]


def test_numbers_with_decimal_commas_are_carried_with_points():
    Path("pool.csv").write_text("id;smiles;price;remark\na;CCO;1,5;1,2-diol\nb;CCN;2;\n")
    assert other_columns_of(["b", "a"]) == {"price": ["2", "1.5"], "remark": ["", "1,2-diol"]}
