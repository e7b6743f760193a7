"""Read the user's own columns of numbers, add them to molecules, and rank them over a pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from agents.molecule import Ranks, Scales
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_env import MoleculeSet
from graph_bandit_env.files import Embeddings, read_embeddings
from graph_bandit_env.pools import check_known


def rank_own_columns(pool: PreparedPool, columns: Sequence[str], skip_bad: bool) -> Ranks:
    """Rank columns over the whole pool. If `skip_bad` is True, an invalid number counts as unknown.

    Raises:
        ValueError: if a cell is not a number and `skip_bad` is False, a column has no numbers, or a part is damaged.
    """
    if not columns:
        return Ranks.of_runs([])
    values = np.concatenate([block.numbers(columns, skip_bad) for block in pool.blocks((), columns)])
    check_known(values, columns, str(pool.folder))
    return Ranks.of(values)


def add_results(
    molecules: DescribedMolecules, features: Features, known: Mapping[str, Sequence[float]]
) -> tuple[DescribedMolecules, list[tuple[str, tuple[float, ...]]]]:
    """Add the values in results to the user's own columns of a pool, and to their ranks.

    Args:
        molecules: all molecules of the pool, or those in the results, with ranks of the whole pool.
        features: the columns.
        known: values in the results, by id. They are used if the pool has none.

    Returns:
        The molecules, and the ids and added values of the molecules that changed, NaN if a value was not added.
    """
    scales, filled = molecules.scales, features.add_to(molecules, known)
    if scales is None:
        return DescribedMolecules.of(filled, molecules.descriptors), []
    if not known or scales.ranks is None:
        return molecules, []
    added = np.where(np.isnan(molecules.columns), filled.columns, np.nan)
    whole = Scales(scales.moments, scales.ranks.merge(Ranks.of(added)))
    new = [(molecules.ids[k], tuple(added[k].tolist())) for k in np.flatnonzero(~np.isnan(added).all(axis=1)).tolist()]
    return DescribedMolecules.of(filled, molecules.descriptors, whole), sorted(new)


class Features:
    """Numeric features of molecules from the user.

    Args:
        columns: columns of the tables.
        files: files of embeddings.
        targets: columns of measured values. They must not be features.

    Raises:
        ValueError, OSError: if a file cannot be read, or contains the target.
        ImportError: if a package for reading a file is not installed.
    """

    columns: tuple[str, ...]
    """Columns of the tables."""
    embeddings: tuple[Embeddings, ...]
    """Contents of the files."""

    def __init__(self, columns: Sequence[str], files: Sequence[Path], targets: Sequence[str]) -> None:
        self.columns, self.embeddings = tuple(columns), tuple(map(read_embeddings, files))
        for path, embeddings in zip(files, self.embeddings, strict=True):
            if target := next((name for name in targets if f"{embeddings.source}:{name}" in embeddings.names), ""):
                raise ValueError(f"Expected features without the target. {path} has a column `{target}`. Leave it out.")

    @property
    def count(self) -> int:
        """Return c, the total number of columns."""
        return len(self.columns) + sum(len(embeddings.names) for embeddings in self.embeddings)

    def add_to(self, molecules: MoleculeSet, known: Mapping[str, Sequence[float]]) -> MoleculeSet:
        """Return the same molecules with all columns.

        Args:
            molecules: molecules. Those of the pool have the columns of its table.
            known: values of the columns of tables in results, by id, NaN if unknown. They are used if the pool has
                none.

        Raises:
            ValueError: if no molecule is in a file of embeddings, or a molecule occurs twice.
        """
        if known:
            nothing = (np.nan,) * len(self.columns)
            molecules = molecules.with_columns(self.columns, [known.get(name, nothing) for name in molecules.ids])
        for embeddings in self.embeddings:
            molecules = embeddings.add_to(molecules)
        return molecules
