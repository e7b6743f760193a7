"""The files of a prepared pool, and its manifest: what the pool was made from, and what its parts hold."""

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
    """Return the versions that SMILES and descriptors depend on."""
    return {name: version(name) for name in ("graph-bandit-env", "rdkit")}


@dataclass(frozen=True, kw_only=True)
class Question:
    """All that the content of a prepared pool depends on."""

    name: str
    """Name of the file of the table."""
    sha256: str
    """Digest of it."""
    unit: str
    """Word for a row of it: "line", "row" or "record"."""
    decimal: str
    """Decimal mark of its numbers."""
    smiles: str
    """Column of the SMILES."""
    identifier: str | None
    """Column of the names."""
    is_guessed: bool
    """Whether it is neither `id` nor asked for: names that several molecules have are left out then, else bad rows."""
    sheet: str | None
    columns: tuple[str, ...]
    """All other columns."""
    descriptors: tuple[str, ...]
    stereo: bool
    most_atoms: int
    salts: Salts
    part_rows: int
    block: int
    """Rows of the table that make one block of a part."""
    versions: dict[str, str] = field(default_factory=software)
    """Software that descriptors and SMILES depend on."""
    format: Literal[11] = 11
    """Of parts and manifest, raised when their content changes."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the descriptors that are not computed."""
        return tuple(name for name in DESCRIPTORS if name not in self.descriptors)

    @property
    def key(self) -> str:
        """Return a digest; the name of the file does not count."""
        return hashlib.sha256(msgspec.json.encode(replace(self, name=""), order="sorted")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The content of a finished pool."""

    question: Question
    parts: Count
    """How many there are."""
    merged: Count
    """Rows that repeat a molecule."""
    bad: Count
    """Rows of the table that were left out; `bad_rows.csv` lists them."""
    molecules: Count = 0
    """How many there are."""
    moments: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """`agents.molecule.Moments` of the numbers of each descriptor over the molecules of the pool."""
    entries: str = ""
    """Digest of names and SMILES, the same whatever the size of parts, and other columns of the table."""
    differing: tuple[str, ...] = ()
    """Other columns in which rows of one molecule differ."""
    shared: tuple[str, ...] = ()
    """Names that are left out, since several molecules have them."""


def part_path(folder: Path, number: int) -> Path:
    """Return the path of a part."""
    return folder / f"part-{number:05d}.parquet"


def write_json(path: Path, content: object) -> None:
    """Replace a file of JSON atomically."""
    replace_file(path, msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n")


def read_json(path: Path, kind: type[T]) -> T:
    """Read a file that `write_json` wrote.

    Raises:
        ValueError: if it holds anything else.
        OSError: if it cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except msgspec.DecodeError as error:
        raise ValueError(f"Expected {path} as this version writes it. Got: {error}. Prepare the pool again.") from error
