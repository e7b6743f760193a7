"""Find the graphs of a campaign by id, and define the interface of a pool for a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents.contract import GraphSetLike, MoleculeSetLike
from graph_bandit_env import GraphPool, GraphSet
from graph_bandit_env.files import digest
from graph_bandit_env.pools import SlotSet, is_bare_salt

MaskLike = Sequence[bool] | NDArray[np.bool_] | None


class PoolIndex:
    """The ids of a pool, and the index of each graph.

    Args:
        graph_set: K graphs, with `ids` if they have names.
    """

    ids: tuple[str, ...]
    """Name of each graph."""
    index_of: dict[str, int]
    """Index of each graph, by its id."""

    def __init__(self, graph_set: PoolLike) -> None:
        self.graph_set = graph_set
        self.ids = tuple(getattr(graph_set, "ids", map(str, range(len(graph_set)))))
        self.index_of = {identifier: k for k, identifier in enumerate(self.ids)}
        self.aliases: Mapping[str, str] = dict(getattr(graph_set, "aliases", {}))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that break ties between graphs: SMILES of molecules, ids of other graphs."""
        return tuple(self.graph_set.smiles) if isinstance(self.graph_set, MoleculeSetLike) else self.ids

    def check_id(self, identifier: str) -> str:
        """Return the id of a graph, given its id or that of a replicate row.

        Raises:
            ValueError: if it does not exist.
        """
        identifier = self.aliases.get(identifier, identifier)
        if identifier not in self.index_of:
            raise ValueError(f"Expected an id of the pool, such as {self.ids[0]!r}. Got {identifier!r}.")
        return identifier

    def indices(self, identifiers: Iterable[str]) -> list[int]:
        """Return the indices of ids.

        Raises:
            ValueError: if one is not in the pool.
        """
        return [self.index_of[self.check_id(identifier)] for identifier in identifiers]

    def present(self, identifiers: Iterable[str]) -> list[int]:
        """Return the indices of the ids that are in the pool."""
        return [self.index_of[key] for key in identifiers if key in self.index_of]

    def written(self, indices: Iterable[int]) -> dict[str, str]:
        """Return the SMILES of molecules as in the pool, by id, or an empty dict for other graphs."""
        if not isinstance(pool := self.graph_set, MoleculeSetLike):
            return {}
        written: Mapping[str, str] = getattr(pool, "written", {})
        return {self.ids[k]: written.get(self.ids[k], pool.smiles[k]) for k in indices}

    def mask(self, name: str, given: MaskLike) -> NDArray[np.bool_]:
        """Return a copy of a mask of the graphs, `(K,)`. None allows all.

        Args:
            name: its name, for messages.
            given: the mask.

        Raises:
            ValueError: if it has another shape, or entries other than True and False.
        """
        mask = np.ones(len(self.ids), np.bool_) if given is None else np.array(given)
        if mask.shape != (len(self.ids),) or mask.dtype != np.bool_:
            got = f"Got {mask.dtype} of shape `{mask.shape}`."
            raise ValueError(f"Expected `{name}` to be True or False for each of {len(self.ids)} candidates. {got}")
        return mask

    def suggestible(self) -> NDArray[np.bool_]:
        """Return a mask of the graphs that can be suggested, `(K,)`: all except salts without an organic part."""
        mask = self.mask("suggestible", None)
        if isinstance(self.graph_set, MoleculeSetLike):
            mask &= ~np.array([*map(is_bare_salt, self.graph_set.smiles)], np.bool_)
        return mask

    def structures(self, indices: Iterable[int]) -> dict[str, str]:
        """Return the structures of graphs, by id, or an empty dict if the set is not a pool."""
        if not isinstance(self.graph_set, MoleculeSetLike | GraphPool):
            return {}
        return {self.ids[k]: structure_of(self.graph_set, k) for k in indices}


def structure_of(graph_set: MoleculeSetLike | GraphPool, index: int) -> str:
    """Return the SMILES of a molecule, the slots of an action, or the id and a digest for another graph.

    Args:
        graph_set: K graphs.
        index: index of the graph.
    """
    if isinstance(graph_set, MoleculeSetLike):
        return graph_set.smiles[index]
    if isinstance(graph_set, SlotSet):
        return graph_set.texts[index]
    return f"{graph_set.ids[index]}: {digest(GraphSet.take(graph_set, [index]))}"


class PoolLike(GraphSetLike, Protocol):
    """A graph set whose length is known before its graphs are read."""

    def __len__(self) -> int:
        """Return K."""
