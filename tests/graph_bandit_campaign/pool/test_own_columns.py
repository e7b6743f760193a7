"""Own columns help to predict on a prepared pool as they do in memory."""

import pickle

import numpy as np
import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts, suggest
from support.tables import write

from graph_bandit_campaign.pool.own_columns import rank_own_columns
from graph_bandit_campaign.pool.prepared import PreparedPool

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


def ranks_of(folder, *columns):
    return rank_own_columns(PreparedPool.open(folder), columns, skip_bad=False)


def test_ranks_are_kept_in_the_folder(tables, tmp_path):
    folder = prepare_in_parts(tables / "pool.csv", tmp_path / "pool", 64, ignore_column=("dock",))
    first = ranks_of(folder, "dock", "shape")
    files = sorted(folder.glob(".ranks-*"))
    before = [path.stat().st_mtime_ns for path in files]
    assert len(files) == 2
    again = ranks_of(folder, "shape", "dock")
    assert [path.stat().st_mtime_ns for path in files] == before, "nothing was written again"
    np.testing.assert_array_equal(again.values[1], first.values[0])
    packed, expected = pickle.dumps(again), first.values[0].copy()
    assert len(packed) < 2000, "files are named, not sent"
    np.testing.assert_array_equal(pickle.loads(packed).values[1], expected)
    np.testing.assert_array_equal(ranks_of(folder, "dock").values[0], expected)
