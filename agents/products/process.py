"""A Gaussian process on products of building blocks, whose predictions are sums over slots and pairs of slots.

Bounds on these sums identify the best products of a library without enumerating it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri

from agents.beliefs.rewards import History, make_targets
from agents.contract.protocol import MoleculeSetLike, SlotLike
from agents.process.likelihood import MOST_RESULTS, Likelihood, Rows
from agents.process.parts.slots import similarities

RADIUS, BITS = 2, 1024  # of the Morgan fingerprints of blocks
IDENTITY = 0.5  # share of the identity in the kernel: a block's effect depends not only on its structure
SPREAD = 2.0  # standard deviation of the logarithm of each weight before any result
BLOCK = 512  # products compared at a time
WIDTH = 4000  # partial products kept per slot
CHUNK = 1 << 22  # products rated at a time

Tuples = NDArray[np.int64]
Floats = NDArray[np.float64]
Numbers = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class BlockKernel:
    """The kernel of the B building blocks, or other choices, of a slot, with unit diagonal.

    k(a, b) = 1/2 [a = b] + 1/2 s(a, b),   s = |A and B| / |A or B|,   A and B the bits of Morgan fingerprints

    Words, numbers and other graphs are compared as `gp-` agents compare them.
    """

    bits: NDArray[np.float32]
    """`(B, D)`, zeros and ones: the fingerprint of each block."""
    similar: NDArray[np.float32] | None = None
    """`(B, B)`: s, if it is not computed from fingerprints."""

    @classmethod
    def of(cls, slot: SlotLike) -> Self:
        """Compute the fingerprints of molecules, or the similarities of other choices.

        Args:
            slot: a slot of B molecules with SMILES, words or numbers.
        """
        if not isinstance(slot.graphs, MoleculeSetLike):
            return cls(np.zeros((len(slot.choices), 0), np.float32), similarities(slot).numpy().astype(np.float32))
        from rdkit import Chem, rdBase
        from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

        generator = GetMorganGenerator(radius=RADIUS, fpSize=BITS)
        with rdBase.BlockLogs():
            prints = [generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in slot.graphs.smiles]
        return cls(np.array(prints, np.float32).reshape(-1, BITS))

    def columns(self, blocks: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the kernel of all blocks with some of them, `(B, q)`.

        Args:
            blocks: `(q,)`, indices of blocks.
        """
        similar: NDArray[np.floating] = np.zeros(0) if self.similar is None else self.similar[:, blocks]
        if self.similar is None:
            both, counts = self.bits @ self.bits[blocks].T, np.asarray(self.bits.sum(axis=1), np.float32)
            similar = both / np.maximum(counts[:, None] + counts[blocks] - both, 1)
        kernel = np.asarray((1 - IDENTITY) * similar, np.float32)
        kernel[blocks, np.arange(len(blocks))] = 1.0  # also for a block without bits
        return kernel


@dataclass(frozen=True)
class Weights:
    """Learned weights of the kernel."""

    terms: tuple[float, ...]
    """Weight of the kernel of each slot, then of the product of the kernels of each pair of slots."""
    noise: float
    """Variance that the blocks do not explain, in squared units of the scores."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Predictions of all products of a library: the mean of a product is a sum over its slots and their pairs.

    m(x) = sum_s u_s(x_s) + sum_{s < t} v_st(x_s, x_t)
    """

    parts: dict[tuple[int, ...], NDArray[np.float32]]
    """u, `(B_s,)` by `(s,)`, and v, `(B_s, B_t)` by `(s, t)`, in increasing order."""

    def of(self, tuples: Tuples) -> Floats:
        """Return the means of some products, `(n,)`.

        Args:
            tuples: `(n, S)`, the blocks of each product.
        """
        total = np.zeros(len(tuples))
        for term, part in self.parts.items():
            total += part[tuple(tuples[:, term].T)]
        return total

    def without(self, banned: Mapping[tuple[int, ...], NDArray[np.bool_]]) -> Scores:
        """Return the same means, with minus infinity for banned blocks of a slot, or pairs of two."""
        never = {term: np.where(mask, np.float32(-np.inf), self.parts[term]) for term, mask in banned.items()}
        return Scores(self.parts | never)


class ProductProcess:
    """The posterior of the values of products, given some of them, on the scale of normal scores of their ranks.

        k(x, x') = sum_s w_s k_s(x_s, x'_s) + sum_{s < t} w_st k_s(x_s, x'_s) k_t(x_t, x'_t)

    Args:
        kernels: the kernel of the blocks of each slot.
        tuples: `(n, S)`, the blocks of the measured products, at least one.
        values: `(n,)` float64, their values. Large ones are better.
        weights: known weights of the kernel. None: learn them from these results, or from 500 evenly spaced by value if
            there are more.
    """

    def __init__(
        self, kernels: Sequence[BlockKernel], tuples: Tuples, values: Floats, weights: Weights | None = None
    ) -> None:
        slots = range(len(kernels))
        self._tuples, self._terms = tuples, [*combinations(slots, 1), *combinations(slots, 2)]
        history = History(len(values))
        history.add(torch.arange(len(values)), torch.from_numpy(values))
        self.targets: Floats = make_targets(history, standardize=True, warp="normal_scores").of(history.means).numpy()
        played = [np.unique(tuples[:, s], return_inverse=True) for s in slots]
        self._columns = [kernel.columns(blocks) for kernel, (blocks, _) in zip(kernels, played, strict=True)]
        self._positions = [places.reshape(-1) for _, places in played]
        self.weights = self._learn() if weights is None else weights
        covariance = self._between(tuples)
        covariance[np.diag_indices(len(values))] += self.weights.noise
        self._factor = cho_factor(covariance, lower=True, overwrite_a=True)
        self._solved: Floats = cho_solve(self._factor, self.targets)

    @cached_property
    def scores(self) -> Scores:
        """Return the means of all products."""
        parts = {}
        for term, weight in zip(self._terms, self.weights.terms, strict=True):
            columns = [self._columns[s] for s in term]
            between = np.zeros([mine.shape[1] for mine in columns])
            np.add.at(between, tuple(self._positions[s] for s in term), self._solved)
            part = columns[0] @ (weight * between).astype(np.float32)
            parts[term] = part @ columns[1].T if len(term) > 1 else part
        return Scores(parts)

    @cached_property
    def left_out(self) -> Floats:
        """Return the leave-one-out prediction of each measured product, `(n,)`.

        m_i = y_i - [K^-1 y]_i / [K^-1]_ii,   K with the noise          [Rasmussen & Williams 2006, Eq. (5.12)]
        """
        inverse, _ = dpotri(self._factor[0], lower=1)
        return np.asarray(self.targets - self._solved / np.diag(inverse), np.float64)

    def predict(self, tuples: Tuples) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of products, `(m,)` each, without noise.

        Args:
            tuples: `(m, S)`, their blocks.
        """
        means, deviations = np.empty(len(tuples)), np.empty(len(tuples))
        slots = len(self._columns)
        prior = sum(self.weights.terms[:slots]) + sum(self.weights.terms[slots:])
        for start in range(0, len(tuples), BLOCK):
            part = slice(start, start + BLOCK)
            cross = self._between(tuples[part])
            means[part] = cross @ self._solved
            explained = solve_triangular(self._factor[0], cross.T, lower=True, overwrite_b=True)
            deviations[part] = np.sqrt(np.maximum(prior - np.square(explained).sum(axis=0), 0.0))
        return means, deviations

    def _between(self, tuples: Tuples) -> Floats:
        """Return the kernel between products and the measured ones, `(m, n)`."""
        total = np.zeros((len(tuples), len(self._tuples)))
        for start in range(0, len(tuples), BLOCK):
            some, rows = tuples[start : start + BLOCK], total[start : start + BLOCK]
            for weight, kernel in zip(self.weights.terms, self._kernels(some, slice(None)), strict=True):
                rows += weight * kernel
        return total

    def _kernels(self, tuples: Tuples, results: slice | NDArray[np.int64]) -> list[Floats]:
        """Return the kernels of products with some of the results, `(m, q)` for each slot and pair of slots."""
        of_slots = [
            columns[tuples[:, s]][:, positions[results]].astype(np.float64)
            for s, (columns, positions) in enumerate(zip(self._columns, self._positions, strict=True))
        ]
        return [reduce(np.multiply, (of_slots[s] for s in term)) for term in self._terms]

    def _learn(self) -> Weights:
        """Return the weights and the noise that maximise the marginal likelihood of the results."""
        order = np.argsort(self.targets, kind="stable")
        some = order[np.linspace(0, len(order) - 1, min(len(order), MOST_RESULTS)).round().astype(int)]
        kernels = torch.from_numpy(np.stack(self._kernels(self._tuples[some], some)))
        targets, shares = torch.from_numpy(self.targets[some]), [1 / len(kernels)] * len(kernels)
        nothing = torch.zeros_like(targets)
        rows = Rows(torch.from_numpy(some), torch.ones_like(targets), targets, nothing, nothing)
        weights, noise, _ = Likelihood(kernels, shares, SPREAD, [rows], shares).fit()
        return Weights(tuple(weights), noise)


def find_best(scores: Scores, count: int, width: int = WIDTH) -> Tuples:
    """Return the products with the largest scores, `(n, S)`, best first.

    Products are built slot by slot, small slots first. At each slot the partial products with the largest bound are
    kept: the score so far plus the largest possible contribution of the remaining slots. A good product is missed only
    if more than `width` partial products have a larger bound.

    Args:
        scores: sums over slots and pairs of slots.
        count: number of products to return.
        width: number of partial products to keep.
    """
    sizes = [len(part) for part in scores.parts.values() if part.ndim == 1]
    order = np.argsort(sizes, kind="stable").tolist()
    tuples, sums = np.zeros((1, 0), np.int64), np.zeros(1, np.float32)
    for depth, slot in enumerate(order):
        most = width if depth < len(order) - 1 else count
        constant, ahead = _most_ahead(scores, order, depth)
        rows = max(1, CHUNK // sizes[slot])
        kept: tuple[Tuples, Numbers, Numbers] = np.zeros((0, depth + 1), np.int64), sums[:0], sums[:0]
        for start in range(0, len(tuples), rows):
            begun = tuples[start : start + rows]
            reached = sums[start : start + rows, None] + scores.parts[slot,]
            bounds = np.full((len(begun), 1), constant, np.float32) + ahead[-1]
            for k, earlier in enumerate(order[:depth]):
                reached += _pair(scores, earlier, slot)[begun[:, k]]
                bounds += ahead[k][begun[:, k], None]
            every = (bounds + reached).reshape(-1)
            some = _largest(every, most)
            mine, blocks = np.divmod(some, sizes[slot])
            longer = np.concatenate([kept[0], np.column_stack([begun[mine], blocks])])
            sums_of, bounds_of = np.append(kept[1], reached.reshape(-1)[some]), np.append(kept[2], every[some])
            some = _largest(bounds_of, most)
            kept = longer[some], sums_of[some], bounds_of[some]
        tuples, sums, _ = kept
    return tuples[np.argsort(-sums, kind="stable")][:, np.argsort(order)]


def _largest(bounds: Numbers, count: int) -> NDArray[np.int64]:
    """Return the positions of the largest bounds."""
    every = len(bounds) <= count
    return np.arange(len(bounds)) if every else np.argpartition(bounds, len(bounds) - count - 1)[-count:]


def _most_ahead(scores: Scores, order: Sequence[int], depth: int) -> tuple[float, list[Numbers]]:
    """Return the largest contribution of slots after `depth`: a constant, and a number for each block of earlier slots.

    The first slot includes their own scores: max_b (u(b) + v(a, b)) is at most the sum of both maxima.
    """
    ahead = order[depth + 1 :]
    constant = sum(float(_pair(scores, s, t).max()) for s, t in combinations(ahead, 2))
    of_slots = []
    for k, slot in enumerate(order[: depth + 1]):
        most = np.zeros_like(scores.parts[slot,])
        for later in ahead:
            pair = _pair(scores, slot, later)
            most += (pair + scores.parts[later,] if k == 0 else pair).max(axis=1)
        of_slots.append(most)
    return constant, of_slots


def _pair(scores: Scores, first: int, second: int) -> Numbers:
    """Return the contributions of pairs of blocks of two slots, `(B_first, B_second)`."""
    return scores.parts[first, second] if first < second else scores.parts[second, first].T
