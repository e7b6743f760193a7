"""The files of a prepared pool, and its manifest: what the pool was made from, and what its parts hold."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from agents.traits import TRAITS
from graph_bandit_env.pools import Salts
from graph_bandit_env.storage import replace_file
from graph_bandit_env.tables import describe_shared

FORMAT = 7  # of parts and manifest; raise it when their content changes
MANIFEST, QUESTION = "manifest.json", "prepare.json"
MERGED, DROPPED, BAD_ROWS = "merged.parquet", "dropped.parquet", "bad_rows.csv"

Count = Annotated[int, msgspec.Meta(ge=0)]
T = TypeVar("T")


def software() -> dict[str, str]:
    """Return the versions that SMILES and traits depend on."""
    return {name: version(name) for name in ("graph-bandit-env", "rdkit")}


def sha256_of(path: Path) -> str:
    """Return a digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """The file of the table."""

    name: str
    bytes: Count
    modified: float
    """Seconds since 1970."""
    sha256: str = ""

    @classmethod
    def of(cls, path: Path, digest: bool = True) -> TableFile:
        """Describe a file, with its digest or without."""
        status = path.stat()
        digested = sha256_of(path) if digest else ""
        return cls(name=path.name, bytes=status.st_size, modified=status.st_mtime, sha256=digested)


@dataclass(frozen=True, kw_only=True)
class Question:
    """All that the content of a prepared pool depends on."""

    file: TableFile
    """The table."""
    unit: str
    """Word for a row of it: "line", "row" or "record"."""
    decimal: str
    """Decimal mark of its numbers."""
    smiles: str
    """Column of the SMILES."""
    identifier: str | None
    """Column of the names."""
    is_guessed: bool
    """Whether it is neither `id` nor asked for: names that several entries have are left out then, else bad rows."""
    sheet: str | None
    columns: tuple[str, ...]
    """All other columns."""
    traits: tuple[str, ...]
    stereo: bool
    most_atoms: int
    salts: Salts
    part_rows: int
    block: int
    """Rows of the table that make one block of a part."""
    versions: dict[str, str] = field(default_factory=software)
    """Software that traits and SMILES depend on."""
    format: int = FORMAT

    def refuse_others(self, name: str | None, smiles: str, sheet: str | None, also: Collection[str] = ()) -> None:
        """Refuse names of columns and a sheet that are neither those of the pool nor among `also`.

        Raises:
            ValueError: if there is one.
        """
        names = {"id": (name, self.identifier), "smiles": (smiles, self.smiles), "sheet": (sheet, self.sheet)}
        for flag, (given, prepared) in names.items():
            if given not in (None, "smiles", prepared) and given.casefold() not in map(str.casefold, also):
                raise ValueError(f"Expected `--{flag}` as the pool was prepared with, `{prepared}`. Got `{given}`.")

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the traits that are not computed."""
        return tuple(name for name in TRAITS if name not in self.traits)

    @property
    def key(self) -> str:
        """Return a digest; name and time of the file do not count."""
        content = replace(self, file=replace(self.file, name="", modified=0.0))
        return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The content of a finished pool."""

    question: Question
    parts: tuple[str, ...]
    """SHA-256 digest of the file of each part."""
    merged: Count
    """Rows that repeat a molecule."""
    bad: Count
    """Rows of the table that were left out; `bad_rows.csv` lists them."""
    molecules: Count = 0
    """How many there are."""
    moments: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """`agents.molecule.Moments` of the numbers of each trait over the molecules of the pool."""
    entries: str = ""
    """Digest of names and entries, the same whatever the size of parts, and other columns of the table."""
    entry: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns that are part of what an entry is, with the words that they hold; none of numbers."""
    differing: tuple[str, ...] = ()
    """Other columns in which rows of one entry differ."""
    shared: tuple[str, ...] = ()
    """Names that are left out, since several entries have them."""

    def describe(self) -> str:
        """Say how many molecules there are, how they are named, and what was merged or left out."""
        name = self.question.identifier
        texts = [f"named by `{name}`" if name else "named by their SMILES, since the table has no names"]
        texts += [f"with {', '.join(self.entry)} as part of each entry"] * bool(self.entry)
        texts += describe_shared(self.shared)
        texts += [f"{self.merged:,} rows of equal molecules merged"] * bool(self.merged)
        texts += [f"{self.bad:,} bad rows left out ({BAD_ROWS})"] * bool(self.bad)
        return ", ".join([f"{self.molecules:,} molecules", *texts])


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
