"""List the most promising products or combinations of a library, based on results for their building blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents.contract.protocol import SlotLike
from agents.products.process import BlockKernel, ProductProcess, find_best

FIRST_LIST = 1200  # products; each following list is twice as long
MOST = 100_000  # products examined in a round
STARTS = 150  # best products so far, whose blocks are exchanged one at a time
CHANGES = 30  # candidate blocks of each slot for an exchange
LARGER = 4  # factor by which products preselected by mean exceed the listed ones, which also use deviations
AT_RANDOM = 0.1  # share of a list that is drawn at random
DEVIATIONS = 1.0  # standard deviations added to the mean, to favour uncertain products

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


class PartLike(Protocol):
    """Slots, and banned combinations of their choices, as in `graph_bandit_env.pools.products.Part`."""

    @property
    def slots(self) -> Sequence[SlotLike]:
        """Return the slots."""

    @property
    def banned(self) -> Mapping[tuple[int, ...], NDArray[np.bool_]]:
        """Return the banned choices of a slot, or of pairs of two slots, by the numbers of the slots."""

    @property
    def free(self) -> Sequence[Numbers]:
        """Return the positions of the choices of each slot that are not banned individually."""

    def allows(self, blocks: Numbers) -> NDArray[np.bool_]:
        """Return a mask of the allowed products, `(n,)`, given their blocks, `(n, slots)`."""


class LibraryLike(Protocol):
    """Numbered products, as in `graph_bandit_env.pools.products.ProductLibrary`."""

    @property
    def parts(self) -> Sequence[PartLike]:
        """Return the reactions."""

    def __len__(self) -> int:
        """Return the number of products."""

    def part_of(self, numbers: Numbers) -> Numbers:
        """Return the number of the reaction of each product, `(n,)`."""

    def blocks_of(self, numbers: Numbers, part: int) -> Numbers:
        """Return the blocks of products of a reaction, `(n, slots)`."""

    def numbers_of(self, blocks: Numbers, part: int) -> Numbers:
        """Return the numbers of products of a reaction, given their blocks."""

    def draw(self, count: int, generator: np.random.Generator) -> Numbers:
        """Return different random numbers of products, at most `count`."""


class BlockBeliefs:
    """Beliefs about building blocks, learned from results: a process for each reaction with two different results.

    Args:
        library: the library.
        kernels: the kernels of the blocks of each slot of each reaction.
        rewards: results by the number of the product, at most as many as a process supports. Large ones are better.
    """

    def __init__(
        self, library: LibraryLike, kernels: Sequence[Sequence[BlockKernel]], rewards: Mapping[int, float]
    ) -> None:
        self.library = library
        self.numbers, self.values = np.array([*rewards], np.int64), np.array([*rewards.values()], np.float64)
        self._learnt: dict[int, tuple[Numbers, ProductProcess]] = {}
        for part, of_slots in enumerate(kernels):
            own = np.flatnonzero(library.part_of(self.numbers) == part)
            if len(own) and np.ptp(self.values[own]) > 0:
                taught = self.numbers[own]
                process = ProductProcess(of_slots, library.blocks_of(taught, part), self.values[own])
                self._learnt[part] = taught, process

    def forecasts(self, numbers: Numbers) -> Floats:
        """Return the means of products, `(n,)`, as normal scores of their ranks. NaN for reactions without a process.

        The mean of a product with a result is its leave-one-out prediction.
        """
        means, parts = np.full(len(numbers), np.nan), self.library.part_of(numbers)
        for part, (taught, process) in self._learnt.items():
            own = np.flatnonzero(parts == part)
            means[own] = process.scores.of(self.library.blocks_of(numbers[own], part))
            of_taught = dict(zip(taught.tolist(), process.left_out.tolist(), strict=True))
            means[own] = [of_taught.get(*pair) for pair in zip(numbers[own].tolist(), means[own].tolist(), strict=True)]
        return means

    def _promising(self, count: int, listed: Collection[int], generator: np.random.Generator) -> Numbers:
        """Return unlisted products by mean and standard deviation, best first.

        They are the best sums over slots and pairs, and single-block changes of the best products so far.

        Args:
            count: approximate number of products to return.
            listed: numbers of the listed products.
            generator: generator of the blocks to try.
        """
        numbers, bounds = [np.zeros(0, np.int64)], [np.zeros(0)]
        for part, (_, process) in self._learnt.items():
            own = self.library.part_of(self.numbers) == part
            best = self.numbers[own][np.argsort(-self.values[own], kind="stable")[:STARTS]]
            of_part = self.library.parts[part]
            changed = _change_one(self.library.blocks_of(best, part), of_part, generator)
            found = find_best(process.scores.without(of_part.banned), len(listed) + count)
            tuples = np.concatenate([found, changed])
            every = np.unique(self.library.numbers_of(tuples[of_part.allows(tuples)], part))
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

        A share of each list is drawn at random. Without two different results, all blocks of a slot are equally
        frequent. Banned combinations never occur.

        Args:
            taken: products to exclude.
            seed: seed of all draws.
        """
        listed, size = set(taken), FIRST_LIST
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(len(self.numbers),)))
        most = min(MOST + len(listed), len(self.library))
        while len(listed) < most:
            size = min(size, most - len(listed))
            new = self._promising(size, listed, generator).tolist()
            chosen = dict.fromkeys(new[: size - round(AT_RANDOM * size)])
            enough = size + len(listed)  # so many different products include `size` unlisted ones
            others = (self._spread(enough, generator), self.library.draw(enough, generator))
            for number in self._allowed(np.concatenate(others)).tolist():
                if len(chosen) < size and number not in listed:
                    chosen[number] = None
            if not chosen:
                return
            listed |= chosen.keys()
            yield np.array([*chosen], np.int64)
            size *= 2

    def _spread(self, count: int, generator: np.random.Generator) -> Numbers:
        """Return random products of all reactions, with equal frequencies of the blocks of a slot."""
        most = min(count, len(self.library))
        every = [
            self.library.numbers_of(np.stack([_shuffled(free, most, generator) for free in part.free], 1), number)
            for number, part in enumerate(self.library.parts)
            if all(map(len, part.free))
        ]
        return np.array([*dict.fromkeys(np.stack(every, axis=1).reshape(-1).tolist() if every else ())], np.int64)

    def _allowed(self, numbers: Numbers) -> Numbers:
        """Return the products without banned combinations."""
        kept, parts = np.zeros(len(numbers), np.bool_), self.library.part_of(numbers)
        for number, part in enumerate(self.library.parts):
            own = parts == number
            kept[own] = part.allows(self.library.blocks_of(numbers[own], number))
        return numbers[kept]


def _shuffled(places: Numbers, count: int, generator: np.random.Generator) -> Numbers:
    """Return positions of blocks, `(count,)`: each block once in random order, then again in another order."""
    rounds = -(-count // len(places))
    return np.concatenate([places[generator.permutation(len(places))] for _ in range(rounds)])[:count]


def _change_one(tuples: Numbers, part: PartLike, generator: np.random.Generator) -> Numbers:
    """Return products that differ in one block from some others, `(n, S)`."""
    changed = [tuples]
    for slot, free in enumerate(part.free):
        blocks = np.stack([generator.choice(free, min(len(free), CHANGES), replace=False) for _ in tuples])
        other = np.repeat(tuples, blocks.shape[1], axis=0)
        other[:, slot] = blocks.reshape(-1)
        changed.append(other)
    return np.concatenate(changed)
