"""A random forest on the fingerprints of a prepared pool, which rates it part by part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from agents.molecule import Traits
from agents.traits import Kind
from graph_bandit_campaign.pool.prepared import PreparedPool
from graph_bandit_lab import count_cores

TREES, DEPTH = 100, 8  # MolPAL's [Graff et al. 2021]
KINDS: tuple[Kind, ...] = ("atom_pairs", "morgan")
BINS = 4096


def choose_by_forest(
    folder: Path, measured: NDArray[np.int64], values: NDArray[np.float64], count: int
) -> NDArray[np.int64]:
    """Return the molecules with the largest predictions of a random forest, by their places in the pool.

    Args:
        folder: folder of the pool.
        measured: `(n,)` places of molecules that were measured.
        values: `(n,)` their values.
        count: how many to choose of the others.
    """
    from sklearn.ensemble import RandomForestRegressor

    pool, order, begin, rows = PreparedPool.open(folder), np.sort(measured), 0, []
    for block in pool.blocks(KINDS):
        inside = order[np.searchsorted(order, begin) : np.searchsorted(order, begin + len(block))] - begin
        rows.append(_dense(block.traits.take(inside)) if len(inside) else np.zeros((0, BINS * len(KINDS)), np.float32))
        begin += len(block)
    forest = RandomForestRegressor(TREES, max_depth=DEPTH, n_jobs=count_cores(), random_state=0)
    forest.fit(np.concatenate(rows), values[np.argsort(measured)])
    means = np.concatenate([forest.predict(_dense(block.traits)) for block in pool.blocks(KINDS)])
    means[measured] = -np.inf
    ties = np.random.default_rng(0).random(len(means))
    return np.lexsort((ties, -means))[:count]


def _dense(traits: Traits) -> NDArray[np.float32]:
    """Return counts of the fingerprints, `(n, bins)`."""
    shape = (len(traits), BINS)
    parts = [traits.counts[kind] for kind in KINDS]
    matrices = [csr_array((part.counts.astype(np.float32), part.bins, part.offsets), shape=shape) for part in parts]
    return np.concatenate([matrix.toarray() for matrix in matrices], axis=1)
