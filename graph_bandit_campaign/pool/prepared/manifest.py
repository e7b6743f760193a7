"""Define the files of a prepared pool, and its manifest with the inputs and the contents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec

from agents.descriptors import DESCRIPTORS
from graph_bandit_env.pools import Salts
from graph_bandit_env.storage import replace_file

MANIFEST, DROPPED = "manifest.json", "dropped.parquet"

Count = Annotated[int, msgspec.Meta(ge=0)]
T = TypeVar("T")


def software() -> dict[str, str]:
    """Return the software versions that affect SMILES and descriptors."""
    return {name: version(name) for name in ("graph-bandit-env", "rdkit")}


@dataclass(frozen=True, kw_only=True)
class Question:
    """All inputs that determine the content of a prepared pool."""

    name: str
    """File name of the table."""
    sha256: str
    """Digest of the table."""
    unit: str
    """Name for a row of the table: "line", "row" or "record"."""
    decimal: str
    """Decimal mark of its numbers."""
    smiles: str
    """Column of the SMILES."""
    identifier: str | None
    """Column of the names."""
    is_guessed: bool
    """True if `identifier` is neither `id` nor requested. Ambiguous names are then ignored, otherwise rejected."""
    sheet: str | None
    columns: tuple[str, ...]
    """All other columns."""
    descriptors: tuple[str, ...]
    stereo: bool
    most_atoms: int
    salts: Salts
    part_rows: int
    block: int
    """Rows of the table in each block of a part."""
    versions: dict[str, str] = field(default_factory=software)
    """Software that affects descriptors and SMILES."""
    format: Literal[11] = 11
    """Format of parts and manifest, which increases if their content changes."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the descriptors that are not computed."""
        return tuple(name for name in DESCRIPTORS if name not in self.descriptors)

    @property
    def key(self) -> str:
        """Return a digest that does not depend on the file name."""
        return hashlib.sha256(msgspec.json.encode(replace(self, name=""), order="sorted")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The content of a finished pool."""

    question: Question
    parts: Count
    """Number of parts."""
    merged: Count
    """Number of rows that repeat a molecule."""
    bad: Count
    """Number of rows of the table that were left out. `bad_rows.csv` lists them."""
    molecules: Count = 0
    """Number of molecules."""
    moments: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """`agents.molecule.Moments` of each numeric descriptor over the molecules of the pool."""
    entries: str = ""
    """Digest of names and SMILES. It does not depend on the size of parts, or on other columns of the table."""
    differing: tuple[str, ...] = ()
    """Other columns in which rows of the same molecule differ."""
    shared: tuple[str, ...] = ()
    """Names that are left out because several molecules have them."""


def part_path(folder: Path, number: int) -> Path:
    """Return the path of a part."""
    return folder / f"part-{number:05d}.parquet"


def write_json(path: Path, content: object) -> None:
    """Replace a file of JSON atomically."""
    replace_file(path, msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n")


def read_json(path: Path, kind: type[T]) -> T:
    """Read a file written by `write_json`.

    Raises:
        ValueError: if it has other content.
        OSError: if it cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except msgspec.DecodeError as error:
        raise ValueError(f"Expected {path} as this version writes it. Got: {error}. Prepare the pool again.") from error
