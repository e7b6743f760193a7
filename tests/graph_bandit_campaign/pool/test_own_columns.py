"""Own columns help to predict on a prepared pool as they do in memory."""

import numpy as np
import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts, suggest
from support.tables import write

COUNT = 100
MOLECULES = some_molecules(COUNT)
RANDOM = np.random.default_rng(5)
DOCK = np.round(-MOLECULES.targets + RANDOM.normal(0, 0.4, COUNT), 1)
OWN = ("--features", "dock", "shape")


def cell(k):
    return "" if k % 7 == 0 else "9999" if k % 31 == 0 else DOCK[k]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A pool with docking scores, some not known, some of repeated molecules, and results that know further ones."""
    folder = tmp_path_factory.mktemp("tables")
    rows = [(f"m{k}", MOLECULES.smiles[k], cell(k), k % 3) for k in range(COUNT)]
    rows += [(f"again{k}", MOLECULES.smiles[k], DOCK[k] / 2, "") for k in range(0, COUNT, 10)]
    write(folder / "pool.csv", [("id", "smiles", "dock", "shape"), *rows])
    known = RANDOM.choice(COUNT, 30, replace=False).tolist()
    values = [(f"m{k}", MOLECULES.smiles[k], round(float(MOLECULES.targets[k]), 3), DOCK[k], "") for k in known]
    values[4] = (*values[4][:2], "pending", *values[4][3:])
    values[5] = (*values[5][:2], "failed", *values[5][3:])
    values += [("x1", "CCCCCCCCO", 2.5, -2.25, 4), ("x2", "OCC(O)CO", -1.2, "", "")]
    write(folder / "results.csv", [("id", "smiles", "logp", "Dock", "shape"), *values])
    write(folder / "bare.csv", [("id", "smiles", "logp"), *(row[:3] for row in values)])
    return folder


@pytest.fixture(scope="module")
def prepared(tables):
    """The pool in many parts."""
    return prepare_in_parts(tables / "pool.csv", tables / "pool", 16, ignore_column=("dock",))


@pytest.mark.parametrize(
    ("results", "more"), [("results.csv", ()), ("bare.csv", ("--require", "dock<2", "mw<330"))], ids=str
)
def test_suggestions_are_those_of_the_pool_in_memory(results, more, tables, prepared, tmp_path):
    plain, _ = suggest(tables / "pool.csv", tables / results, tmp_path / "plain.csv", *OWN, *more)
    assert suggest(prepared, tables / results, tmp_path / "streamed.csv", *OWN, *more)[0] == plain
