"""Scales for the numbers of molecules, computed over a whole pool, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from agents.descriptors.descriptors import Descriptors

FARTHEST = 5.0  # standard deviations; numbers farther from the mean are clipped

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scale:
    """Mean and standard deviation of D numbers, rounded to float32.

    Rounding makes them independent of the order in which molecules were added.
    """

    mean: Floats
    """`(D,)`."""
    spread: Floats
    """`(D,)`. Standard deviations, or 0 for a constant number, which is dropped."""

    @property
    def dimension(self) -> int:
        """Return D', the number of varying numbers."""
        return int((self.spread > 0).sum())

    def points(self, values: NDArray[np.floating]) -> Floats:
        """Shift and scale numbers to mean 0 and standard deviation 1.

        An unknown number becomes the mean of the others, and outliers are clipped to `FARTHEST`.

        Args:
            values: `(n, D)`, NaN for unknown numbers.

        Returns:
            `(n, D')`, D' <= D.
        """
        differ = self.spread > 0
        centred = (values[:, differ] - self.mean[differ]) / self.spread[differ]
        return np.clip(np.where(np.isfinite(centred), centred, 0.0), -FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and spread of D numbers over molecules, which can be merged with those of other molecules."""

    count: NDArray[np.int64]
    """`(D,)`. Number of molecules with a known value."""
    mean: Floats
    """`(D,)`. Mean of the known numbers, or 0 if none is known."""
    squares: Floats
    """`(D,)`. Sum of the squares of the deviations from the mean."""
    largest: Floats
    """`(D,)`. The largest absolute value, or 0 if none is known."""

    @staticmethod
    def of(values: NDArray[np.floating]) -> Moments:
        """Return the moments of numbers `(K, D)`, with NaN for unknown ones."""
        return Moments.of_columns(values.T)

    @staticmethod
    def of_columns(columns: Iterable[NDArray[np.floating]]) -> Moments:
        """Return the moments of numbers, given columns of values, possibly of different lengths."""
        rows = []
        for column in columns:
            known = np.asarray(column[np.isfinite(column)], np.float64)
            mean = known.mean() if len(known) else 0.0
            rows.append((len(known), mean, np.square(known - mean).sum(), np.abs(known).max(initial=0.0)))
        count, mean, squares, largest = np.array(rows, np.float64).reshape(-1, 4).T.copy()
        return Moments(count.astype(np.int64), mean, squares, largest)

    def merge(self, other: Moments) -> Moments:
        """Return the moments of these molecules and others      [Chan, Golub & LeVeque 1979].

        m = m_1 + d n_2 / n,   S = S_1 + S_2 + d^2 n_1 n_2 / n,   d = m_2 - m_1
        """
        count, away = self.count + other.count, other.mean - self.mean
        share = other.count / np.maximum(count, 1)
        return Moments(
            count,
            self.mean + away * share,
            self.squares + other.squares + away**2 * self.count * share,
            np.maximum(self.largest, other.largest),
        )

    def scale(self) -> Scale:
        """Return the scale of these molecules."""
        spread = np.sqrt(self.squares / np.maximum(self.count, 1))
        rounded = np.where(spread > 1e-9 * self.largest, spread, 0.0).astype(np.float32)
        return Scale(self.mean.astype(np.float32).astype(np.float64), rounded.astype(np.float64))

    def to_dict(self) -> dict[str, list[float]]:
        """Return lists of numbers, which JSON represents exactly."""
        return {name: array.tolist() for name, array in vars(self).items()}

    @staticmethod
    def from_dict(lists: Mapping[str, Sequence[float]]) -> Moments:
        """Make moments from a result of `to_dict`."""
        arrays = {name: np.array(numbers, np.float64) for name, numbers in lists.items()}
        return Moments(arrays.pop("count").astype(np.int64), **arrays)


@dataclass(frozen=True, eq=False)
class Ranks:
    """The known values of c columns over molecules, used to convert a value into a normal score.

        z_i = Phi^{-1}((i - 1/2) / n)   for the i-th smallest of n values      [Blom 1958]

    Scores are independent of units and robust to outliers, such as 9999 for a failed docking, which would hide all
    other differences in units of standard deviations.
    """

    runs: tuple[tuple[Floats, ...], ...]
    """The known values of each column in one or more sorted arrays. Large arrays may be memory-mapped files."""
    moments: Moments
    """Moments of the scores of the ranked molecules."""

    @staticmethod
    def of(columns: Floats) -> Ranks:
        """Return the ranks of columns `(K, c)`, with NaN for unknown values."""
        return Ranks.of_runs([(np.sort(column[np.isfinite(column)]),) for column in columns.T])

    @staticmethod
    def of_runs(runs: Sequence[tuple[Floats, ...]]) -> Ranks:
        """Return the ranks of columns, given the known values of each in sorted arrays, which are not copied."""
        return Ranks(tuple(runs), Moments.of_columns(_score(_join(values), values) for values in runs))

    @property
    def values(self) -> tuple[Floats, ...]:
        """Return the known values of each column, in increasing order."""
        return tuple(map(_join, self.runs))

    def merge(self, other: Ranks) -> Ranks:
        """Return the ranks of these molecules and others with as many columns, without copying an array."""
        pairs = zip(self.runs, other.runs, strict=True)
        return Ranks.of_runs([(*mine, *(run for run in theirs if len(run))) for mine, theirs in pairs])

    def scores(self, columns: Floats) -> Floats:
        """Return the normal scores of columns `(n, c)`, NaN for unknown values.

        Equal values share the mean of their ranks. Unranked values lie between their neighbours.
        """
        scores = np.full(columns.shape, np.nan)
        for k, (column, runs) in enumerate(zip(columns.T, self.runs, strict=True)):
            there = np.isfinite(column)
            scores[there, k] = _score(column[there], runs)
        return scores


@dataclass(frozen=True, eq=False)
class Scales:
    """Scales of the numbers of molecules: their moments, and the ranks of columns, over a whole pool.

    Scales of parts of a pool can be merged, in any order.
    """

    moments: Mapping[str, Moments]
    """Moments of "properties" and "rdkit", or of some of them."""
    ranks: Ranks | None = None
    """Ranks of the user's columns, or None."""

    @staticmethod
    def of(descriptors: Descriptors, columns: Floats | None = None) -> Scales:
        """Return the scales of molecules, given their descriptors and the user's columns `(K, c)`."""
        moments = {name: Moments.of(numbers) for name, numbers in descriptors.numbers.items()}
        return Scales(moments, None if columns is None else Ranks.of(columns))

    def merge(self, other: Scales) -> Scales:
        """Return the scales of these molecules and others with as many numbers and columns."""
        moments = {name: mine.merge(other.moments[name]) for name, mine in self.moments.items()}
        ranks = self.ranks if self.ranks is None or other.ranks is None else self.ranks.merge(other.ranks)
        return Scales(moments, ranks)


def _join(runs: tuple[Floats, ...]) -> Floats:
    return runs[0] if len(runs) == 1 else np.sort(np.concatenate(runs))


def _score(values: Floats, runs: tuple[Floats, ...]) -> Floats:
    """Return the normal scores of n known values among those of a column."""
    count = max(1, sum(map(len, runs)))
    below, upto = (sum(np.searchsorted(run, values, side=side) for run in runs) for side in ("left", "right"))
    half = 0.5 / count
    return np.asarray(ndtri(np.clip((below + upto) / (2 * count), half, 1 - half)), np.float64)
