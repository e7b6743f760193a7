"""The most promising products of a library that nobody enumerates, given the results so far."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from agents.products import BlockKernel, ProductProcess, find_best
from graph_bandit_campaign.model.learner import choose_results
from graph_bandit_env.pools.products import Part, ProductLibrary

FIRST_LIST = 1200  # products; each list that follows is twice as long
MOST = 100_000  # products that are looked at in a round, and held in memory
STARTS = 150  # of the best products so far, whose blocks are exchanged one at a time
CHANGES = 30  # blocks of each slot that are tried in the place of each of theirs
MOST_RESULTS = 3000  # that the process learns from
LARGER = 4  # times as many products as are listed are chosen by their means, and compared with deviations
AT_RANDOM = 0.1  # share of a list that is drawn at random
SPREAD = 1.0  # standard deviations that are added to the mean: what is not known is promising

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


class ProductLists:
    """Lists of promising products: the best sums over slots and pairs, changes of the best so far, and some at random.

    Args:
        library: the library.
        seed: seed of all that is drawn.
    """

    def __init__(self, library: ProductLibrary, seed: int) -> None:
        self.library, self._seed = library, seed

    def after(self, numbers: Sequence[int], rewards: Sequence[float], taken: Collection[int]) -> Iterator[Numbers]:
        """Yield lists of different products, the most promising first, until `MOST` are listed or none is left.

        Before two results differ, every block is in as many products as any other of its slot.

        Args:
            numbers: numbers of the products with results.
            rewards: their values; large ones are wanted.
            taken: products that are not listed.
        """
        listed, size = set(taken), FIRST_LIST
        generator = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(len(numbers),)))
        measured, values = np.asarray(numbers, np.int64), np.asarray(rewards, np.float64)
        processes = [self._learn(part, measured, values) for part in range(len(self.library.parts))]
        most = min(MOST + len(listed), len(self.library))
        while len(listed) < most:
            size = min(size, most - len(listed))
            promising = self._promising(processes, measured, values, len(listed) + size, generator)
            new = [number for number in promising.tolist() if number not in listed]
            chosen = dict.fromkeys(new[: size - round(AT_RANDOM * size)])
            enough = size + len(listed)  # so many different ones hold `size` that are not listed
            others = (self._spread(enough, generator), self.library.draw(enough, generator))
            for number in np.concatenate(others).tolist():
                if len(chosen) < size and number not in listed:
                    chosen[number] = None
            if not chosen:
                return
            listed |= chosen.keys()
            yield np.array([*chosen], np.int64)
            size *= 2

    @cached_property
    def _kernels(self) -> list[list[BlockKernel]]:
        return [[BlockKernel.of_smiles(slot.smiles) for slot in part.slots] for part in self.library.parts]

    def _learn(self, part: int, measured: Numbers, values: Floats) -> ProductProcess | None:
        """Return the process of one reaction; None if no two of its results differ."""
        own = np.flatnonzero(self.library.part_of(measured) == part)
        own = own[choose_results(values[own], MOST_RESULTS)]
        if not len(own) or np.ptp(values[own]) == 0:
            return None
        return ProductProcess(self._kernels[part], self.library.blocks_of(measured[own], part), values[own])

    def _promising(
        self,
        processes: Sequence[ProductProcess | None],
        measured: Numbers,
        values: Floats,
        count: int,
        generator: np.random.Generator,
    ) -> Numbers:
        """Return products by mean and standard deviation, best first; of each reaction whose results differ."""
        numbers, bounds = [np.zeros(0, np.int64)], [np.zeros(0)]
        for part, process in enumerate(processes):
            if process is None:
                continue
            own = self.library.part_of(measured) == part
            best = measured[own][np.argsort(-values[own], kind="stable")[:STARTS]]
            changed = _change_one(self.library.blocks_of(best, part), self.library.parts[part], generator)
            tuples = np.unique(np.concatenate([find_best(process.scores, count).tuples, changed]), axis=0)
            likely = np.argsort(-process.scores.of(tuples), kind="stable")[: LARGER * count]
            tuples = tuples[np.sort(likely)]
            means, deviations = process.predict(tuples)
            numbers.append(self.library.numbers_of(tuples, part))
            bounds.append(means + SPREAD * deviations)
        order = np.argsort(-np.concatenate(bounds), kind="stable")
        return np.concatenate(numbers)[order]

    def _spread(self, count: int, generator: np.random.Generator) -> Numbers:
        """Return random products of all reactions, in which the blocks of a slot are equally frequent."""
        every = [
            self.library.numbers_of(
                np.stack([_shuffled(size, min(count, len(self.library)), generator) for size in part.sizes], 1), number
            )
            for number, part in enumerate(self.library.parts)
        ]
        return np.array([*dict.fromkeys(np.stack(every, axis=1).reshape(-1).tolist())], np.int64)


def _shuffled(size: int, count: int, generator: np.random.Generator) -> Numbers:
    """Return places of blocks, `(count,)`: each block once in random order, then again in another order."""
    rounds = -(-count // size)
    return np.concatenate([generator.permutation(size) for _ in range(rounds)])[:count]


def _change_one(tuples: Numbers, part: Part, generator: np.random.Generator) -> Numbers:
    """Return products that differ in one block from some others, `(n, S)`."""
    changed = [tuples]
    for slot, size in enumerate(part.sizes):
        blocks = np.stack([generator.choice(size, min(size, CHANGES), replace=False) for _ in tuples])
        other = np.repeat(tuples, blocks.shape[1], axis=0)
        other[:, slot] = blocks.reshape(-1)
        changed.append(other)
    return np.concatenate(changed)
