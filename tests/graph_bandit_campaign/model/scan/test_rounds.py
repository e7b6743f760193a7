"""Rounds on a prepared pool suggest what rounds in memory do, whatever the parts, processes and options."""

import numpy as np
import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts, suggest
from support.tables import write

from graph_bandit_campaign.command.pools import rows as inputs
from graph_bandit_campaign.model import stopping as outlook

COUNT = 100
MOLECULES = some_molecules(COUNT)
NAMES = [f"m{k}" for k in range(COUNT)]
RANDOM = np.random.default_rng(5)
MIDDLE = float(np.median(MOLECULES.targets))
PRICES = np.round(10 ** RANDOM.uniform(0, 1, COUNT), 2).tolist()


@pytest.fixture(autouse=True)
def few_hopeful(monkeypatch):
    """Let few molecules count for the outlook, so that not all of the pool come back from a scan."""
    monkeypatch.setattr(outlook, "MOST", 6)
    monkeypatch.setattr(inputs, "MOST", 6)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A pool with repeated molecules, prices and a stock, and results, some for molecules that the pool lacks."""
    folder = tmp_path_factory.mktemp("tables")
    rows = [
        (name, text, price, "no" if k % 5 == 0 else "yes", "A" if MOLECULES.targets[k] > MIDDLE else f"B{k % 9}")
        for k, (name, text, price) in enumerate(zip(NAMES, MOLECULES.smiles, PRICES, strict=True))
    ]
    rows += [("salt", "[Cl-].C[NH2+]CCc1ccccc1", 3.0, "yes", ""), ("keto", "CC(=O)CC(=O)c1ccccc1", 3.0, "yes", "C")]
    rows += [(f"again{k}", MOLECULES.smiles[k], PRICES[k] / 2, "yes", "D") for k in range(0, COUNT, 10)]
    write(folder / "pool.csv", [("id", "smiles", "price", "stock", "vendor"), *rows])
    known = RANDOM.choice(COUNT, 30, replace=False).tolist()
    values = [(NAMES[k], MOLECULES.smiles[k], round(float(MOLECULES.targets[k]), 3)) for k in known]
    values[3] = (*values[3][:2], "failed")
    values[4] = (*values[4][:2], f"<{values[4][2]}")
    values[5] = (*values[5][:2], "pending")
    values[6] = ("again0", "", 1.25)  # another name of m0
    values += [("lab1", "CNCCc1ccccc1", "failed"), ("lab2", "CC(O)=CC(=O)c1ccccc1", 1.75)]  # other forms
    outside = [("x1", "CCCCCCCCO", 2.5), ("x2", "OCC(O)CO", -1.2)]
    write(folder / "results.csv", [("id", "smiles", "logp"), *values, *outside])
    return folder


@pytest.fixture(scope="module")
def prepared(tables):
    """The pool in many parts."""
    return prepare_in_parts(tables / "pool.csv", tables / "pool", 16)


OPTIONS = {
    "plain": (),
    "limits": ("--require", "mw<330", "price<9", "--forbid", "C#N", "--only", "stock=yes"),
    "prices": ("--price", "price"),
    "budget": ("--price", "price", "--budget", "9"),
    "a budget alone": ("--price", "price", "--budget", "9", "--budget-only", "--agent", "molecule-ucb:short_list=6"),
    "groups": ("--at-most", "1", "--per", "vendor", "--agent", "molecule-ucb:short_list=6"),
    "scaffolds": ("--at-most", "1", "--per", "scaffold", "--agent", "molecule-ucb:short_list=6"),
    "caps": ("--at-most", "1", "--per", "scaffold"),
    "draws": ("--agent", "molecule-ts:short_list=40"),
}


QUICK = ("limits",)


@pytest.mark.parametrize(
    "options",
    [pytest.param(OPTIONS[name], id=name, marks=() if name in QUICK else pytest.mark.slow) for name in OPTIONS],
)
def test_suggestions_and_forecasts_are_those_of_the_pool_in_memory(options, tables, prepared, tmp_path):
    plain, _ = suggest(tables / "pool.csv", tables / "results.csv", tmp_path / "plain.csv", *options)
    assert suggest(prepared, tables / "results.csv", tmp_path / "streamed.csv", *options)[0] == plain


@pytest.mark.slow
def test_two_processes_and_a_cluster_suggest_the_same(tables, prepared, tmp_path):
    distributed = pytest.importorskip("distributed")
    here, _ = suggest(prepared, tables / "results.csv", tmp_path / "here.csv")
    assert suggest(prepared, tables / "results.csv", tmp_path / "there.csv", "--workers", "2")[0] == here
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as far:
        more = ("--workers", "None", "--scheduler", far.scheduler_address)
        assert suggest(prepared, tables / "results.csv", tmp_path / "far.csv", *more)[0] == here
