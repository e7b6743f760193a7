"""The products of a library that a campaign holds in memory: those that it knows, and the most promising others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from agents.products import BlockKernel
from graph_bandit_campaign.assays.told import OtherAssay
from graph_bandit_campaign.checks import nearest_id
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.limits.limits import Limits
from graph_bandit_campaign.model.learner import default_agent
from graph_bandit_campaign.model.products import MOST, BlockBeliefs, ProductLists, read_kernels
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


class MadeProducts:
    """The products of a library that are in memory.

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
    """Those that are known, and the others of the last offer. If none is known, the first that can be made."""
    shown: MoleculeSet
    """The same, with what blocks tell of them."""

    def __init__(
        self,
        library: ProductLibrary,
        saved: CampaignState | None = None,
        goals: Sequence[Goal] | None = None,
        offered: MaskLike = None,
        also: Mapping[str, OtherAssay] | None = None,
    ) -> None:
        if offered is not None or goals or (saved and saved.goals):
            raise ValueError(
                "Expected one goal, and no `offered`, with a library of products, which is never listed. Give `Limits` "
                "to `ask` to leave some out."
            )
        self.library, self._kernels = library, read_kernels(library)
        state = saved or CampaignState("", True, 0)
        ids = (*state.structures, *state.settled(), *state.failed, *state.pending, *state.pinned)
        every = chain(ids, *(also or {}).values())
        numbers = [number for number in map(library.number_of, every) if number is not None]
        made = can_be_made(library, np.array(sorted(set(numbers)), np.int64), least=1)
        self.molecules = self.shown = _describe(read_products(library, made))
        self._refuse_others(saved.structures if saved else {})

    def add(self, ids: Iterable[str]) -> bool:
        """Make further products; return whether there are any that were not in memory.

        Args:
            ids: their ids, or ids of products that are in memory.

        Raises:
            ValueError: if there is no such product, or it cannot be made.
        """
        in_memory = {*self.molecules.ids, *self.molecules.aliases}
        new = [name for name in dict.fromkeys(ids) if name not in in_memory]
        numbers = [self.library.number_of(name) for name in new]
        for name, number in zip(new, numbers, strict=True):
            if number is None:
                near = nearest_id(name, self.molecules.ids)
                hint = f" Did you mean `{near}`?" if near else ""
                raise ValueError(f"Expected the id of a product of the library. Got {name!r}.{hint}")
            if problem := self.library.make([number])[0].problem:
                raise ValueError(f"Expected the id of a product that can be made. `{name}` cannot: {problem}")
        if new:
            self.molecules = self.shown = self._join(self.molecules, np.array(numbers, np.int64), Limits())
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
        beliefs, taken = learn_blocks(self.library, self._kernels, state)
        index_of, molecules = {name: k for k, name in enumerate(self.molecules.ids)}, self.molecules
        if kept := [index_of[name] for name in taken if name in index_of]:
            molecules = molecules.take(kept)
        least = len(molecules) + LEAST_CHOICE * count
        for numbers in ProductLists(beliefs, state.seed).after({*taken.values()}):
            molecules = self._join(molecules, can_be_made(self.library, numbers), limits)
            if len(molecules) >= least:
                break
        mask = limits.mask(molecules)
        self.molecules, self.shown = molecules, add_forecasts(molecules, beliefs) if reads_columns else molecules
        return mask

    def _join(self, molecules: MoleculeSet, numbers: Numbers, limits: Limits) -> MoleculeSet:
        """Return molecules, followed by those of some products that meet limits."""
        if not len(numbers):
            return molecules
        products = read_products(self.library, numbers)
        meeting = np.flatnonzero(limits.mask(products))
        return molecules.join(_describe(products.take(meeting))) if len(meeting) else molecules

    def _refuse_others(self, structures: Mapping[str, str]) -> None:
        """Refuse a library in which an id that was suggested is that of another molecule now."""
        for name, smiles in zip(self.molecules.ids, self.molecules.smiles, strict=True):
            before = structures.get(name, smiles)
            if smiles not in (before, self.molecules.standard_smiles(canonical_smiles(before) or before)):
                raise ValueError(
                    f"Expected `{name}` to be {before}, as in earlier rounds. The library makes {smiles} of these "
                    "blocks. Correct the library, or choose another `state` to start a new campaign."
                )


def learn_blocks(
    library: ProductLibrary, kernels: Sequence[Sequence[BlockKernel]], state: CampaignState
) -> tuple[BlockBeliefs, dict[str, int]]:
    """Return what the results of a campaign tell of blocks, and the numbers of products that are not offered, by id.

    Args:
        library: the library.
        kernels: as `read_kernels` returns them.
        state: state of the campaign, with one goal.
    """
    values, sign = state.means(), 1.0 if state.maximize else -1.0
    ids = dict.fromkeys((*values, *state.pending, *state.failed, *state.vetoes, *state.pinned))
    taken = {name: number for name in ids if (number := library.number_of(name)) is not None}
    rewards = {number: sign * values[name] for name, number in taken.items() if name in values}
    return BlockBeliefs(library, kernels, [*rewards], [*rewards.values()]), taken


def _describe(molecules: MoleculeSet) -> MoleculeSet:
    """Bring along what agents compare molecules by, so that it is computed once."""
    return describe(molecules, default_agent(molecules, 1))


def add_forecasts(molecules: MoleculeSet, beliefs: BlockBeliefs) -> MoleculeSet:
    """Return molecules with a column of what blocks tell of them, if blocks tell something.

    It is a column like the user's own: the results decide how much it counts.

    Args:
        molecules: products, and perhaps molecules that are not in the library.
        beliefs: what results tell of the blocks.
    """
    numbers = [*map(beliefs.library.number_of, molecules.ids)]
    column = np.full(len(molecules), np.nan)
    products = [k for k, number in enumerate(numbers) if number is not None]
    column[products] = beliefs.forecasts(np.array([numbers[k] for k in products], np.int64))
    return molecules if np.isnan(column).all() else molecules.with_columns([BLOCKS], column[:, None])


def can_be_made(library: ProductLibrary, numbers: Numbers, least: int = 0) -> Numbers:
    """Make products, and return the numbers of those that there are.

    Args:
        library: the library.
        numbers: numbers of products.
        least: how many there are at least, if the first products of the library have to be taken for it.

    Raises:
        ValueError: if there are not so many.
    """
    made = [number for number in numbers.tolist() if library.make([number])[0].smiles]
    further = iter(range(min(len(library), MOST)))
    while len(made) < least:
        number = next(further, None)
        if number is None:
            raise ValueError(
                f"Expected blocks that react. Of the first {min(len(library), MOST):,} products none is made."
            )
        made += [number] * bool(library.make([number])[0].smiles)
    return np.array(made, np.int64)


def read_products(
    library: ProductLibrary, numbers: Numbers, most_atoms: int = MOST_ATOMS, salts: Salts = "merge"
) -> MoleculeSet:
    """Return products as molecules; those that are equal become one.

    Args:
        library: the library.
        numbers: numbers of products that can be made.
        most_atoms: how many atoms a product may have, without hydrogens.
        salts: how salts are described.
    """
    made = library.make(numbers)
    smiles, ids = [product.smiles for product in made], [product.id for product in made]
    return from_smiles(smiles, ids=ids, most_atoms=most_atoms, salts=salts)
