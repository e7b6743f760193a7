"""Define the file of a pool and its reading options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_bandit_campaign.checks import Salts


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file of a pool, or a prepared folder, with its reading options."""

    path: Path
    """The file or the folder."""
    sheet: str | None = None
    """Sheet of a workbook. None means the first."""
    smiles: str = "smiles"
    """Column of the SMILES."""
    id: str | None = None
    """Column of the names. None means `id`, if it exists."""
    columns: tuple[str, ...] = ()
    """The user's own columns of numbers that help to predict."""
    embeddings: tuple[Path, ...] = ()
    """Files of embeddings that help to predict."""
    most_atoms: int = 250
    """Maximum number of atoms of a molecule, without hydrogens."""
    salts: Salts = "merge"
    """"merge" to describe salts by their parent, or "separate"."""
    encoder: str = ""
    """Pretrained encoder whose features are computed for each molecule, or empty."""
    slot: tuple[str, ...] = ()
    """Columns of slots, COLUMN or NAME=COLUMN."""
    skip_bad_rows: bool = False
    """If True, rows that cannot be read are left out. If False, they are rejected."""
    directed: bool | None = None
    """True if edges of other graphs keep their directions. None means that the file decides."""
    workers: int | None = None
    """Maximum number of processes that read molecules. 0 means one for each core, None means only this process."""

    @classmethod
    def of(cls, settings: Any, path: Path, **more: Any) -> Source:
        """Return the reading options in some settings for a file.

        Args:
            settings: settings of a command, with fields of the same names, and `features`.
            path: the file.
            more: other fields.
        """
        columns, files = split_features(settings.features)
        same = {name: getattr(settings, name) for name in (*READING, "slot", "skip_bad_rows")}
        return cls(path=path, columns=columns, embeddings=files, **same, **more)


READING = ("smiles", "id", "sheet", "most_atoms", "salts", "encoder")  # fields that affect the reading of a table
EMBEDDINGS = (".npz", ".parquet")  # features with such an ending are files


def split_features(features: Sequence[str]) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Split features into columns of the tables and files of embeddings."""
    files = tuple(Path(feature) for feature in features if feature.lower().endswith(EMBEDDINGS))
    return tuple(feature for feature in features if not feature.lower().endswith(EMBEDDINGS)), files


def check_features(features: Sequence[str], quantities: Sequence[str], smiles: str, identifier: str | None) -> None:
    """Raise an error if features have another use, or are repeated.

    Args:
        features: columns and files.
        quantities: columns of measured values, ignoring case.
        smiles: column of the SMILES.
        identifier: column of the names. None means `id`.

    Raises:
        ValueError: if a feature has another use, is repeated, or is empty.
    """
    columns, files = split_features(features)
    taken = {*map(str.casefold, (*quantities, smiles, identifier or "id"))}
    names = (*columns, *(path.name for path in files))
    if not all(names) or len(set(names)) < len(names) or not taken.isdisjoint(map(str.casefold, columns)):
        text = "Expected different `--features`, other columns than the target, the SMILES and the names."
        raise ValueError(f"{text} Got {', '.join(features)}.")
