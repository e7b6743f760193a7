"""A Gaussian process on products of building blocks, whose predictions are sums over slots and pairs of slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri

from agents.beliefs.rewards import History, make_targets
from agents.process.likelihood import MOST_RESULTS, Likelihood, Rows

RADIUS, BITS = 2, 1024  # of the Morgan fingerprints of blocks
IDENTITY = 0.5  # share of the identity in the kernel: what a block adds is not only what its structure says
SPREAD = 2.0  # standard deviation of the logarithm of each weight before any result
BLOCK = 512  # products that are compared at a time

Tuples = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BlockKernel:
    """The kernel of the B building blocks of a slot, with unit diagonal.

    k(a, b) = 1/2 [a = b] + 1/2 |A and B| / |A or B|,   A and B the bits of Morgan fingerprints
    """

    bits: NDArray[np.float32]
    """`(B, D)`, zeros and ones: the fingerprint of each block."""

    @classmethod
    def of_smiles(cls, smiles: Sequence[str]) -> Self:
        """Compute the fingerprints of molecules.

        Args:
            smiles: B canonical SMILES.
        """
        from rdkit import Chem, rdBase
        from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

        generator = GetMorganGenerator(radius=RADIUS, fpSize=BITS)
        with rdBase.BlockLogs():
            prints = [generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in smiles]
        return cls(np.array(prints, np.float32).reshape(-1, BITS))

    def __len__(self) -> int:
        return len(self.bits)

    def columns(self, blocks: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the kernel of all blocks with some of them, `(B, q)`.

        Args:
            blocks: `(q,)`, which of them.
        """
        both = self.bits @ self.bits[blocks].T
        either = self._counts[:, None] + self._counts[blocks] - both
        kernel = np.asarray((1 - IDENTITY) * both / np.maximum(either, 1), np.float32)
        kernel[blocks, np.arange(len(blocks))] = 1.0  # that of a block without bits, too
        return kernel

    @cached_property
    def _counts(self) -> NDArray[np.float32]:
        return np.asarray(self.bits.sum(axis=1), np.float32)


@dataclass(frozen=True)
class Weights:
    """What results have taught about the kernel."""

    slots: tuple[float, ...]
    """Weight of the kernel of each slot."""
    pairs: tuple[float, ...]
    """Weight of the product of the kernels of each pair of slots, in the order of `itertools.combinations`."""
    noise: float
    """Variance of what blocks do not tell, in squared units of the scores."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Predictions of all products of a library: the mean of a product is a sum over its slots and their pairs.

    m(x) = sum_s u_s(x_s) + sum_{s < t} v_st(x_s, x_t)
    """

    slots: tuple[NDArray[np.float32], ...]
    """`(B_s,)` for each slot: u."""
    pairs: tuple[NDArray[np.float32], ...]
    """`(B_s, B_t)` for each pair of slots, in the order of `itertools.combinations`: v."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of blocks of each slot."""
        return tuple(map(len, self.slots))

    def of(self, tuples: Tuples) -> Floats:
        """Return the means of some products, `(n,)`.

        Args:
            tuples: `(n, S)`, the blocks of each.
        """
        total = np.zeros(len(tuples))
        for s, scores in enumerate(self.slots):
            total += scores[tuples[:, s]]
        for (s, t), scores in zip(combinations(range(len(self.slots)), 2), self.pairs, strict=True):
            total += scores[tuples[:, s], tuples[:, t]]
        return total


class ProductProcess:
    """The posterior of the values of products, given some of them, on the scale of normal scores of their ranks.

        k(x, x') = sum_s w_s k_s(x_s, x'_s) + sum_{s < t} w_st k_s(x_s, x'_s) k_t(x_t, x'_t)

    Args:
        kernels: the kernel of the blocks of each slot.
        tuples: `(n, S)`, the blocks of the products that were measured.
        values: `(n,)` float64, their values; large ones are wanted.
        weights: what is known of the kernel; None: it is learnt from these results, evenly spaced by value if there
            are more than 500.

    Raises:
        ValueError: if there are no results, or shapes differ.
    """

    def __init__(
        self, kernels: Sequence[BlockKernel], tuples: Tuples, values: Floats, weights: Weights | None = None
    ) -> None:
        if tuples.shape != (len(values), len(kernels)) or not len(values):
            raise ValueError(f"Expected blocks of shape (n, {len(kernels)}), and n values. Got {tuples.shape}.")
        self._kernels, self._tuples = tuple(kernels), tuples
        self._pairs = [*combinations(range(len(kernels)), 2)]
        history = History(len(values))
        history.add(torch.arange(len(values)), torch.from_numpy(values))
        self.targets: Floats = make_targets(history, standardize=True, warp="normal_scores").of(history.means).numpy()
        played = [np.unique(tuples[:, s], return_inverse=True) for s in range(len(kernels))]
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
        slots = tuple(
            columns @ (weight * np.bincount(positions, self._solved, columns.shape[1])).astype(np.float32)
            for weight, columns, positions in zip(self.weights.slots, self._columns, self._positions, strict=True)
        )
        pairs = list[NDArray[np.float32]]()
        for (s, t), weight in zip(self._pairs, self.weights.pairs, strict=True):
            mine, theirs = self._columns[s], self._columns[t]
            between = np.zeros((mine.shape[1], theirs.shape[1]))
            np.add.at(between, (self._positions[s], self._positions[t]), self._solved)
            pairs.append(mine @ (weight * between).astype(np.float32) @ theirs.T)
        return Scores(slots, tuple(pairs))

    @cached_property
    def left_out(self) -> Floats:
        """Return the mean of each product that was measured, as the other results predict it, `(n,)`.

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
        prior = sum(self.weights.slots) + sum(self.weights.pairs)
        for start in range(0, len(tuples), BLOCK):
            part = slice(start, start + BLOCK)
            cross = self._between(tuples[part])
            means[part] = cross @ self._solved
            explained = solve_triangular(self._factor[0], cross.T, lower=True, overwrite_b=True)
            deviations[part] = np.sqrt(np.maximum(prior - np.square(explained).sum(axis=0), 0.0))
        return means, deviations

    def _between(self, tuples: Tuples) -> Floats:
        """Return the kernel of products with those that were measured, `(m, n)`."""
        total = np.zeros((len(tuples), len(self._tuples)))
        for start in range(0, len(tuples), BLOCK):
            some, rows = tuples[start : start + BLOCK], total[start : start + BLOCK]
            kernels = [
                columns[some[:, s]][:, positions].astype(np.float64)
                for s, (columns, positions) in enumerate(zip(self._columns, self._positions, strict=True))
            ]
            for weight, kernel in zip(self.weights.slots, kernels, strict=True):
                rows += weight * kernel
            for (s, t), weight in zip(self._pairs, self.weights.pairs, strict=True):
                rows += weight * (kernels[s] * kernels[t])
        return total

    def _learn(self) -> Weights:
        """Return the weights and the noise that maximise the marginal likelihood of the results."""
        order = np.argsort(self.targets, kind="stable")
        some = order[np.linspace(0, len(order) - 1, min(len(order), MOST_RESULTS)).round().astype(int)]
        of_slots = [
            torch.from_numpy(columns[self._tuples[some, s]][:, positions[some]].astype(np.float64))
            for s, (columns, positions) in enumerate(zip(self._columns, self._positions, strict=True))
        ]
        kernels = torch.stack([*of_slots, *(of_slots[s] * of_slots[t] for s, t in self._pairs)])
        count = len(kernels)
        targets, shares = torch.from_numpy(self.targets[some]), [1 / count] * count
        nothing = torch.zeros_like(targets)
        rows = Rows(torch.from_numpy(some), torch.ones_like(targets), targets, nothing, nothing)
        weights, noise, _ = Likelihood(kernels, shares, SPREAD, [rows], shares).fit()
        slots = len(self._kernels)
        return Weights(tuple(weights[:slots]), tuple(weights[slots:]), noise)
