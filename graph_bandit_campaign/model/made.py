"""A library of products, or combinations, as a pool: found by id, made when taken, listed by what blocks promise."""

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

MOST_RESULTS = 3000  # that the process learns from
LEAST_CHOICE = 4  # times as many products as are wanted have to meet the limits before a list is long enough
BLOCKS = "building blocks"
MOST_TAUGHT = 1000  # products with results from which the model of molecules learns

Numbers = NDArray[np.int64]


class ProductPool:
    """The products, or combinations, of a library, of which those that are looked at are made.

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
        return [[BlockKernel.of(slot) for slot in part.slots] for part in parts]

    @property
    def has_reactions(self) -> bool:
        """Return whether it holds products of reactions, which are molecules; else combinations."""
        return self.library.parts[0].reaction is not None

    def hold(self, limits: Limits) -> None:
        """List nothing from now on that does not meet the limits on slots, such as `ligand=XPhos`."""
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
        """Return the numbers of the products of some ids, and of combinations of some texts, in increasing order."""
        numbers = {*map(self.library.number_of, names), *map(self._number_at, filter(None, texts))}
        return np.array(sorted(number for number in numbers if number is not None), np.int64)

    def _number_at(self, text: str) -> int | None:
        """Return the number of the combination with this in its slots; None if there is none."""
        cells, (part,) = json.loads(text), self.library.parts
        with suppress(ValueError):  # of a molecule that cannot be read, or no number
            places = [slot.place_of.get(slot.spell(cells[slot.name])) for slot in part.slots]
            return None if None in places else int(self.library.numbers_of(np.array([places], np.int64))[0])
        return None

    def one(self) -> MoleculeSet | SlotSet:
        """Return the first product that can be made, for a campaign that knows none.

        Raises:
            ValueError: if there is none.
        """
        most = min(len(self.library), MOST)
        made = (self.take(np.array([number])) for number in range(most))
        if (first := next((each for each in made if each is not None), None)) is None:
            raise ValueError(f"Expected blocks that react. Of the first {most:,} products none is made.")
        return first

    def take(self, numbers: Numbers) -> MoleculeSet | SlotSet | None:
        """Return products as molecules; those that are equal become one, and those that cannot be made are left out.

        Args:
            numbers: their numbers.

        Returns:
            None if there is none. Combinations, if there are no reactions.
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
        last = {self.library.number_of(each.id) for batch in state.rounds[-1:] for each in batch}
        for numbers in beliefs.lists(taken - last, state.seed):  # a batch that waits is explained among the same others
            listed += len(numbers)
            products = self.take(numbers)
            if products is not None and (meeting := np.flatnonzero(mask(products))).size:
                found = products.take(meeting)
                molecules = found if molecules is None else _join(molecules, found)
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
        kept = choose_results(np.array([*rewards.values()], np.float64), MOST_RESULTS).tolist()
        taught = {number: rewards[number] for number, is_kept in zip(rewards, kept, strict=True) if is_kept}
        return BlockBeliefs(self.library, self._kernels, taught), {*taken.values()}


def _join(some: MoleculeSet | SlotSet, others: MoleculeSet | SlotSet) -> MoleculeSet | SlotSet:
    if isinstance(some, SlotSet) and isinstance(others, SlotSet):
        return SlotSet(some.slots, np.concatenate([some.places, others.places]), [*some.ids, *others.ids])
    return cast(MoleculeSet, some).join(cast(MoleculeSet, others))
