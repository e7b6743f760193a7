"""A pool of different molecules."""

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
    """K different molecules as graphs: atoms are nodes and bonds are edges, both with features.

    `from_smiles_csv` and `from_smiles` make such sets. They keep the categories of atoms and bonds, some 400 bytes a
    molecule, and make features only while somebody reads graphs.

    Args:
        graphs: K graphs of atoms and bonds.
        smiles: K different canonical SMILES.
        ids: identifiers, all different; None: the canonical SMILES.
        targets: K measured values (the mean over rows of the same molecule), NaN where there is none; None: nothing
            was measured.
        skipped: line and problem of each row that was left out.
        merged: how many rows repeated a molecule.
        aliases: further identifiers of molecules, each with the identifier in `ids` that it stands for.
        columns: `(K, c)` numbers of the user's own, such as docking scores, NaN where a value is not known; None:
            c = 0. Agents with `uses_columns` read them.
        column_names: c different names of these columns.
        salts: "merge" if salts and charged molecules are described by their parent, else "separate".
        written: canonical SMILES of what is described by its parent, by identifier or alias.

    Raises:
        ValueError: as in `GraphPool`; also if there is not one SMILES for each graph, two are equal, `columns` does not
            fit its names, or a value of them is infinite.
        TypeError: as in `GraphPool`; also if a name of columns is not a text.
    """

    smiles: tuple[str, ...]
    """Canonical SMILES; they are different for different molecules."""
    skipped: tuple[tuple[int, str], ...]
    """Line and problem of each row that was left out."""
    merged: int
    """How many rows repeated a molecule."""
    aliases: Mapping[str, str]
    """Identifiers of rows that were merged into another row, each with the identifier in `ids` that it stands for."""
    columns: NDArray[np.float64]
    """`(K, c)`, read-only: numbers of the user's own, NaN where a value is not known; c = 0 if there are none."""
    column_names: tuple[str, ...]
    """Names of these columns, all different."""
    salts: Salts
    """Whether salts and charged molecules are described by their parent."""
    written: Mapping[str, str]
    """Canonical SMILES of the salts and charged molecules that are described by their parent, by identifier or alias.
    """
    remarks: tuple[str, ...] = ()
    """Remarks on the columns that `from_smiles_csv` found, and on names, for people."""

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
        # `super().__init__` would check all graphs again; they were checked when they were made, and may be many.
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
        """Return the canonical SMILES by which this set has a molecule: that of its parent if salts are merged.

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
        """Raise a TypeError: the features of atoms are those of the SMILES."""
        raise TypeError(
            "Expected graphs that need node features. Molecules already have features of atoms. `with_columns` adds "
            "numbers to molecules."
        )

    def with_columns(self, names: Sequence[str], values: ArrayLike) -> Self:
        """Return the same molecules with more columns, and more values in the columns that they have.

        A value that is known here stays.

        Args:
            names: names of n columns. Those of a name that is new here follow the others.
            values: `(K, n)` numbers, NaN where a value is not known.

        Raises:
            ValueError: if names and values do not fit each other, or a value is infinite or not a number.
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
        """Return the molecules of this set, followed by those of another set that are not in this one.

        A molecule in both sets keeps what is known here; the other set fills in its value and columns where nothing is.
        Two values are not averaged, since each may be a mean over several rows. Columns that a set lacks are NaN there.
        Atoms and bonds are read from the SMILES when somebody asks for them.

        Args:
            other: molecules with the same `salts`.

        Returns:
            The molecules of both sets. The skipped and merged rows of both are added up, and each molecule in both sets
            counts as one more merged row.

        Raises:
            ValueError: if salts differ, a set has features of atoms that are not made of SMILES, or a molecule that is
                new here has the identifier of another one.
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
        values = np.full((2, len(ids), 1 + len(names)), np.nan)  # targets, and then columns
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
    """Return columns in the order of `every` name, NaN in those that are not among `names`."""
    wide = np.full((len(columns), len(every)), np.nan)
    wide[:, [every.index(name) for name in names]] = columns
    return wide
