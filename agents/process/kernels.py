"""The kernels of the parts, with cached columns if they are few, and weighted sums of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import torch
from torch import Tensor
from tqdm import tqdm

from agents.process.parts.part import AddTo, FastReading, Reading
from gntk import symmetric_root

ENTRIES = 50_000_000  # of all cached columns: 400 MB
WHOLE = 500  # number of graphs up to which the kernels are computed as a whole
FEW = 0.05  # share of many graphs below which kernels are computed for these alone, without caching
SUMS_AT_A_TIME, LEAST_AT_A_TIME = 1 << 17, 16  # entries of a block of sums that fits into the cache; its least rows


class Kernels:
    """P kernels of M graphs, with columns computed on first use and cached, if they are few.

    Columns are recomputed each time if they would take more than `ENTRIES` numbers, or if the requested share of many
    graphs is small. Up to `WHOLE` graphs, all columns are computed at once.

    Args:
        readings: readings of the graphs, with e kernels in total.
        count: M.
        wanted: indices of the wanted kernels out of e. None: all.
        keeps: cache columns.
        few: minimum share of graphs for caching, large if kernels are cheap.
    """

    def __init__(
        self,
        readings: Sequence[Reading],
        count: int,
        wanted: Sequence[int] | None = None,
        keeps: bool = True,
        few: float = FEW,
    ) -> None:
        self.readings, self.count, self.keeps, self.few = readings, count, keeps, few
        every = [(number, k) for number, reading in enumerate(readings) for k in range(len(reading.shares))]
        self.wanted = list(range(len(every)) if wanted is None else wanted)
        chosen = [every[k] for k in self.wanted]
        sources = [(reading, [k for other, k in chosen if other == own]) for own, reading in enumerate(readings)]
        self.sources = [(reading, own) for reading, own in sources if own]
        self._every = torch.arange(count)
        self._place = torch.full((count,), -1, dtype=torch.int64)
        self._used, self._kept = 0, torch.zeros(0, len(self.wanted), count, dtype=torch.float64)

    def only(self, wanted: Sequence[int]) -> Kernels:
        """Return some of the kernels, by their positions among all kernels of the readings, with their cache."""
        some = Kernels(self.readings, self.count, wanted, self.keeps, self.few)
        some._place, some._used = self._place.clone(), self._used
        some._kept = self._kept[:, [self.wanted.index(k) for k in wanted]]
        return some

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernels between two lists of graphs, `(q, P, n)`."""
        places = self.places(rows, len(index))
        if places is None:
            return self._compute(rows, index)
        columns = self.kept[places]
        return columns if self.is_every(index) else columns[:, :, index]

    @property
    def kept(self) -> Tensor:
        """Return the cached columns, `(u, P, M)`."""
        return self._kept[: self._used]

    def places(self, rows: Tensor, asked: int) -> Tensor | None:
        """Compute missing columns, and return the positions of the columns in the cache.

        Args:
            rows: the columns.
            asked: number of requested graphs.

        Returns:
            The positions, or None if these columns are not cached.
        """
        missing = rows[self._place[rows] < 0].unique() if self._used < self.count else rows[:0]
        if not len(missing):
            return self._place[rows]
        if self._used == 0 and self.count <= WHOLE:
            missing = self._every
        used = self._used + len(missing)
        few = self.count > WHOLE and asked < self.few * self.count
        if few or not self.keeps or used * len(self.wanted) * self.count > ENTRIES:
            return None
        if used > len(self._kept):  # twice as many, so that the next ones need not be moved
            most = ENTRIES // (len(self.wanted) * self.count)
            room = min(self.count, most, max(used, 2 * len(self._kept)))
            moved = self._kept.new_empty(room, *self._kept.shape[1:])
            moved[: self._used] = self._kept[: self._used]
            self._kept = moved
        self._kept[self._used : used] = self._compute(missing, self._every)
        self._place[missing] = torch.arange(self._used, used)
        self._used = used
        return self._place[rows]

    @cached_property
    def diagonals(self) -> Tensor:
        """Return the kernels of graphs with themselves, `(P, M)`."""
        if self._used == self.count:
            return self._kept[self._place, :, self._every].T
        return torch.cat([reading.diagonal(self._every)[own] for reading, own in self.sources])

    def exchanged(self, readings: Sequence[Reading], kept: Tensor, added: int) -> Kernels:
        """Return the kernels of the remaining graphs followed by new ones, and keep the cache of the remaining ones.

        Args:
            readings: readings of these graphs, with the same values between remaining ones.
            kept: `(n,)` int64. The remaining graphs, in their order.
            added: number of new ones.
        """
        other, new = (
            Kernels(readings, len(kept) + added, self.wanted, few=self.few),
            torch.arange(len(kept), len(kept) + added),
        )
        stays = (self._place[kept] >= 0).nonzero().squeeze(1)
        old = self._kept[self._place[kept[stays]]][:, :, kept]
        other._kept = torch.cat([old, other._compute(new, stays).permute(2, 1, 0)], dim=2)
        other._place[stays], other._used = torch.arange(len(stays)), len(stays)
        own = torch.cat([reading.diagonal(new)[places] for reading, places in other.sources])
        other.__dict__["diagonals"] = torch.cat([self.diagonals[:, kept], own], dim=1)
        return other

    def is_every(self, index: Tensor) -> bool:
        """Return True if these are all graphs, in their order."""
        return len(index) == self.count and (index is self._every or torch.equal(index, self._every))

    def _compute(self, rows: Tensor, index: Tensor) -> Tensor:
        sources = tqdm(self.sources, "comparing graphs", delay=5, disable=None, leave=False)  # from 5 s on
        return torch.cat([reading.columns(rows, index)[own] for reading, own in sources]).transpose(0, 1)


class Mixture:
    """The sum of kernels: sum_p w_p k_p.

    Args:
        kernels: P kernels.
        weights: w, P numbers >= 0.
    """

    def __init__(self, kernels: Kernels, weights: Sequence[float]) -> None:
        self.kernels, self.weights = kernels, torch.tensor(weights, dtype=torch.float64)
        self._faced: tuple[Tensor, list[AddTo]] | None = None
        self._mixed = torch.zeros(0, kernels.count, dtype=torch.float64)  # of the cached columns

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the weighted sum of the kernels between two lists of graphs, `(q, n)`.

        Without caching, all parts are added for a few of the graphs `index` before the next.
        """
        places = self.kernels.places(rows, len(index))
        if places is not None:
            more = self.kernels.kept[len(self._mixed) :]
            self._mixed = torch.cat([self._mixed, self._mix(more)]) if len(more) else self._mixed
            mixed = self._mixed[places]
            return mixed if self.kernels.is_every(index) else mixed[:, index]
        total = torch.zeros(len(index), len(rows), dtype=torch.float64)
        facing, few = self._facing(rows), max(LEAST_AT_A_TIME, SUMS_AT_A_TIME // max(1, len(rows)))
        for some, sums in zip(index.split(few), total.split(few), strict=True):
            for add_to in facing:
                add_to(sums, some)
        return total.T

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the weighted sum of the kernels of graphs with themselves, `(n,)`."""
        return self._diagonal[index]

    @cached_property
    def root(self) -> Tensor:
        """Return a root of the kernel of all graphs, `(M, M)` (see `gntk.symmetric_root`)."""
        every = torch.arange(self.kernels.count)
        return symmetric_root(self.columns(every, every))

    @cached_property
    def _diagonal(self) -> Tensor:
        return self._mix(self.kernels.diagonals.unsqueeze(0))[0]

    def _mix(self, columns: Tensor) -> Tensor:
        """Return weighted sums of columns `(u, P, M)`, each entry by itself, so that its bits are reproducible."""
        total = torch.zeros(len(columns), columns.shape[2], dtype=torch.float64)
        for position, weight in enumerate(self.weights.tolist()):
            total.add_(columns[:, position], alpha=weight)
        return total

    def _facing(self, rows: Tensor) -> list[AddTo]:
        """Return cached functions that add the columns of these rows, because a posterior repeatedly requests them."""
        if self._faced is None or self._faced[0] is not rows:
            facing, weights = list[AddTo](), iter(self.weights.tolist())
            for reading, own in self.kernels.sources:
                of_part = [0.0] * len(reading.shares)
                for k in own:
                    of_part[k] = next(weights)
                face = reading.facing if isinstance(reading, FastReading) else partial(_facing_any, reading)
                facing.append(face(rows, of_part))
            self._faced = rows, facing
        return self._faced[1]


def _facing_any(reading: Reading, rows: Tensor, weights: Sequence[float]) -> AddTo:
    shares = torch.tensor(weights, dtype=torch.float64)

    def add_to(total: Tensor, index: Tensor) -> None:
        total.add_(torch.tensordot(shares, reading.columns(rows, index), dims=1).T)

    return add_to
