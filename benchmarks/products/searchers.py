"""Four ways to search a library of products: campaigns, and three to compare them with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign import Campaign
from graph_bandit_env.pools.products import ProductLibrary

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
START, FEW, MANY = 500, 100, 500  # products of the first batch, of those until 2,000 are known, and of the others
UNTIL = 2000
MOST = 20_000  # products that are drawn at random
WARM_UP = 3  # products of each block that are tried before blocks are chosen by what is known of them


class Searcher(Protocol):
    """Ask for products by their numbers, and take in their values."""

    def ask(self) -> Numbers:
        """Return products that were not asked for before."""

    def tell(self, numbers: Numbers, values: Floats) -> None:
        """Take in values; NaN for a product that cannot be made."""


class CampaignSearcher:
    """Play a campaign, as a program does."""

    def __init__(self, library: ProductLibrary, seed: int) -> None:
        self._library, self._campaign = library, Campaign(library, seed=seed)

    def ask(self) -> Numbers:
        """Return a batch."""
        known = len(self._campaign.state.measured)
        count = START if not known else FEW if known < UNTIL else MANY
        numbers = [self._library.number_of(suggestion.id) for suggestion in self._campaign.ask(count)]
        return np.array(numbers, np.int64)

    def tell(self, numbers: Numbers, values: Floats) -> None:
        """Tell the values."""
        known = ~np.isnan(values)
        ids = [*map(self._library.id_of, numbers[known].tolist())]
        self._campaign.tell_many(dict(zip(ids, values[known].tolist(), strict=True)))


class RandomSearcher:
    """Draw products at random."""

    def __init__(self, library: ProductLibrary, seed: int) -> None:
        self._order, self._next = library.draw(min(len(library), MOST), np.random.default_rng(seed)), 0

    def ask(self) -> Numbers:
        """Return the next products."""
        self._next += FEW
        return self._order[self._next - FEW : self._next]

    def tell(self, numbers: Numbers, values: Floats) -> None:
        """Learn nothing."""


class BlockThompson:
    """Draw the mean of each block from a belief of its own, and take the best block of each slot.

    After three products of each block, with other blocks drawn at random, the belief is normal; its prior has mean and
    standard deviation of all values by then, and the noise that standard deviation, too [Klarich et al. 2024].
    """

    def __init__(self, library: ProductLibrary, seed: int) -> None:
        self._library, self._generator, self._seen = library, np.random.default_rng(seed), set[int]()
        self._sizes = library.parts[0].sizes
        self._sums, self._counts = ([np.zeros(size) for size in self._sizes] for _ in range(2))
        self._first, self._values = [*self._warm_up()], list[float]()

    def ask(self) -> Numbers:
        """Return one product; at first those of the warm-up."""
        if self._first:
            numbers, self._first = np.array(self._first, np.int64), []
            return numbers
        mean, variance = np.mean(self._values), np.var(self._values)
        while True:
            spreads = [np.sqrt(variance / (1 + counts)) for counts in self._counts]
            means = [(mean + sums) / (1 + counts) for sums, counts in zip(self._sums, self._counts, strict=True)]
            drawn = [int(np.argmax(self._generator.normal(*each))) for each in zip(means, spreads, strict=True)]
            number = int(self._library.numbers_of(np.array([drawn], np.int64))[0])
            if number not in self._seen:
                self._seen.add(number)
                return np.array([number], np.int64)
            variance *= 1.01  # until a product comes up that is new

    def tell(self, numbers: Numbers, values: Floats) -> None:
        """Add each value to the beliefs of its blocks."""
        known = ~np.isnan(values)
        if not self._values:
            self._values = values[known].tolist()
        for slot, blocks in enumerate(self._library.blocks_of(numbers[known]).T):
            np.add.at(self._sums[slot], blocks, values[known])
            np.add.at(self._counts[slot], blocks, 1.0)

    def _warm_up(self) -> Iterator[int]:
        for slot, size in enumerate(self._sizes):
            for block in np.repeat(np.arange(size), WARM_UP).tolist():
                chosen = [int(self._generator.integers(other)) for other in self._sizes]
                chosen[slot] = block
                number = int(self._library.numbers_of(np.array([chosen], np.int64))[0])
                if number not in self._seen:
                    self._seen.add(number)
                    yield number


class HillClimber:
    """Change one block of the best product at a time; after all its neighbours go on with the next best."""

    def __init__(self, library: ProductLibrary, seed: int) -> None:
        self._library, self._generator = library, np.random.default_rng(seed)
        self._values, self._left = dict[int, float](), dict[int, list[int]]()

    def ask(self) -> Numbers:
        """Return a neighbour of the best product with untried neighbours; at first some at random."""
        if not self._values:
            return self._library.draw(FEW, self._generator)
        for number in sorted(self._values, key=self._values.__getitem__, reverse=True):
            left = self._left.get(number)
            if left is None:
                left = self._left[number] = self._neighbours(number)
            while left:
                neighbour = left.pop()
                if neighbour not in self._values:
                    return np.array([neighbour], np.int64)
        return self._library.draw(FEW, self._generator)

    def tell(self, numbers: Numbers, values: Floats) -> None:
        """Remember the values; a product that cannot be made is the worst."""
        self._values |= dict(zip(numbers.tolist(), np.nan_to_num(values, nan=-np.inf).tolist(), strict=True))

    def _neighbours(self, number: int) -> list[int]:
        blocks, sizes = self._library.blocks_of([number]), self._library.parts[0].sizes
        changed = np.repeat(blocks, sum(sizes), axis=0)
        start = 0
        for slot, size in enumerate(sizes):
            changed[start : start + size, slot] = np.arange(size)
            start += size
        return [int(other) for other in self._generator.permutation(self._library.numbers_of(changed))]


SEARCHERS: dict[str, Callable[[ProductLibrary, int], Searcher]] = {
    "campaign": CampaignSearcher,
    "beliefs of blocks": BlockThompson,
    "hill climbing": HillClimber,
    "random": RandomSearcher,
}
