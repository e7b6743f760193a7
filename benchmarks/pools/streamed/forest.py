"""A random forest on the fingerprints of a prepared pool, which rates it part by part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from agents.molecule import Traits
from agents.molecule.traits import Kind
from graph_bandit_campaign.pool.prepared import PreparedPool

TREES, DEPTH = 100, 8  # MolPAL's [Graff et al. 2021]
KINDS: tuple[Kind, ...] = ("atom_pairs", "morgan")
BINS = 4096


class ForestRounds:
    """Choose the molecules with the largest predictions of a random forest.

    Args:
        folder: folder of the pool.
        workers: threads of the forest.
    """

    def __init__(self, folder: Path, workers: int) -> None:
        self._pool, self._workers = PreparedPool.open(folder), workers

    def choose(self, measured: NDArray[np.int64], values: NDArray[np.float64], count: int, seed: int) -> list[int]:
        """Return the places in the pool of molecules that were not measured.

        Args:
            measured: `(n,)` places of those that were.
            values: `(n,)` their values.
            count: how many to choose.
            seed: seed of the forest.
        """
        from sklearn.ensemble import RandomForestRegressor

        order, begin, rows = np.sort(measured), 0, []
        for block in self._pool.blocks(KINDS):
            here = order[np.searchsorted(order, begin) : np.searchsorted(order, begin + len(block))] - begin
            rows.append(_dense(block.traits.take(here)) if len(here) else np.zeros((0, BINS * len(KINDS)), np.float32))
            begin += len(block)
        forest = RandomForestRegressor(TREES, max_depth=DEPTH, n_jobs=self._workers, random_state=seed)
        forest.fit(np.concatenate(rows), values[np.argsort(measured)])
        means = np.concatenate([forest.predict(_dense(block.traits)) for block in self._pool.blocks(KINDS)])
        means[measured] = -np.inf
        ties = np.random.default_rng(seed).random(len(means))
        chosen: list[int] = np.lexsort((ties, -means))[:count].tolist()
        return chosen


def _dense(traits: Traits) -> NDArray[np.float32]:
    """Return counts of the fingerprints, `(n, bins)`."""
    shape = (len(traits), BINS)
    parts = [traits.counts[kind] for kind in KINDS]
    matrices = [csr_array((part.counts.astype(np.float32), part.bins, part.offsets), shape=shape) for part in parts]
    return np.concatenate([matrix.toarray() for matrix in matrices], axis=1)
