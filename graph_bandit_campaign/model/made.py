"""A library of products as a pool: found by id, made when they are taken, and listed by what blocks promise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from agents.products import BlockKernel, ProductProcess, find_best
from graph_bandit_campaign.model.learner import choose_results
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import MoleculeSet, from_smiles
from graph_bandit_env.pools import MOST_ATOMS, Salts
from graph_bandit_env.pools.products import Part, ProductLibrary

FIRST_LIST = 1200  # products; each list that follows is twice as long
MOST = 100_000  # products that are looked at in a round, and held in memory
STARTS = 150  # of the best products so far, whose blocks are exchanged one at a time
CHANGES = 30  # blocks of each slot that are tried in the place of each of theirs
MOST_RESULTS = 3000  # that the process learns from
LARGER = 4  # times as many products as are listed are chosen by their means, and compared with deviations
AT_RANDOM = 0.1  # share of a list that is drawn at random
DEVIATIONS = 1.0  # standard deviations that are added to the mean: what is not known is promising
LEAST_CHOICE = 4  # times as many products as are wanted have to meet the limits before a list is long enough
BLOCKS = "building blocks"
MOST_TAUGHT = 1000  # products with results from which the model of molecules learns

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


class BlockBeliefs:
    """Beliefs about building blocks, learnt from results: a process for each reaction of which two results differ.

    Args:
        library: the library.
        kernels: those of the blocks of each slot of each reaction.
        rewards: results by the number of the product; large ones are wanted.
    """

    def __init__(
        self, library: ProductLibrary, kernels: Sequence[Sequence[BlockKernel]], rewards: Mapping[int, float]
    ) -> None:
        self.library = library
        self.numbers, self.values = np.array([*rewards], np.int64), np.array([*rewards.values()], np.float64)
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


class ProductPool:
    """The products of a library, of which those that are looked at are made.

    Args:
        library: the library.
        most_atoms: how many atoms a product may have, without hydrogens.
        salts: how salts are described.
    """

    def __init__(self, library: ProductLibrary, most_atoms: int = MOST_ATOMS, salts: Salts = "merge") -> None:
        self.library, self._most_atoms, self._salts = library, most_atoms, salts

    @cached_property
    def _kernels(self) -> list[list[BlockKernel]]:
        parts = self.library.parts
        return [[BlockKernel.of_smiles(slot.smiles) for slot in part.slots] for part in parts]

    def find(self, names: Iterable[str]) -> Numbers:
        """Return the numbers of the products that there are of some ids, in increasing order."""
        numbers = {number for name in names if (number := self.library.number_of(name)) is not None}
        return np.array(sorted(numbers), np.int64)

    def one(self) -> MoleculeSet:
        """Return the first product that can be made, for a campaign that knows none.

        Raises:
            ValueError: if there is none.
        """
        most = min(len(self.library), MOST)
        made = (self.take(np.array([number])) for number in range(most))
        if (first := next(filter(None, made), None)) is None:
            raise ValueError(f"Expected blocks that react. Of the first {most:,} products none is made.")
        return first

    def take(self, numbers: Numbers) -> MoleculeSet | None:
        """Return products as molecules; those that are equal become one, and those that cannot be made are left out.

        Args:
            numbers: their numbers.

        Returns:
            None if there is none.
        """
        made = [product for product in self.library.make(numbers) if product.smiles]
        if not made:
            return None
        smiles, ids = [product.smiles for product in made], [product.id for product in made]
        return from_smiles(smiles, ids=ids, most_atoms=self._most_atoms, salts=self._salts)

    def scan(
        self,
        state: CampaignState,
        count: int,
        mask: Callable[[MoleculeSet], NDArray[np.bool_]],
        is_enough: Callable[[MoleculeSet], bool],
    ) -> tuple[MoleculeSet, int]:
        """Return the products that a campaign knows, and the most promising others, of as many lists as it takes.

        Args:
            state: the campaign, with one goal.
            count: how many are to be chosen.
            mask: which of some products meet the limits.
            is_enough: whether a batch can be chosen of some products, which all meet the limits but for the known ones.

        Returns:
            The products, and how many others were listed.
        """
        beliefs, taken = self._learn(state)
        molecules, listed = self.take(np.array(sorted(taken), np.int64)), 0
        least = LEAST_CHOICE * count + (0 if molecules is None else len(molecules))
        for numbers in beliefs.lists(taken, state.seed):
            listed += len(numbers)
            products = self.take(numbers)
            if products is not None and (meeting := np.flatnonzero(mask(products))).size:
                found = products.take(meeting)
                molecules = found if molecules is None else molecules.join(found)
            if molecules is not None and len(molecules) >= least and is_enough(molecules):
                break
        return molecules or self.one(), listed

    def add_forecasts(self, molecules: MoleculeSet, state: CampaignState) -> MoleculeSet:
        """Return molecules with a column of what blocks tell of them, if blocks tell something.

        It is a column like the user's own: the results decide how much it counts.

        Args:
            molecules: products, and perhaps molecules that are not in the library.
            state: the campaign, with one goal.
        """
        numbers = [*map(self.library.number_of, molecules.ids)]
        column = np.full(len(molecules), np.nan)
        products = [k for k, number in enumerate(numbers) if number is not None]
        column[products] = self._learn(state)[0].forecasts(np.array([numbers[k] for k in products], np.int64))
        return molecules if np.isnan(column).all() else molecules.with_columns([BLOCKS], column[:, None])

    def _learn(self, state: CampaignState) -> tuple[BlockBeliefs, set[int]]:
        """Return what the results of a campaign tell of blocks, and the numbers of products that are not offered."""
        values, sign = state.means(), 1.0 if state.maximize else -1.0
        ids = dict.fromkeys((*values, *state.pending, *state.failed, *state.vetoes, *state.pinned))
        taken = {name: number for name in ids if (number := self.library.number_of(name)) is not None}
        rewards = {number: sign * values[name] for name, number in taken.items() if name in values}
        return BlockBeliefs(self.library, self._kernels, rewards), {*taken.values()}
