"""Name the file of a pool, and how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_bandit_campaign.checks import Salts


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file of a pool, or a prepared folder, and how it is read."""

    path: Path
    """The file or the folder."""
    sheet: str | None = None
    """Sheet of a workbook; None: the first."""
    smiles: str = "smiles"
    """Column of the SMILES."""
    id: str | None = None
    """Column of the names; None: `id`, if there is such a column."""
    columns: tuple[str, ...] = ()
    """Columns of numbers of the user's own, which help to predict."""
    embeddings: tuple[Path, ...] = ()
    """Files of embeddings, which do, too."""
    most_atoms: int = 250
    """How many atoms a molecule may have, without hydrogens."""
    salts: Salts = "merge"
    """Whether salts are described by their parent."""
    encoder: str = ""
    """Pretrained encoder whose numbers are computed of each molecule; empty: none."""
    slot: tuple[str, ...] = ()
    """Columns of slots, COLUMN or NAME=COLUMN."""
    skip_bad_rows: bool = False
    """Whether rows that cannot be read are left out; else they are refused."""
    directed: bool | None = None
    """Whether edges of other graphs keep their directions; None: as the file says."""
    workers: int | None = None
    """Most processes that read molecules; 0: one for each core; None: this process itself."""

    @classmethod
    def of(cls, settings: Any, path: Path, **more: Any) -> Source:
        """Return what settings say of a file.

        Args:
            settings: those of a command, which has fields of the same names, and `features`.
            path: the file.
            more: other fields.
        """
        columns, files = split_features(settings.features)
        same = {name: getattr(settings, name) for name in (*READING, "slot", "skip_bad_rows")}
        return cls(path=path, columns=columns, embeddings=files, **same, **more)


READING = ("smiles", "id", "sheet", "most_atoms", "salts", "encoder")  # fields of all that is read
EMBEDDINGS = (".npz", ".parquet")  # features that end so are files


def split_features(features: Sequence[str]) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return which features are columns of the tables, and which are files of embeddings."""
    files = tuple(Path(feature) for feature in features if feature.lower().endswith(EMBEDDINGS))
    return tuple(feature for feature in features if not feature.lower().endswith(EMBEDDINGS)), files


def check_features(features: Sequence[str], quantities: Sequence[str], smiles: str, identifier: str | None) -> None:
    """Refuse features that are used otherwise, or twice.

    Args:
        features: columns and files.
        quantities: columns of measured values, whose capitals do not count.
        smiles: column of the SMILES.
        identifier: column of the names; None: `id`.

    Raises:
        ValueError: if one is used otherwise, two are equal, or one is empty.
    """
    columns, files = split_features(features)
    taken = {*map(str.casefold, (*quantities, smiles, identifier or "id"))}
    names = (*columns, *(path.name for path in files))
    if not all(names) or len(set(names)) < len(names) or not taken.isdisjoint(map(str.casefold, columns)):
        text = "Expected different `--features`, other columns than the target, the SMILES and the names."
        raise ValueError(f"{text} Got {', '.join(features)}.")
