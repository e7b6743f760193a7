"""The most promising products of a library that nobody enumerates, given the results so far."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

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
DEVIATIONS = 1.0  # standard deviations that are added to the mean: what is not known is promising

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


class BlockBeliefs:
    """Beliefs about building blocks, learnt from results: a process for each reaction of which two results differ.

    Args:
        library: the library.
        kernels: those of the blocks of each slot of each reaction.
        numbers: numbers of the products with results.
        rewards: their values; large ones are wanted.
    """

    def __init__(
        self,
        library: ProductLibrary,
        kernels: Sequence[Sequence[BlockKernel]],
        numbers: Sequence[int],
        rewards: Sequence[float],
    ) -> None:
        self.library = library
        self.numbers, self.values = np.asarray(numbers, np.int64), np.asarray(rewards, np.float64)
        self._learnt: dict[int, tuple[Numbers, ProductProcess]] = {}
        for part, of_slots in enumerate(kernels):
            own = np.flatnonzero(library.part_of(self.numbers) == part)
            own = own[choose_results(self.values[own], MOST_RESULTS)]
            if len(own) and np.ptp(self.values[own]) > 0:
                taught = self.numbers[own]
                process = ProductProcess(of_slots, library.blocks_of(taught, part), self.values[own])
                self._learnt[part] = taught, process

    def forecasts(self, numbers: Numbers) -> Floats:
        """Return the means of products, `(n,)`, as normal scores of their ranks; NaN where nothing is learnt.

        The mean of a product with a result is what the other results tell of it.
        """
        means, parts = np.full(len(numbers), np.nan), self.library.part_of(numbers)
        for part, (taught, process) in self._learnt.items():
            own = np.flatnonzero(parts == part)
            means[own] = process.scores.of(self.library.blocks_of(numbers[own], part))
            of_taught = dict(zip(taught.tolist(), process.left_out.tolist(), strict=True))
            means[own] = [of_taught.get(*pair) for pair in zip(numbers[own].tolist(), means[own].tolist(), strict=True)]
        return means

    def _promising(self, count: int, listed: Collection[int], generator: np.random.Generator) -> Numbers:
        """Return products that are not listed, by mean and standard deviation, best first.

        They are the best sums over slots and pairs, and changes of one block in the best products so far.

        Args:
            count: how many are wanted; there may be more or fewer.
            listed: numbers of those that are listed.
            generator: draws the blocks that are tried.
        """
        numbers, bounds = [np.zeros(0, np.int64)], [np.zeros(0)]
        for part, (_, process) in self._learnt.items():
            own = self.library.part_of(self.numbers) == part
            best = self.numbers[own][np.argsort(-self.values[own], kind="stable")[:STARTS]]
            changed = _change_one(self.library.blocks_of(best, part), self.library.parts[part], generator)
            tuples = np.concatenate([find_best(process.scores, len(listed) + count), changed])
            every = np.unique(self.library.numbers_of(tuples, part))
            every = every[~np.isin(every, [*listed])]
            means = process.scores.of(self.library.blocks_of(every, part))
            every = every[np.argsort(-means, kind="stable")[: LARGER * count]]
            means, deviations = process.predict(self.library.blocks_of(every, part))
            numbers.append(every)
            bounds.append(means + DEVIATIONS * deviations)
        order = np.argsort(-np.concatenate(bounds), kind="stable")
        return np.concatenate(numbers)[order]

    def lists(self, taken: Collection[int], seed: int) -> Iterator[Numbers]:
        """Yield lists of different products, the most promising first, until `MOST` are listed or none is left.

        Some of each list are drawn at random. Before two results differ, every block is in as many products as any
        other of its slot.

        Args:
            taken: products that are not listed.
            seed: seed of all that is drawn.
        """
        listed, size = set(taken), FIRST_LIST
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(len(self.numbers),)))
        most = min(MOST + len(listed), len(self.library))
        while len(listed) < most:
            size = min(size, most - len(listed))
            new = self._promising(size, listed, generator).tolist()
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
