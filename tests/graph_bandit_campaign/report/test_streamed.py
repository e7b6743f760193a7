"""Predictions for every molecule of a prepared pool are those of the pool in memory, in its order."""

import csv

import numpy as np
import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts, suggest
from support.tables import write

from graph_bandit_campaign.command.pools import short_lists as inputs
from graph_bandit_campaign.model import stopping as outlook
from graph_bandit_campaign.model.scan import passes

COUNT = 120
MOLECULES = some_molecules(COUNT)
RANDOM = np.random.default_rng(3)
FEW = ("--agent", "molecule-ucb:short_list=2")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A pool with prices, a stock and a column of numbers, and results with molecules that failed."""
    folder = tmp_path_factory.mktemp("tables")
    rows = [
        (f"=m{k}", MOLECULES.smiles[k], "" if k % 11 == 0 else 1 + k % 9, "no" if k % 5 == 0 else "yes", k % 13)
        for k in range(COUNT)
    ]
    rows += [(f"again{k}", MOLECULES.smiles[k], 2, "yes", "") for k in range(0, COUNT, 10)]
    write(folder / "pool.csv", [("id", "smiles", "price", "stock", "dock"), *rows])
    known = RANDOM.choice(COUNT, 30, replace=False).tolist()
    values = [(f"=m{k}", MOLECULES.smiles[k], round(float(MOLECULES.targets[k]), 3), 5) for k in known]
    for k in range(8):
        values[k] = (*values[k][:2], "failed", 4)
    values[9] = (*values[9][:2], "pending", 3.5)
    write(folder / "results.csv", [("id", "smiles", "logp", "dock"), *values, ("x1", "CCCCCCCCO", 2.5, 1)])
    sick = [(f"=m{k}", "failed" if "O" in MOLECULES.smiles[k] else MOLECULES.targets[k]) for k in range(0, COUNT, 2)]
    write(folder / "sick.csv", [("id", "logp"), *sick])
    write(folder / "equal.csv", [("id", "smiles", "logp"), *((*row[:2], 1) for row in values[10:14])])
    return folder


@pytest.fixture(scope="module")
def prepared(tables):
    """The pool in three parts."""
    return prepare_in_parts(tables / "pool.csv", tables / "pool", 48)


OPTIONS = {
    "plain": (),
    "limits": ("--require", "mw<330", "dock<9", "--forbid", "C#N", "--only", "stock=yes", "--price", "price"),
    "features": ("--features", "dock"),
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_they_are_those_of_the_pool_in_memory(options, tables, prepared, tmp_path):
    for name, pool in (("plain", tables / "pool.csv"), ("streamed", prepared)):
        more = ("--predictions", str(tmp_path / f"all-{name}.csv"), *options)
        suggest(pool, tables / "results.csv", tmp_path / f"{name}.csv", *more)
    text = (tmp_path / "all-streamed.csv").read_text()
    assert text == (tmp_path / "all-plain.csv").read_text()
    states = {row["state"].split()[0] for row in csv.DictReader(text.splitlines())}
    assert states >= {"measured", "failed", "pending", "suggested", "offered"}
    assert ("excluded" in states) == ("--require" in options)
    assert "probability_of_failing" in text


def test_failures_that_are_ignored_hide_no_hope(tables, prepared, tmp_path, monkeypatch):
    for module in (outlook, inputs):
        monkeypatch.setattr(module, "MOST", 6)
    said = []
    for name, pool in (("plain", tables / "pool.csv"), ("streamed", prepared)):
        more = ("--predictions", str(tmp_path / f"all-{name}.csv"), "--ignore-failures", "--n", "1", *FEW)
        _, told = suggest(pool, tables / "sick.csv", tmp_path / f"{name}.csv", *more)
        said.append([line for line in told.splitlines() if "The pool holds a better" in line])
    assert said[0] == said[1] != []
    text = (tmp_path / "all-streamed.csv").read_text()
    assert text == (tmp_path / "all-plain.csv").read_text()
    assert "probability_of_failing" not in text


def test_two_processes_write_the_same(tables, prepared, tmp_path):
    written = []
    for workers in ("None", "2"):
        path, out = tmp_path / f"all-{workers}.csv", tmp_path / f"{workers}.csv"
        more = ("--predictions", str(path), "--workers", workers, "--features", "dock")
        suggest(prepared, tables / "results.csv", out, *more)
        written.append((out.read_bytes(), path.read_bytes()))
    assert written[0] == written[1]


def test_parts_are_written_in_their_order_whichever_is_ready_first(tables, prepared, tmp_path, monkeypatch):
    made = passes.results_of
    monkeypatch.setattr(passes, "results_of", lambda *args: (each for each in reversed(list(made(*args)))))
    path = tmp_path / "all.csv"
    suggest(prepared, tables / "equal.csv", tmp_path / "out.csv", "--predictions", str(path))
    assert [row[0] for row in csv.reader(path.read_text().splitlines())] == ["id", *(f"'=m{k}" for k in range(COUNT))]


def test_equal_results_predict_nothing(tables, prepared, tmp_path):
    path = tmp_path / "all.csv"
    suggest(prepared, tables / "equal.csv", tmp_path / "out.csv", "--predictions", str(path))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert {row["predicted_logp"] for row in rows} == {""}
