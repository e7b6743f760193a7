"""Scales on which the numbers of molecules are compared: those of a whole pool, computed part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from agents.descriptors.descriptors import Descriptors

FARTHEST = 5.0  # standard deviations; a number farther from the mean counts as that far

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scale:
    """Mean and standard deviation of D numbers, rounded to float32.

    So rounded, they are the same whatever the order in which molecules were added up.
    """

    mean: Floats
    """`(D,)`."""
    spread: Floats
    """`(D,)`. Standard deviations; 0 for a number that all molecules share, which is left out."""

    @property
    def dimension(self) -> int:
        """Return D', how many numbers are not left out."""
        return int((self.spread > 0).sum())

    def points(self, values: NDArray[np.floating]) -> Floats:
        """Shift and scale numbers to mean 0 and standard deviation 1.

        A number that is not known becomes the mean of the others, and one far from the mean is moved to `FARTHEST`.

        Args:
            values: `(n, D)`, NaN where a number is not known.

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
    """`(D,)`. Of how many molecules each number is known."""
    mean: Floats
    """`(D,)`. Mean of the known numbers; 0 if none is known."""
    squares: Floats
    """`(D,)`. Sum of the squares of the deviations from the mean."""
    largest: Floats
    """`(D,)`. The largest absolute value; 0 if none is known."""

    @staticmethod
    def of(values: NDArray[np.floating]) -> Moments:
        """Return the moments of numbers `(K, D)`, NaN where one is not known."""
        return Moments.of_columns(values.T)

    @staticmethod
    def of_columns(columns: Iterable[NDArray[np.floating]]) -> Moments:
        """Return the moments of numbers, given the values of each, which may differ in length."""
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
        """Return lists of numbers, which JSON keeps exactly."""
        return {name: array.tolist() for name, array in vars(self).items()}

    @staticmethod
    def from_dict(lists: Mapping[str, Sequence[float]]) -> Moments:
        """Return the moments of which `to_dict` returned the lists."""
        arrays = {name: np.array(numbers, np.float64) for name, numbers in lists.items()}
        return Moments(arrays.pop("count").astype(np.int64), **arrays)


@dataclass(frozen=True, eq=False)
class Ranks:
    """The known values of c columns over molecules, by which a value becomes a normal score.

        z_i = Phi^{-1}((i - 1/2) / n)   for the i-th smallest of n values      [Blom 1958]

    So no unit and no outlier matters: a column may hold 9999 for a docking that failed. Among standard deviations it
    would hide all other differences.
    """

    runs: tuple[tuple[Floats, ...], ...]
    """The known values of each column, in one array or more, each in increasing order: large ones may lie in files."""
    moments: Moments
    """Moments of the scores of the ranked molecules."""

    @staticmethod
    def of(columns: Floats) -> Ranks:
        """Return the ranks of columns `(K, c)`, NaN where a value is not known."""
        return Ranks.of_runs([(np.sort(column[np.isfinite(column)]),) for column in columns.T])

    @staticmethod
    def of_runs(runs: Sequence[tuple[Floats, ...]]) -> Ranks:
        """Return the ranks of columns, given the known values of each in arrays in increasing order, which are kept."""
        return Ranks(tuple(runs), Moments.of_columns(_score(_join(values), values) for values in runs))

    @property
    def values(self) -> tuple[Floats, ...]:
        """Return the known values of each column, in increasing order."""
        return tuple(map(_join, self.runs))

    def merge(self, other: Ranks) -> Ranks:
        """Return the ranks of these molecules and others, which have as many columns; no array is copied."""
        pairs = zip(self.runs, other.runs, strict=True)
        return Ranks.of_runs([(*mine, *(run for run in theirs if len(run))) for mine, theirs in pairs])

    def scores(self, columns: Floats) -> Floats:
        """Return the normal scores of columns `(n, c)`, NaN where a value is not known.

        Equal values share the mean of their ranks. A value that no ranked molecule has lies between its neighbours.
        """
        scores = np.full(columns.shape, np.nan)
        for k, (column, runs) in enumerate(zip(columns.T, self.runs, strict=True)):
            there = np.isfinite(column)
            scores[there, k] = _score(column[there], runs)
        return scores


@dataclass(frozen=True, eq=False)
class Scales:
    """What the numbers of molecules are compared with: their moments, and the ranks of columns, over a whole pool.

    Scales of parts of a pool can be merged, in any order.
    """

    moments: Mapping[str, Moments]
    """Moments of "properties" and "rdkit", or of some of them."""
    ranks: Ranks | None = None
    """Ranks of the user's own columns; None: there are none."""

    @staticmethod
    def of(descriptors: Descriptors, columns: Floats | None = None) -> Scales:
        """Return the scales of molecules, given their descriptors and the user's own columns `(K, c)`."""
        moments = {name: Moments.of(numbers) for name, numbers in descriptors.numbers.items()}
        return Scales(moments, None if columns is None else Ranks.of(columns))

    def merge(self, other: Scales) -> Scales:
        """Return the scales of these molecules and others, which have as many numbers and columns."""
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
