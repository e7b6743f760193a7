"""A pool of unique molecules."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import check_names
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.readers import as_graph_set
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.molecule_graph import PackedMolecules
from graph_bandit_env.pools.molecule_parser import unread_graphs
from graph_bandit_env.pools.molecule_rows import Columns, check_columns
from graph_bandit_env.pools.parents import Salts, parent_smiles


class MoleculeSet(GraphPool):
    """K unique molecules as graphs: atoms are nodes and bonds are edges, both with features.

    `from_smiles_csv` and `from_smiles` create such sets. They store the categories of atoms and bonds, about 400 bytes
    per molecule, and compute features only when graphs are read.

    Args:
        graphs: K graphs of atoms and bonds.
        smiles: K unique canonical SMILES.
        ids: unique identifiers. If None, the canonical SMILES.
        targets: K measured values (the mean over rows of the same molecule), NaN if missing. None if there are none.
        skipped: line and problem of each skipped row.
        merged: number of rows that repeat a molecule.
        aliases: other identifiers of molecules, each with the identifier in `ids`.
        columns: `(K, c)` numbers from the user, such as docking scores, NaN if missing. None for c = 0. Agents with
            `uses_columns` read them.
        column_names: c unique names of these columns.
        salts: "merge" if salts and charged molecules are described by their parent, otherwise "separate".
        written: canonical SMILES of the molecules described by their parent, by identifier or alias.

    Raises:
        ValueError: as in `GraphPool`, or if there is not one SMILES for each graph, two are equal, `columns` does not
            fit its names, or has an infinite value.
        TypeError: as in `GraphPool`, or if a column name is not a text.
    """

    smiles: tuple[str, ...]
    """Canonical SMILES, unique for each molecule."""
    skipped: tuple[tuple[int, str], ...]
    """Line and problem of each skipped row."""
    merged: int
    """Number of rows that repeat a molecule."""
    aliases: Mapping[str, str]
    """Identifiers of rows that were merged into another row, each with the identifier in `ids`."""
    columns: NDArray[np.float64]
    """`(K, c)`, read-only: numbers from the user, NaN if missing. c = 0 if there are none."""
    column_names: tuple[str, ...]
    """Unique names of these columns."""
    salts: Salts
    """"merge" if salts and charged molecules are described by their parent, otherwise "separate"."""
    written: Mapping[str, str]
    """Canonical SMILES of the salts and charged molecules described by their parent, by identifier or alias."""
    remarks: tuple[str, ...] = ()
    """Remarks for users on the columns found by `from_smiles_csv`, and on names."""

    def __init__(
        self,
        graphs: GraphSet,
        smiles: Sequence[str],
        ids: Sequence[str] | None = None,
        targets: ArrayLike | None = None,
        skipped: Sequence[tuple[int, str]] = (),
        merged: int = 0,
        aliases: Mapping[str, str] | None = None,
        columns: ArrayLike | None = None,
        column_names: Sequence[str] = (),
        salts: Salts = "separate",
        written: Mapping[str, str] | None = None,
    ) -> None:
        # `super().__init__` would repeat the checks of all graphs, which may be many.
        self._packed = as_graph_set(graphs)._packed
        self.smiles = check_names("smiles", smiles)
        if len(self.smiles) != len(self):
            raise ValueError(f"Expected a SMILES for each of {len(self)} graphs. Got {len(self.smiles)}.")
        self._label(self.smiles if ids is None else ids, targets)
        self.skipped, self.merged = tuple(skipped), merged
        self.aliases = dict(aliases or {})
        self.columns, self.column_names = check_columns(columns, column_names, self.ids)
        self.salts, self.written = salts, dict(written or {})

    def standard_smiles(self, smiles: str) -> str:
        """Return the canonical SMILES of a molecule in this set: that of its parent if salts are merged.

        Args:
            smiles: canonical SMILES of any molecule.
        """
        return parent_smiles(smiles) if self.salts == "merge" else smiles

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> MoleculeSet:
        """Return the molecules with these indices, in this order, with identifiers, measured values and columns."""
        pool = super().take(index)
        return MoleculeSet(
            pool,
            [self.smiles[k] for k in index],
            pool.ids,
            pool.targets,
            columns=self.columns[np.asarray(index, np.int64)],
            column_names=self.column_names,
            salts=self.salts,
            written={name: self.written[name] for name in pool.ids if name in self.written},
        )

    def with_nodes(self, nodes: Sequence[ArrayLike]) -> Self:
        """Raise a TypeError, since the features of atoms come from the SMILES."""
        raise TypeError(
            "Expected graphs that need node features. Molecules already have features of atoms. `with_columns` adds "
            "numbers to molecules."
        )

    def with_columns(self, names: Sequence[str], values: ArrayLike) -> Self:
        """Return the molecules with more columns, and more values in existing columns.

        Existing values are kept.

        Args:
            names: names of n columns. New columns are appended.
            values: `(K, n)` numbers, NaN if missing.

        Raises:
            ValueError: if names do not fit the values, or a value is infinite or not a number.
            TypeError: if a name is not a text.
        """
        given, names = check_columns(values, names, self.ids)
        every = tuple(dict.fromkeys((*self.column_names, *names)))
        mine, theirs = _spread(self.columns, self.column_names, every), _spread(given, names, every)
        more = copy.copy(self)
        more.columns, more.column_names = np.where(np.isnan(mine), theirs, mine), every
        more.columns.flags.writeable = False
        return more

    def join(self, other: MoleculeSet) -> MoleculeSet:
        """Return the molecules of this set, followed by the new ones of another set.

        A molecule in both sets keeps the values of this set, and the other set fills in missing ones. Two values are
        not averaged, since each may be a mean over several rows. Missing columns are NaN. Atoms and bonds are read
        from the SMILES at the first access.

        Args:
            other: molecules with the same `salts`.

        Returns:
            The molecules of both sets. The skipped and merged rows of both are combined, and each molecule in both
            sets counts as one more merged row.

        Raises:
            ValueError: if salts differ, a set has features of atoms from another source than SMILES, or a new molecule
                has the identifier of another one.
        """
        packed = self._packed, other._packed
        if self.salts != other.salts or not all(isinstance(each, PackedMolecules) for each in packed):
            raise ValueError(
                f"Expected molecules as `from_smiles` reads them, with `salts` {self.salts!r}, to join. Got others, "
                f"with {other.salts!r}."
            )
        place_of = {text: k for k, text in enumerate(self.smiles)}
        places = [place_of.setdefault(text, len(place_of)) for text in other.smiles]
        new = [k for k, place in enumerate(places) if place >= len(self)]
        ids = (*self.ids, *(other.ids[k] for k in new))
        renamed = {name: ids[place] for name, place in zip(other.ids, places, strict=True)}
        aliases = {name: renamed[kept] for name, kept in other.aliases.items()} | renamed | dict(self.aliases)
        mine, theirs = (getattr(each._packed, "smiles", each.smiles) for each in (self, other))
        names = tuple(dict.fromkeys((*self.column_names, *other.column_names)))
        values = np.full((2, len(ids), 1 + len(names)), np.nan)  # targets, then columns
        for own, each, at in zip(values, (self, other), (range(len(self)), places), strict=True):
            own[at, 0], own[at, 1:] = each.targets, _spread(each.columns, each.column_names, names)
        known = np.where(np.isnan(values[0]), values[1], values[0])
        return MoleculeSet(
            unread_graphs([*mine, *(theirs[k] for k in new)], self.salts),
            tuple(place_of),
            ids,
            known[:, 0],
            skipped=(*self.skipped, *other.skipped),
            merged=self.merged + other.merged + len(other) - len(new),
            aliases={name: aliases[name] for name in aliases.keys() - set(ids)},
            columns=known[:, 1:],
            column_names=names,
            salts=self.salts,
            written={**other.written, **self.written},
        )

    def _notes(self) -> list[str]:
        notes = [f"{len(self.skipped)} rows skipped"] * bool(self.skipped)
        notes += [f"{self.merged} rows merged"] * bool(self.merged)
        notes += [f"{len(self.written)} described by their parents"] * bool(self.written)
        if self.column_names:
            unknown = np.isnan(self.columns).any(axis=1).sum()
            notes += [f"{len(self.column_names)} columns, not all known for {unknown} molecules"]
        return [*super()._notes(), *notes, *self.remarks]


def _spread(columns: Columns, names: Sequence[str], every: Sequence[str]) -> Columns:
    """Return columns in the order of `every`, NaN for those missing in `names`."""
    wide = np.full((len(columns), len(every)), np.nan)
    wide[:, [every.index(name) for name in names]] = columns
    return wide
