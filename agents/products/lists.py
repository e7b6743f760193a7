"""List the products, or combinations, of a library that promise most, by what results tell of its building blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents.contract.protocol import SlotLike
from agents.products.process import BlockKernel, ProductProcess, find_best

FIRST_LIST = 1200  # products; each list that follows is twice as long
MOST = 100_000  # products that are looked at in a round
STARTS = 150  # of the best products so far, whose blocks are exchanged one at a time
CHANGES = 30  # blocks of each slot that are tried in the place of each of theirs
LARGER = 4  # times as many products as are listed are chosen by their means, and compared with deviations
AT_RANDOM = 0.1  # share of a list that is drawn at random
DEVIATIONS = 1.0  # standard deviations that are added to the mean: what is not known is promising

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


class PartLike(Protocol):
    """Slots, and what of their choices is banned, as `graph_bandit_env.pools.products.Part` holds them."""

    @property
    def slots(self) -> Sequence[SlotLike]:
        """Return the slots."""

    @property
    def banned(self) -> Mapping[tuple[int, ...], NDArray[np.bool_]]:
        """Return which choices of a slot, or pairs of two slots, are banned, by the numbers of the slots."""

    @property
    def free(self) -> Sequence[Numbers]:
        """Return the places of the choices of each slot that are not banned alone."""

    def allows(self, blocks: Numbers) -> NDArray[np.bool_]:
        """Return in which products nothing is banned, `(n,)`, given their blocks, `(n, slots)`."""


class LibraryLike(Protocol):
    """Numbered products, as `graph_bandit_env.pools.products.ProductLibrary` holds them."""

    @property
    def parts(self) -> Sequence[PartLike]:
        """Return the reactions."""

    def __len__(self) -> int:
        """Return how many products there are."""

    def part_of(self, numbers: Numbers) -> Numbers:
        """Return the number of the reaction of each product, `(n,)`."""

    def blocks_of(self, numbers: Numbers, part: int) -> Numbers:
        """Return the blocks of products of a reaction, `(n, slots)`."""

    def numbers_of(self, blocks: Numbers, part: int) -> Numbers:
        """Return the numbers of products of a reaction, given their blocks."""

    def draw(self, count: int, generator: np.random.Generator) -> Numbers:
        """Return different numbers, drawn at random, fewer if there are not so many."""


class BlockBeliefs:
    """Beliefs about building blocks, learnt from results: a process for each reaction of which two results differ.

    Args:
        library: the library.
        kernels: those of the blocks of each slot of each reaction.
        rewards: results by the number of the product, not more than a process can take; large ones are wanted.
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

        Some of each list are drawn at random. Before two results differ, every block is in as many products as any
        other of its slot. What is banned is in none.

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
            for number in self._allowed(np.concatenate(others)).tolist():
                if len(chosen) < size and number not in listed:
                    chosen[number] = None
            if not chosen:
                return
            listed |= chosen.keys()
            yield np.array([*chosen], np.int64)
            size *= 2

    def _spread(self, count: int, generator: np.random.Generator) -> Numbers:
        """Return random products of all reactions, in which the blocks of a slot are equally frequent."""
        most = min(count, len(self.library))
        every = [
            self.library.numbers_of(np.stack([_shuffled(free, most, generator) for free in part.free], 1), number)
            for number, part in enumerate(self.library.parts)
            if all(map(len, part.free))
        ]
        return np.array([*dict.fromkeys(np.stack(every, axis=1).reshape(-1).tolist() if every else ())], np.int64)

    def _allowed(self, numbers: Numbers) -> Numbers:
        """Return the products in which nothing is banned."""
        kept, parts = np.zeros(len(numbers), np.bool_), self.library.part_of(numbers)
        for number, part in enumerate(self.library.parts):
            own = parts == number
            kept[own] = part.allows(self.library.blocks_of(numbers[own], number))
        return numbers[kept]


def _shuffled(places: Numbers, count: int, generator: np.random.Generator) -> Numbers:
    """Return places of blocks, `(count,)`: each block once in random order, then again in another order."""
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
