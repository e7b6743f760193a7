"""Read the user's own columns of numbers, from the tables and from files of embeddings, for every molecule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from graph_bandit_env import MoleculeSet
from graph_bandit_env.files import Embeddings, read_embeddings


class Features:
    """Columns of numbers that the user gives for molecules.

    Args:
        columns: columns of the tables.
        files: files of embeddings.
        targets: columns of measured values, which must not be features.

    Raises:
        ValueError, OSError: if a file cannot be read, or has the target.
        ImportError: if a package that reads a file is not installed.
    """

    columns: tuple[str, ...]
    """Columns of the tables."""
    embeddings: tuple[Embeddings, ...]
    """Contents of the files."""

    def __init__(self, columns: Sequence[str], files: Sequence[Path], targets: Sequence[str]) -> None:
        self.columns, self.embeddings = tuple(columns), tuple(map(read_embeddings, files))
        for path, embeddings in zip(files, self.embeddings, strict=True):
            target = next((name for name in targets if f"{embeddings.source}:{name}" in embeddings.names), None)
            if target is not None:
                raise ValueError(
                    f"Expected features without the target, which is to be predicted. {path} has a column `{target}`. "
                    "Leave it out."
                )

    @property
    def count(self) -> int:
        """Return c, the number of all columns."""
        return len(self.columns) + sum(len(embeddings.names) for embeddings in self.embeddings)

    def add_to(self, molecules: MoleculeSet, known: Mapping[str, Sequence[float]]) -> MoleculeSet:
        """Return the same molecules with all columns.

        Args:
            molecules: molecules; those of the pool have the columns of its table.
            known: values of the columns of tables in results, by id; NaN where one is not known. They are used where
                the pool has none.

        Raises:
            ValueError: if no molecule is in a file of embeddings, or one is there twice.
        """
        if known:
            nothing = (np.nan,) * len(self.columns)
            molecules = molecules.with_columns(self.columns, [known.get(name, nothing) for name in molecules.ids])
        for embeddings in self.embeddings:
            molecules = embeddings.add_to(molecules)
        return molecules

    def describe(self, molecules: MoleculeSet) -> list[str]:
        """Say which columns there are, for how many molecules each is not known, and which tell no two apart."""
        place_of = {name: place for place, name in enumerate(molecules.column_names)}
        groups: list[tuple[str, tuple[str, ...], str]] = [(name, (name,), "") for name in self.columns]
        for each in self.embeddings:
            left_out = f", without {', '.join(each.left_out)}" if each.left_out else ""
            groups.append((each.source, each.names, f"{len(each.names):,} numbers{left_out}"))
        texts = []
        for title, names, content in groups:
            values = molecules.columns[:, [place_of[name] for name in names]]
            unknown = int(np.isnan(values).any(axis=1).sum())
            alike = sum(len(np.unique(column[~np.isnan(column)])) < 2 for column in values.T)
            texts.append(self.about(title, unknown, alike, content, len(names) == 1))
        return texts

    @staticmethod
    def about(title: str, unknown: int, alike: int, content: str = "", is_single: bool = True) -> str:
        """Say what a column or a file of them holds.

        Args:
            title: name of the column, or of the file.
            unknown: for how many molecules it is not known.
            alike: how many of its columns tell no two molecules apart.
            content: what the file holds.
            is_single: whether there is one column.
        """
        gaps = f"not known for {unknown:,} molecules, taken as an average one" if unknown else ""
        useless = f"{'' if is_single else f'{alike:,} of them '}equal for all molecules, not used" if alike else ""
        about = "; ".join(filter(None, (content, gaps, useless)))
        return f"{title} ({about})" if about else title
