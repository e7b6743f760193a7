"""A library of products as a pool: its products are found by id, made when they are taken, and scanned by blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from agents.products import BlockKernel
from graph_bandit_campaign.assays.told import OtherAssay
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.limits.limits import Limits
from graph_bandit_campaign.model.learner import default_agent
from graph_bandit_campaign.model.products import MOST, BlockBeliefs
from graph_bandit_campaign.pool.descriptors import describe
from graph_bandit_campaign.pool.index import MaskLike
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import MoleculeSet, canonical_smiles, from_smiles
from graph_bandit_env.pools import MOST_ATOMS, Salts
from graph_bandit_env.pools.products import ProductLibrary

LEAST_CHOICE = 4  # times as many products as are wanted have to meet the limits before a list is long enough
BLOCKS = "building blocks"
MOST_TAUGHT = 1000  # products with results from which the model of molecules learns

Numbers = NDArray[np.int64]


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
        is_enough: Callable[[MoleculeSet], bool] = lambda _: True,
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
        return BlockBeliefs(self.library, self._kernels, [*rewards], [*rewards.values()]), {*taken.values()}


class MadeProducts:
    """The products of a library that a campaign holds in memory.

    Args:
        library: the library.
        saved: state of the campaign, whose products are made; None: there is none yet.
        goals: several goals, which are refused.
        offered: which graphs of a pool can be suggested, which is refused, since the pool is never listed.
        also: results of other assays by name, and by SMILES or id of products, which are made.

    Raises:
        ValueError: if something is given that is refused, no product can be made, or an id that was suggested is that
            of another molecule now.
    """

    molecules: MoleculeSet
    """Those that are known, and the others of the last offer, with what blocks tell of them if the agent reads it. If
    none is known, the first that can be made."""

    def __init__(
        self,
        library: ProductLibrary,
        saved: CampaignState | None = None,
        goals: Sequence[Goal] | None = None,
        offered: MaskLike = None,
        also: Mapping[str, OtherAssay] | None = None,
    ) -> None:
        if offered is not None or goals or (saved and saved.goals):
            raise ValueError("Expected one goal, and `Limits` in place of `offered`, with a library of products.")
        self._pool, state = ProductPool(library), saved or CampaignState("", True, 0)
        ids = (*state.structures, *state.settled(), *state.failed, *state.pending, *state.pinned)
        numbers = self._pool.find(chain(ids, *(also or {}).values()))
        self.molecules = _describe(self._pool.take(numbers) or self._pool.one())
        for name, smiles in zip(self.molecules.ids, self.molecules.smiles, strict=True):
            before = state.structures.get(name, smiles)
            if smiles not in (before, self.molecules.standard_smiles(canonical_smiles(before) or before)):
                text = f"Expected `{name}` to be {before}, as in earlier rounds. The library now makes {smiles} of it."
                raise ValueError(f"{text} Correct the library, or start a new campaign.")

    def add(self, ids: Iterable[str]) -> bool:
        """Make further products; return whether there are any that were not in memory.

        Args:
            ids: their ids, or ids of products that are in memory.

        Raises:
            ValueError: if there is no such product, or it cannot be made.
        """
        in_memory, library = {*self.molecules.ids, *self.molecules.aliases}, self._pool.library
        new = [name for name in dict.fromkeys(ids) if name not in in_memory]
        for name in new:
            number = library.number_of(name)
            if number is None:
                raise ValueError(f"Expected the id of a product of the library. Got {name!r}.")
            if problem := library.make([number])[0].problem:
                raise ValueError(f"Expected the id of a product that can be made. `{name}` cannot: {problem}")
        if new and (products := self._pool.take(self._pool.find(new))):
            self.molecules = self.molecules.join(products)
        return bool(new)

    def offer(
        self, state: CampaignState, count: int, limits: Limits | MaskLike, reads_columns: bool
    ) -> NDArray[np.bool_]:
        """Replace the products that are not known by the most promising ones.

        Args:
            state: state of the campaign, with one goal.
            count: how many are to be chosen.
            limits: limits on what is chosen; None: there are none.
            reads_columns: whether the agent reads columns; it is given what blocks tell then.

        Returns:
            `(K,)`. Whether each of `molecules` meets the limits.

        Raises:
            TypeError: if `limits` is a mask.
        """
        limits = Limits() if limits is None else limits
        if not isinstance(limits, Limits):
            raise TypeError("Expected `among` to be `Limits`, or None, with a library of products. Got a mask.")
        molecules = _describe(self._pool.scan(state, count, limits.mask)[0])
        self.molecules = self._pool.add_forecasts(molecules, state) if reads_columns else molecules
        return limits.mask(molecules)


def _describe(molecules: MoleculeSet) -> MoleculeSet:
    """Bring along what agents compare molecules by, so that it is computed once."""
    return describe(molecules, default_agent(molecules, 1))
