"""Values of the molecules of a prepared pool, and tables of results."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.pool.prepared import PreparedPool


class Values:
    """What measuring each molecule of a pool would give: columns of its table.

    Args:
        folder: folder of the pool.
        columns: the columns; `values` are those of the first.
    """

    def __init__(self, folder: Path, *columns: str) -> None:
        self.columns = columns
        every = PreparedPool.open(folder).blocks((), columns)
        blocks = [(block.ids, block.numbers(columns)) for block in every]
        self.ids = np.array([name for ids, _ in blocks for name in ids])
        self.measured: NDArray[np.float64] = np.concatenate([numbers for _, numbers in blocks])
        self.values: NDArray[np.float64] = self.measured[:, 0]
        self._place_of = {name: k for k, name in enumerate(self.ids.tolist())}

    def __len__(self) -> int:
        return len(self.ids)

    def places_of(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """Return the places of molecules by their ids."""
        return np.array([self._place_of[name] for name in ids], np.int64)

    def draw(self, count: int, seed: int) -> NDArray[np.int64]:
        """Return the places of some molecules, drawn at random."""
        return np.random.default_rng(seed).choice(len(self), count, replace=False)

    def write(self, path: Path, places: Iterable[int]) -> None:
        """Write a table of results."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("id", *self.columns))
            writer.writerows((self.ids[k], *map(repr, self.measured[k].tolist())) for k in places)

    def share_found(self, places: NDArray[np.int64], top: int) -> float:
        """Return the share of the `top` molecules of largest value that are among some."""
        best = np.argsort(-self.values, kind="stable")[:top]
        return float(np.isin(best, places).mean())
