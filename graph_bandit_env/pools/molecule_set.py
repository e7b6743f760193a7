"""A set of molecules, from a file of SMILES."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.graphs.graph_set import Floats, GraphSet, as_graph_set
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.molecule_graph import Features, count_columns


class MoleculeSet(GraphPool):
    """K different molecules as graphs: atoms are nodes, bonds edges, both with features.

    `from_smiles_csv` and `from_smiles` make one.

    Args:
        graphs: K graphs of atoms and bonds, with the columns that `features` names.
        smiles: K different canonical SMILES.
        ids: identifiers, all different; None: the canonical SMILES.
        targets: K measured values (of equal molecules the mean), NaN where there is none; None: nothing was measured.
        features: "one_hot" or "categories".
        skipped: rows that were left out: line, and what is wrong with it.
        merged: how many rows named a molecule again.
        aliases: further identifiers of molecules, and what they are called in `ids`.

    Raises:
        ValueError: as `GraphPool`; also if there is not one SMILES for each graph, two are equal, or graphs have other
            columns.
    """

    _edge_features: tuple[Floats, ...]  # bonds always have some
    smiles: tuple[str, ...]
    """Canonical SMILES, by which molecules are told apart."""
    features: Features
    """What atoms and bonds are described by."""
    skipped: tuple[tuple[int, str], ...]
    """Rows that were left out: line, and what is wrong with it."""
    merged: int
    """Rows that named a molecule again."""
    aliases: Mapping[str, str]
    """Identifiers of rows that were merged into another, and the one in `ids` that stands for them."""

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
        # Not `super().__init__`: the graphs were checked when they were made, and there may be many.
        graphs = as_graph_set(graphs)
        self._fill(graphs._nodes, graphs._edge_links, graphs._edge_features)
        found, expected = (self.feature_dim, self.edge_feature_dim), count_columns(features)
        if found != expected:
            raise ValueError(
                f"Expected {expected[0]} columns of atoms and {expected[1]} of bonds, as {features!r} has. Got "
                f"{found[0]} and {found[1]}."
            )
        self.smiles = tuple(smiles)
        if len(self.smiles) != len(self) or len(set(self.smiles)) != len(self):
            raise ValueError(
                f"Expected {len(self)} SMILES, all different. Got {len(self.smiles)}, of which {len(set(self.smiles))} "
                "differ."
            )
        self._label(self.smiles if ids is None else ids, targets)
        self.features, self.skipped, self.merged = features, tuple(skipped), merged
        self.aliases = MappingProxyType(dict(aliases or {}))

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> MoleculeSet:
        """Return the molecules at these places, in this order, with their identifiers and measured values."""
        pool = super().take(index)
        return MoleculeSet(pool, [self.smiles[k] for k in index], pool.ids, pool.targets, self.features)

    def join(self, other: MoleculeSet) -> MoleculeSet:
        """Return the molecules of this set, then those of another that are not in this one.

        A molecule of both sets keeps the identifier that it has here, and the value that was measured here; the other
        set's value is taken where there is none here. A mean of the two would be wrong: each may itself be the mean of
        a different number of rows, and may have been told to an agent already.

        Args:
            other: molecules with the same `features`.

        Returns:
            The molecules of both. Rows skipped and merged are those of both; a molecule of both is one more merged.

        Raises:
            ValueError: if features differ, or a new molecule has an identifier that another molecule has here.
            TypeError: if the other is no MoleculeSet.
        """
        if not isinstance(other, MoleculeSet):
            raise TypeError(f"Expected a MoleculeSet to join. Got {type(other).__name__}. `from_smiles` makes one.")
        if self.features != other.features:
            raise ValueError(
                f"Expected molecules with equal `features` to join. Got {self.features!r} and {other.features!r}. "
                "Read one of them again."
            )
        place = {text: k for k, text in enumerate(self.smiles)}
        new = [k for k, text in enumerate(other.smiles) if text not in place]
        owner = dict(zip(self.ids, self.smiles, strict=True))
        for k in new:
            if other.ids[k] in owner:
                raise ValueError(
                    f"Expected one molecule for each identifier. `{other.ids[k]}` is {owner[other.ids[k]]} here, and "
                    f"{other.smiles[k]} in what joins it. Rename one of them."
                )
        targets = np.concatenate([self.targets, other.targets[new]])
        for text, target in zip(other.smiles, other.targets, strict=True):
            if text in place and np.isnan(targets[place[text]]):
                targets[place[text]] = target
        ids = (*self.ids, *(other.ids[k] for k in new))
        known_here = ((name, place[text]) for name, text in zip(other.ids, other.smiles, strict=True) if text in place)
        here = {name: self.ids[k] for name, k in known_here}
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
