"""Several goals on a prepared pool: suggestions and predictions are those of the pool in memory."""

import numpy as np
import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts, suggest
from support.tables import write

from graph_bandit_campaign.command.pools import rows as short_lists
from graph_bandit_campaign.model import goals_choice

COUNT = 100
MOLECULES = some_molecules(COUNT)
RANDOM = np.random.default_rng(4)
SHORT = 20  # of the short list: far fewer than there are


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A pool with prices and vendors, and results of three quantities, some of which are missing or failed."""
    folder = tmp_path_factory.mktemp("tables")
    rows = [(f"m{k}", MOLECULES.smiles[k], 1 + k % 9, "ABC"[k % 3]) for k in range(COUNT)]
    write(folder / "pool.csv", [("id", "smiles", "price", "vendor"), *rows])
    known = RANDOM.choice(COUNT, 34, replace=False).tolist()
    noise = RANDOM.normal(size=(COUNT, 2)).round(2)
    values = [(f"m{k}", round(float(MOLECULES.targets[k]), 3), *noise[k]) for k in known]
    values[0] = (values[0][0], "pending", "", "")
    values[1] = (values[1][0], *values[1][1:3], "")
    write(folder / "results.csv", [("id", "logp", "size", "tox"), *values])
    failed = [(row[0], "failed", "", "") if "O" in MOLECULES.smiles[int(row[0][1:])] else row for row in values]
    write(folder / "failed.csv", [("id", "logp", "size", "tox"), *failed])
    return folder


@pytest.fixture(scope="module")
def prepared(tables):
    """The pool in many parts."""
    return prepare_in_parts(tables / "pool.csv", tables / "pool", 16)


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    for module in (short_lists, goals_choice):
        monkeypatch.setattr(module, "SHORT_LIST", SHORT)


OPTIONS = {
    "front": ("--minimize", "size"),
    "a range": ("--target=size=-0.5..0.5",),
    "a limit on results": ("--minimize", "size", "--require", "tox<0.5"),
    "limits": ("--minimize", "size", "--require", "mw<330", "--forbid", "C#N", "--only", "vendor=A,B"),
    "groups": ("--minimize", "size", "--at-most", "2", "--per", "vendor"),
    "money": ("--minimize", "size", "--price", "price", "--budget", "9", "--budget-only"),
}


CASES = [*((name, "results.csv") for name in OPTIONS), ("money", "failed.csv")]
QUICK = (("limits", "results.csv"),)


@pytest.mark.parametrize(
    ("name", "results"), [pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow) for case in CASES]
)
def test_suggestions_and_predictions_are_those_of_the_pool_in_memory(name, results, tables, prepared, tmp_path):
    written = []
    for pool in (tables / "pool.csv", prepared):
        predictions = tmp_path / f"{len(written)}-all.csv"
        more = ("--predictions", str(predictions), *OPTIONS[name])
        text, _ = suggest(pool, tables / results, tmp_path / f"{len(written)}.csv", *more)
        written.append((text, predictions.read_text()))
    assert written[0] == written[1]
    assert len(written[0][1].splitlines()) == COUNT + 1
