"""A pool of different molecules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.graphs.graph_set import Floats, GraphSet, as_graph_set
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.molecule_graph import Features, count_columns


class MoleculeSet(GraphPool):
    """K different molecules as graphs: atoms are nodes and bonds are edges, both with features.

    `from_smiles_csv` and `from_smiles` make such sets.

    Args:
        graphs: K graphs of atoms and bonds, with the columns that `features` names.
        smiles: K different canonical SMILES.
        ids: identifiers, all different; None: the canonical SMILES.
        targets: K measured values (the mean over rows of the same molecule), NaN where there is none; None: nothing
            was measured.
        features: "one_hot" or "categories".
        skipped: line and problem of each row that was left out.
        merged: how many rows repeated a molecule.
        aliases: further identifiers of molecules, each with the identifier in `ids` that it stands for.

    Raises:
        ValueError: as in `GraphPool`; also if there is not one SMILES for each graph, two are equal, or the graphs do
            not have the columns of `features`.
    """

    _edge_features: tuple[Floats, ...]  # bonds always have some
    smiles: tuple[str, ...]
    """Canonical SMILES; they are different for different molecules."""
    features: Features
    """Form of the features of atoms and bonds."""
    skipped: tuple[tuple[int, str], ...]
    """Line and problem of each row that was left out."""
    merged: int
    """How many rows repeated a molecule."""
    aliases: Mapping[str, str]
    """Identifiers of rows that were merged into another row, each with the identifier in `ids` that it stands for."""

    def __init__(
        self,
        graphs: GraphSet,
        smiles: Sequence[str],
        ids: Sequence[str] | None = None,
        targets: ArrayLike | None = None,
        features: Features = "one_hot",
        skipped: Sequence[tuple[int, str]] = (),
        merged: int = 0,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        # `super().__init__` would check all graphs again; they were checked when they were made, and may be many.
        graphs = as_graph_set(graphs)
        self._fill(graphs._nodes, graphs._edge_links, graphs._edge_features)
        columns, expected = (self.feature_dim, self.edge_feature_dim), count_columns(features)
        if columns != expected:
            raise ValueError(
                f"Expected {expected[0]} columns of atoms and {expected[1]} of bonds, as {features!r} has. Got "
                f"{columns[0]} and {columns[1]}."
            )
        self.smiles = tuple(smiles)
        if len(self.smiles) != len(self) or len(set(self.smiles)) != len(self):
            raise ValueError(
                f"Expected {len(self)} SMILES, all different. Got {len(self.smiles)}, {len(set(self.smiles))} of them "
                "different."
            )
        self._label(self.smiles if ids is None else ids, targets)
        self.features, self.skipped, self.merged = features, tuple(skipped), merged
        self.aliases = MappingProxyType(dict(aliases or {}))

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> MoleculeSet:
        """Return the molecules with these indices, in this order, with their identifiers and measured values."""
        pool = super().take(index)
        return MoleculeSet(pool, [self.smiles[k] for k in index], pool.ids, pool.targets, self.features)

    def join(self, other: MoleculeSet) -> MoleculeSet:
        """Return the molecules of this set, followed by those of another set that are not in this one.

        A molecule in both sets keeps its identifier and measured value from this set. The value of the other set is
        taken if this one has none. The two values are not averaged: each may be a mean over a different number of rows,
        and an agent may have seen one of them already.

        Args:
            other: molecules with the same `features`.

        Returns:
            The molecules of both sets. The skipped and merged rows of both are added up, and each molecule in both sets
            counts as one more merged row.

        Raises:
            ValueError: if features differ, or a molecule that is new here has the identifier of another one.
            TypeError: if `other` is not a MoleculeSet.
        """
        if not isinstance(other, MoleculeSet):
            raise TypeError(f"Expected a MoleculeSet to join. Got {type(other).__name__}. `from_smiles` makes one.")
        if self.features != other.features:
            raise ValueError(
                f"Expected molecules with equal `features` to join. Got {self.features!r} and {other.features!r}. "
                "Read one of them again with the features of the other."
            )
        index_of = {text: k for k, text in enumerate(self.smiles)}
        new = [k for k, text in enumerate(other.smiles) if text not in index_of]
        owner = dict(zip(self.ids, self.smiles, strict=True))
        for k in new:
            if other.ids[k] in owner:
                raise ValueError(
                    f"Expected one molecule for each identifier. `{other.ids[k]}` is {owner[other.ids[k]]} here, and "
                    f"{other.smiles[k]} in what joins it. Rename one of them."
                )
        targets = np.concatenate([self.targets, other.targets[new]])
        for text, target in zip(other.smiles, other.targets, strict=True):
            if text in index_of and np.isnan(targets[index_of[text]]):
                targets[index_of[text]] = target
        ids = (*self.ids, *(other.ids[k] for k in new))
        in_both = ((name, text) for name, text in zip(other.ids, other.smiles, strict=True) if text in index_of)
        here = {name: self.ids[index_of[text]] for name, text in in_both}
        aliases = {name: here.get(kept, kept) for name, kept in other.aliases.items()} | here | dict(self.aliases)
        graphs = GraphSet.from_symmetric(
            [*self._nodes, *(other._nodes[k] for k in new)],
            [*self._edge_links, *(other._edge_links[k] for k in new)],
            [*self._edge_features, *(other._edge_features[k] for k in new)],
        )
        return MoleculeSet(
            graphs,
            (*self.smiles, *(other.smiles[k] for k in new)),
            ids,
            targets,
            self.features,
            (*self.skipped, *other.skipped),
            self.merged + other.merged + len(other) - len(new),
            {name: aliases[name] for name in aliases.keys() - set(ids)},
        )

    def _notes(self) -> list[str]:
        notes = [f"{len(self.skipped)} rows skipped"] * bool(self.skipped)
        return [*super()._notes(), *notes, *[f"{self.merged} rows merged"] * bool(self.merged)]
