"""Rounds that scan a pool suggest and predict what rounds in memory do, whatever the parts and processes."""

import csv
from collections import Counter

import numpy as np
import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts, suggest
from support.tables import read, write

from graph_bandit_campaign.command.pools import rows as row_rounds
from graph_bandit_campaign.model import goals_choice

COUNT = 100
MOLECULES = some_molecules(COUNT)
RANDOM = np.random.default_rng(5)
PRICES = np.round(10 ** RANDOM.uniform(0, 1, COUNT), 2).tolist()
SHORT = 20  # of the short list for several goals: far fewer than there are


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A pool with prices, a stock and repeated molecules; results of one quantity or three, some bounds or failures."""
    folder = tmp_path_factory.mktemp("tables")
    smiles, targets = MOLECULES.smiles, np.round(MOLECULES.targets, 3).tolist()
    rows = [
        (f"=m{k}", smiles[k], "" if k % 11 == 0 else PRICES[k], ("no", "yes")[k % 5 > 0], f"B{k % 9}", k % 13)
        for k in range(COUNT)
    ]
    rows += [("salt", "[Cl-].C[NH2+]CCc1ccccc1", 3.0, "yes", "", 1), ("keto", "CC(=O)CC(=O)c1ccccc1", 3, "yes", "C", 2)]
    rows += [(f"again{k}", smiles[k], PRICES[k] / 2, "yes", "B1", "") for k in range(0, COUNT, 10)]
    write(folder / "pool.csv", [("id", "smiles", "price", "stock", "vendor", "dock"), *rows])
    known = RANDOM.choice(COUNT, 34, replace=False).tolist()
    values = [(f"=m{k}", smiles[k], targets[k], 5, *RANDOM.normal(size=2).round(2)) for k in known]
    several = [("id", "logp", "size", "tox"), *((row[0], row[2], *row[4:]) for row in values)]
    several[2] = (several[2][0], "pending", "", "")
    several[3] = (*several[3][:3], "")
    write(folder / "several.csv", several)
    for k, word in enumerate(["failed"] * 8 + ["pending", f"<{values[9][2]}"]):
        values[k] = (*values[k][:2], word, *values[k][3:])
    values += [("again0", "", 1.25, "", "", ""), ("lab1", "CNCCc1ccccc1", "failed", 4, "", "")]  # other names and forms
    values += [("x1", "CCCCCCCCO", 2.5, 1, "", ""), ("x2", "OCC(O)CO", -1.2, "", "", "")]  # outside of the pool
    write(folder / "results.csv", [("id", "smiles", "logp", "dock", "size", "tox"), *values])
    return folder


@pytest.fixture(scope="module")
def prepared(tables):
    """The pool in many parts."""
    return prepare_in_parts(tables / "pool.csv", tables / "pool", 16)


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    for module in (row_rounds, goals_choice):
        monkeypatch.setattr(module, "SHORT_LIST", SHORT)


@pytest.fixture
def _scanned(monkeypatch):
    monkeypatch.setattr(row_rounds, "MOST_WHOLE", 0)


LIMITS = ("--require", "mw<330", "dock<9", "--forbid", "C#N", "--filter", "stock=yes")
OPTIONS = {
    "plain": (),
    "limits": (*LIMITS, "--price", "price", "--features", "dock"),
    "draws": ("--agent", "molecule-ts:short_list=40"),
    "front": ("--minimize", "size"),
    "a range": ("--target=size=-0.5..0.5",),
    "limits of several": ("--minimize", "size", "--require", "tox<0.5", "mw<330", "--filter", "vendor=B1,B2"),
}
QUICK = ("limits",)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in OPTIONS]
)
def test_suggestions_and_predictions_are_those_of_the_pool_in_memory(name, tables, prepared, tmp_path, monkeypatch):
    results, written = tables / ("several.csv" if "size" in "".join(OPTIONS[name]) else "results.csv"), []
    for most in (1000, 0):
        monkeypatch.setattr(row_rounds, "MOST_WHOLE", most)
        predictions = tmp_path / f"{most}-all.csv"
        more = ("--predictions", str(predictions), *OPTIONS[name])
        written.append((suggest(prepared, results, tmp_path / f"{most}.csv", *more)[0], predictions.read_text()))
    assert written[0] == written[1]
    rows = list(csv.DictReader(written[0][1].splitlines()))
    assert len(rows) == COUNT + 2
    assert {row["state"].split()[0] for row in rows} >= {"measured", "pending", "suggested", "offered"}


@pytest.mark.slow
@pytest.mark.usefixtures("_scanned")
def test_two_processes_suggest_the_same(tables, prepared, tmp_path):
    here, _ = suggest(prepared, tables / "results.csv", tmp_path / "here.csv")
    assert suggest(prepared, tables / "results.csv", tmp_path / "there.csv", "--workers", "2")[0] == here


@pytest.mark.usefixtures("_scanned")
@pytest.mark.parametrize("group", [pytest.param("vendor", marks=pytest.mark.slow), "scaffold"])
def test_caps_and_a_budget_hold_although_the_best_are_of_one_group(group, tables, prepared, tmp_path):
    options = ("--agent", "molecule-ucb:short_list=6", "--max-per-group", "1", "--group-by", group)
    suggest(prepared, tables / "results.csv", tmp_path / "capped.csv", *options)
    suggest(prepared, tables / "results.csv", tmp_path / "paid.csv", *options, "--price", "price", "--budget", "9")
    capped, paid = (read(tmp_path / name) for name in ("capped.csv", "paid.csv"))
    assert len(capped) == 5
    for rows in (capped, paid):
        assert max(Counter(row["group"] for row in rows).values()) == 1
    assert 0 < sum(float(row["price"]) for row in paid) <= 9


@pytest.mark.usefixtures("_scanned")
def test_likely_failures_come_back_where_there_is_nothing_else(tmp_path):
    fails, rows = ["=O" in text for text in MOLECULES.smiles], list(enumerate(MOLECULES.smiles))
    tried = [k for k, _ in rows if fails[k]][::3] + [k for k, _ in rows if not fails[k]][::3]
    sound = [k for k, _ in rows if not fails[k] and k not in tried][:3]
    sold = [(f"m{k}", text, "yes" if fails[k] or k in sound else "no") for k, text in rows]
    write(tmp_path / "pool.csv", [("id", "smiles", "sale"), *sold])
    values = [(f"m{k}", "failed" if fails[k] else round(float(MOLECULES.targets[k]), 3)) for k in tried]
    write(tmp_path / "results.csv", [("id", "logp"), *values])
    pool = prepare_in_parts(tmp_path / "pool.csv", tmp_path / "pool", 16)
    more = ("--filter", "sale=yes", "--agent", "molecule-ucb:short_list=10")
    suggest(pool, tmp_path / "results.csv", tmp_path / "out.csv", *more)
    chosen = {row["id"] for row in read(tmp_path / "out.csv")}
    assert len(chosen) == 5
    assert chosen > {f"m{k}" for k in sound}
