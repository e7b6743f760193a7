"""What stands beside the molecules of a table, in tables of every kind of row."""

import csv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.tables import read as read_table

from graph_bandit_campaign import Limits
from graph_bandit_campaign.constraints.limits.limits import ColumnNames
from graph_bandit_campaign.pool.block import Block, join_cells, list_forms
from graph_bandit_campaign.pool.prepared.making.run import open_table_pool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_cli.main import main

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
    return open_table_pool(Source(path=Path(path), skip_bad_rows=skip))[0]


def select(limits, skip=False):
    pool = read(skip=skip)
    names = ColumnNames(*limits.find_columns(pool.columns, "pool.csv"))
    block = Block.join([*pool.blocks((), pool.columns)])
    selection = limits.select_rows(block.smiles, names.read(block.cells, skip))
    return [name for name, meets in zip(block.smiles, selection.mask, strict=True) if meets]


def test_all_rows_of_a_molecule_count():
    write(ROWS)
    assert select(Limits(require=["Price<6"])) == ["CCO", "CCCl"]
    assert select(Limits(require=["price>8"])) == ["CCO"]
    assert select(Limits(require=["price>8"], filter=["stock=yes"])) == []
    assert select(Limits(filter=["stock=yes,n/a"], require=["price=0..9"])) == ["CCO", "CCCl", "CCC"]


def test_text_in_a_column_of_numbers_is_refused_with_its_line_or_counts_as_not_known():
    write([*ROWS, ("e", "CCBr", "on request", "yes"), ("f", "CCI", ">5", "yes")])
    with pytest.raises(ValueError, match="line 7: "):
        select(Limits(require=["price<6"]))
    assert select(Limits(require=["price<6"]), skip=True) == ["CCO", "CCCl"]
    assert "CCBr" in select(Limits(filter=["stock=yes"]), skip=True)


def other_columns_of(ids):
    pool = read()
    places = [pool.find(ids)[0][name] for name in ids]
    return list_forms(pool.forms(places)) | join_cells(pool.take(places, (), pool.columns).cells, len(ids))


def test_suggestions_carry_the_other_columns_of_all_their_rows():
    write(ROWS)
    assert other_columns_of(["CCCl", "a"]) == {
        "other_forms": ["", "c (CCO)"],
        "price": ["5", "1 | 9"],
        "stock": ["yes", "yes | no"],
    }


def test_a_table_that_several_prepare_at_once_is_prepared_once(cache_folder):
    write(ROWS)
    with ThreadPoolExecutor(3) as threads:
        pools = [each.result() for each in [threads.submit(read) for _ in range(3)]]
    assert len({pool.folder for pool in pools}) == 1
    assert [len(pool) for pool in pools] == [4, 4, 4]


def test_what_stands_in_slots_stands_beside_each_suggestion(capsys):
    header = ("id", "smiles", "temp", "y")
    write([("a", "CCO", 60, 1), ("b", "CCO", 80, ""), ("c", "CCN", 60, 2), ("d", "CCN", 80, "")], header)
    command = "suggest pool.csv --measured pool.csv --maximize y --n 2 --slot temp --out out.csv"
    assert main([*command.split(), "--html", "out.html"]) == 0
    assert {(row["smiles"], row["temp"]) for row in read_table("out.csv")} == {("CCO", "80"), ("CCN", "80")}
    lines = [line.split()[2:4] for line in capsys.readouterr().out.splitlines() if line[:1].isdigit()]
    assert sorted(lines[-2:]) == [["CCN", "80"], ["CCO", "80"]]
    assert Path("out.html").read_text().count("<b>temp</b> 80") == 2
