"""Use a library of products or combinations as a pool: find them by id, make them on demand, rank them by blocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agents.products import MOST, BlockBeliefs, BlockKernel
from graph_bandit_campaign.constraints.limits.limits import Limits
from graph_bandit_campaign.model.learner import choose_results
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import MoleculeSet, from_smiles
from graph_bandit_env.pools import MOST_ATOMS, Salts, SlotSet
from graph_bandit_env.pools.products import ProductLibrary

MOST_RESULTS = 3000  # for training the process
LEAST_CHOICE = 4  # minimum number of products that meet the limits, as a multiple of the requested number
BLOCKS = "building blocks"
MOST_TAUGHT = 1000  # products with results for training the model of molecules

Numbers = NDArray[np.int64]


class ProductPool:
    """The products or combinations of a library, made on demand.

    Args:
        library: the library.
        most_atoms: maximum number of atoms of a product, without hydrogens.
        salts: "merge" to describe salts by their parent, or "separate".
    """

    def __init__(self, library: ProductLibrary, most_atoms: int = MOST_ATOMS, salts: Salts = "merge") -> None:
        self.library, self._most_atoms, self._salts = library, most_atoms, salts

    @cached_property
    def _kernels(self) -> list[list[BlockKernel]]:
        parts = self.library.parts
        return [[BlockKernel.of(slot) for slot in part.slots] for part in parts]

    @property
    def has_reactions(self) -> bool:
        """Return True if the library has products of reactions, which are molecules, and False for combinations."""
        return self.library.parts[0].reaction is not None

    def hold(self, limits: Limits) -> None:
        """Apply limits on slots, such as `ligand=XPhos`, to all further lists."""
        parts = []
        for part in self.library.parts:
            banned = dict(part.banned)
            for k, slot in enumerate(part.slots):
                texts = slot.names if part.reaction else slot.spelt
                own = [each for each in limits.choices if each.name.casefold() == slot.name.casefold()]
                banned[k,] = np.array([not all(each.accepts(text) for each in own) for text in texts], np.bool_)
                ends = [each for each in limits.requirements if each.name.casefold() == slot.name.casefold()]
                if slot.kind == "number":
                    banned[k,] |= [not all(each.accepts(float(text)) for each in ends) for text in texts]
            parts.append(replace(part, banned=banned))
        self.library = ProductLibrary(parts)

    def find(self, names: Iterable[str], texts: Iterable[str] = ()) -> Numbers:
        """Return the numbers of the products with some ids or, for combinations, some texts, in increasing order."""
        numbers = {*map(self.library.number_of, names), *map(self._number_at, filter(None, texts))}
        return np.array(sorted(number for number in numbers if number is not None), np.int64)

    def _number_at(self, text: str) -> int | None:
        """Return the number of the combination with these slots, or None."""
        cells, (part,) = json.loads(text), self.library.parts
        with suppress(ValueError):  # if a molecule or a number cannot be read
            places = [slot.place_of.get(slot.spell(cells[slot.name])) for slot in part.slots]
            return None if None in places else int(self.library.numbers_of(np.array([places], np.int64))[0])
        return None

    def one(self) -> MoleculeSet | SlotSet:
        """Return the first product that can be made, for a campaign without known products.

        Raises:
            ValueError: if no product can be made.
        """
        most = min(len(self.library), MOST)
        made = (self.take(np.array([number])) for number in range(most))
        if (first := next((each for each in made if each is not None), None)) is None:
            raise ValueError(f"Expected blocks that react. Of the first {most:,} products none is made.")
        return first

    def take(self, numbers: Numbers) -> MoleculeSet | SlotSet | None:
        """Return products as molecules. Equal products are merged, and products that cannot be made are left out.

        Args:
            numbers: their numbers.

        Returns:
            None if there are no products. Combinations, if there are no reactions.
        """
        if not self.has_reactions:
            ids, places = [*map(self.library.id_of, numbers.tolist())], self.library.blocks_of(numbers)
            return SlotSet(self.library.parts[0].slots, places, ids) if ids else None
        made = [product for product in self.library.make(numbers) if product.smiles]
        if not made:
            return None
        smiles, ids = [product.smiles for product in made], [product.id for product in made]
        return from_smiles(smiles, ids=ids, most_atoms=self._most_atoms, salts=self._salts)

    def scan(
        self,
        state: CampaignState,
        count: int,
        mask: Callable[[MoleculeSet | SlotSet], NDArray[np.bool_]],
        is_enough: Callable[[MoleculeSet | SlotSet], bool],
    ) -> tuple[MoleculeSet | SlotSet, int]:
        """Return the known products of a campaign, and the most promising others, from as many lists as needed.

        Args:
            state: the campaign, with one goal.
            count: number of products to choose.
            mask: returns a mask of the products that meet the limits.
            is_enough: returns True if a batch can be chosen from products that are known or meet the limits.

        Returns:
            The products, and the number of other listed products.
        """
        beliefs, taken = self._learn(state)
        molecules, listed = self.take(np.array(sorted(taken), np.int64)), 0
        least = LEAST_CHOICE * count + (0 if molecules is None else len(molecules))
        last = {self.library.number_of(each.id) for batch in state.rounds[-1:] for each in batch}
        for numbers in beliefs.lists(taken - last, state.seed):  # a pending batch is explained among the same products
            listed += len(numbers)
            products = self.take(numbers)
            if products is not None and (meeting := np.flatnonzero(mask(products))).size:
                found = products.take(meeting)
                molecules = found if molecules is None else _join(molecules, found)
            if molecules is not None and len(molecules) >= least and is_enough(molecules):
                break
        return molecules or self.one(), listed

    def add_forecasts(self, molecules: MoleculeSet, state: CampaignState) -> MoleculeSet:
        """Return molecules with a column of predictions from their blocks, if these are informative.

        The column is treated like the user's own columns: its weight is learned from the results.

        Args:
            molecules: products, and possibly molecules outside the library.
            state: the campaign, with one goal.
        """
        numbers = [*map(self.library.number_of, molecules.ids)]
        column = np.full(len(molecules), np.nan)
        products = [k for k, number in enumerate(numbers) if number is not None]
        column[products] = self._learn(state)[0].forecasts(np.array([numbers[k] for k in products], np.int64))
        return molecules if np.isnan(column).all() else molecules.with_columns([BLOCKS], column[:, None])

    def _learn(self, state: CampaignState) -> tuple[BlockBeliefs, set[int]]:
        """Return the beliefs about blocks from the results of a campaign, and the numbers of unavailable products."""
        values, sign = state.means(), 1.0 if state.maximize else -1.0
        ids = dict.fromkeys((*values, *state.pending, *state.failed, *state.vetoes, *state.pinned))
        taken = {name: number for name in ids if (number := self.library.number_of(name)) is not None}
        rewards = {number: sign * values[name] for name, number in taken.items() if name in values}
        kept = choose_results(np.array([*rewards.values()], np.float64), MOST_RESULTS).tolist()
        taught = {number: rewards[number] for number, is_kept in zip(rewards, kept, strict=True) if is_kept}
        return BlockBeliefs(self.library, self._kernels, taught), {*taken.values()}


def _join(some: MoleculeSet | SlotSet, others: MoleculeSet | SlotSet) -> MoleculeSet | SlotSet:
    if isinstance(some, SlotSet) and isinstance(others, SlotSet):
        return SlotSet(some.slots, np.concatenate([some.places, others.places]), [*some.ids, *others.ids])
    return cast(MoleculeSet, some).join(cast(MoleculeSet, others))
