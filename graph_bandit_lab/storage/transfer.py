"""Carry repetitions to other folders: an export is a results file without failed repetitions, packed by xz."""

from __future__ import annotations

import hashlib
import json
import lzma
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from graph_bandit_env.storage import find_file, replace_file
from graph_bandit_lab.design.names import name_environments
from graph_bandit_lab.storage.database import open_to_read
from graph_bandit_lab.storage.files import sole_driver
from graph_bandit_lab.storage.results import FILE_NAME, ResultStore, check_format, is_whole, read_rows
from graph_bandit_lab.storage.rows import Row, find_fault, is_sound, name_of
from graph_bandit_lab.storage.sweeps import read_tasks

if TYPE_CHECKING:
    from graph_bandit_lab.design.tasks import Task

ROWS = 100  # that are read in one transaction, during which nobody can write: a few milliseconds
NAMED = 5  # repetitions that differ
MOST_UNPACKED, MOST_PACKED = 1 << 24, 1000  # bytes, and times that a larger file may be packed
MOST_MEMORY = 1 << 27  # bytes that unpacking takes
PIECE = 1 << 20
BEGINNING, FORMER = b"SQLite format 3\0", b"PK"  # of a results file, and of a zip archive
Key = tuple[str, int]  # settings hash and seed


@dataclass(frozen=True)
class Exported:
    """An export that was written."""

    path: Path
    repetitions: int
    size: int
    """Bytes of the file."""
    failed: int
    """Repetitions that have failed. They are not exported."""
    damaged: tuple[str, ...]
    """Names of repetitions that a disk has damaged. They are not exported."""


def export_results(folder: str | Path, path: str | Path) -> Exported:
    """Write all finished repetitions of a folder to one small file, from which a sweep can go on elsewhere.

    The folder is read in short transactions, so a sweep that plays into it is not kept waiting. Rows are copied as they
    are. The tasks of the folder go with them, so that agents are ranked elsewhere as they are here. Unpacked with
    `xz -d`, the file is a results file.

    Args:
        folder: folder of results.
        path: the file. An earlier export is replaced atomically.

    Returns:
        The number of repetitions, and the size of the file.

    Raises:
        FileNotFoundError: if the folder holds no results.
        ValueError: if no repetition is finished, the results file is damaged or another program has stored in it, or
            `path` is another kind of file.
    """
    source, path = Path(folder) / FILE_NAME, Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"Expected results in {source}. Make some with `graph-bandit run --out {folder}`.")
    _refuse_other_files(path)
    with open_to_read(source) as connection:
        check_format(source, connection)
        rows = connection.execute("SELECT rowid, status = 'failed' FROM repetitions ORDER BY rowid").fetchall()
        tasks = read_tasks(connection)
    wanted, damaged = [rowid for rowid, failed in rows if not failed], list[str]()
    with TemporaryDirectory() as temporary:
        store = ResultStore(Path(temporary))
        count, _ = store.take(_read_sound_rows(source, wanted, damaged), tasks)
        if not count:
            raise ValueError(f"Expected finished repetitions in {source}. There are none yet.")
        replace_file(path, _pack(store.path))
    return Exported(path, count, path.stat().st_size, len(rows) - len(wanted), tuple(damaged))


@dataclass(frozen=True)
class Imported:
    """Counts of the repetitions of exported files."""

    taken: int
    present: int
    """Repetitions that the folder held already. They stay as they were."""
    different: tuple[str, ...] = ()
    """Names of repetitions that were played twice, with other actions or rewards under the same key."""

    @property
    def notes(self) -> list[str]:
        """Say what was taken, and what differs."""
        notes = [f"Repetitions taken from files: {self.taken}. There already: {self.present}."]
        if self.different:
            more = f"; and {len(self.different) - NAMED} more" if len(self.different) > NAMED else ""
            notes.append(
                f"Played twice, with other actions or rewards ({len(self.different)}): "
                f"{'; '.join(self.different[:NAMED])}{more}. What the folder held stays; of two files, the repetition "
                "that was finished first counts. Say, the type of CPU or the version of torch is another one."
            )
        return notes


def import_results(folder: str | Path, files: Sequence[str | Path]) -> Imported:
    """Take the repetitions of exported files into a folder; the order of the files does not matter.

    Args:
        folder: folder of results, which is made if it is not there. What it holds stays.
        files: of `export_results`.

    Returns:
        How many were taken, how many were there already, and which of them differ.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a file is damaged or of another version, or a process plays into the folder. Nothing is changed
            then.
    """
    with open_exports(files) as exports, sole_driver(Path(folder)):
        store = ResultStore(Path(folder))
        store.set_damaged_aside()
        return exports.give(store) if exports else Imported(0, 0)


@dataclass(frozen=True)
class Exports:
    """Files of exports that were found intact, merged in a temporary folder."""

    store: ResultStore
    """Their repetitions and tasks."""
    environments: Mapping[Path, Sequence[Mapping[str, object]]]
    """The distinct environments of each file."""
    different: dict[Key, tuple[str, str]]
    """Names and environments of repetitions that two files hold, with other actions or rewards."""

    def give(self, store: ResultStore) -> Imported:
        """Take repetitions and tasks into another results file, in one transaction, ordered by when they ended."""
        with open_to_read(self.store.path) as connection:
            rows = (row for _, row in read_rows(connection, order="created, rowid"))
            taken, different = store.take(rows, read_tasks(connection))
        both = [*(self.different | different).values()]
        environments = name_environments([json.loads(environment) for _, environment in both])
        names = [f"{name}, on {where}" if where else name for (name, _), where in zip(both, environments, strict=True)]
        return Imported(taken, len(self.store.stored()) - taken, tuple(names))


@contextmanager
def open_exports(paths: Sequence[str | Path], most_unpacked: int | None = None) -> Iterator[Exports | None]:
    """Unpack files of `export_results`, check all of them, and merge them; the order of the files does not matter.

    Of a repetition that two files hold, the one with diagnostics counts, or else the one that was finished first.
    Nothing but rows that are as this package writes them leaves the file; None if there are no files.

    Args:
        paths: the files.
        most_unpacked: bytes to which a file may unpack; None: 16 MB, or 1,000 times its size if that is more.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if one is not such a file, is damaged, was made by another version, or holds anything that this
            package does not store.
    """
    for path in paths:
        if not Path(path).is_file():
            raise FileNotFoundError(f"Expected a file of `graph-bandit export`. There is none at {path}.")
    if not paths:
        yield None
        return
    environments, different = dict[Path, list[dict[str, object]]](), dict[Key, tuple[str, str]]()
    with TemporaryDirectory() as temporary:
        store, unpacked = ResultStore(Path(temporary)), Path(temporary, "unpacked")
        for path in sorted(map(Path, paths), key=_digest_of):
            _unpack(path, unpacked, most_unpacked)
            with _open_unpacked(path, unpacked) as connection:
                tasks = _read_tasks(path, connection)
                _, differing = store.take(_read_rows(path, connection), tasks, _counts_more)
                of_file = connection.execute("SELECT DISTINCT environment FROM repetitions").fetchall()
            different |= differing
            environments[path] = [json.loads(environment) for (environment,) in of_file]
        yield Exports(store, environments, different)


def _read_sound_rows(source: Path, rowids: Sequence[int], damaged: list[str]) -> Iterator[Row]:
    """Yield rows, a few in each transaction, and add the names of damaged ones to a list.

    One that went away in between, with all results, is left out.
    """
    for begin in range(0, len(rowids), ROWS):
        few = rowids[begin : begin + ROWS]
        with open_to_read(source) as connection:
            condition = f"status != 'failed' AND rowid IN ({', '.join('?' * len(few))})"
            rows = [row for _, row in read_rows(connection, condition, *few)]
        damaged += [name_of(row) for row in rows if not is_sound(row)]
        for row in filter(is_sound, rows):
            if fault := find_fault(row):
                raise ValueError(
                    f"Expected repetitions that this package has stored. Got {fault}. It cannot be exported."
                )
            yield row


def _pack(path: Path) -> Iterator[bytes]:
    packer = lzma.LZMACompressor()
    with path.open("rb") as file:
        for piece in iter(partial(file.read, PIECE), b""):
            yield packer.compress(piece)
    yield packer.flush()


def _refuse_other_files(path: Path) -> None:
    try:
        with lzma.LZMAFile(find_file(path)) as file:
            is_export = file.read(len(BEGINNING)) == BEGINNING
    except FileNotFoundError:
        return
    except (lzma.LZMAError, EOFError):
        is_export = False
    if not is_export:
        raise ValueError(
            f"Expected {path} to be a new file, or an earlier export. Got another file. Choose another name."
        )


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpack(path: Path, to: Path, most: int | None) -> None:
    """Unpack a file in pieces, within limits: a few kilobytes may be packed gigabytes."""
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)
    most = max(MOST_UNPACKED, MOST_PACKED * path.stat().st_size) if most is None else most
    with path.open("rb") as packed, to.open("wb") as unpacked:
        piece = packed.read(PIECE)
        if piece.startswith(FORMER):
            raise ValueError(
                f"Expected {path} to be a results file, packed by xz. Got a zip archive, which earlier versions "
                "exported, and this one does not read. Export the folder again with this version."
            )
        while not unpacker.eof:
            try:
                unpacked.write(unpacker.decompress(piece, PIECE))
            except lzma.LZMAError as error:
                raise _refusal(path, f"a file that cannot be unpacked ({error})") from error
            if unpacked.tell() > most:
                raise _refusal(path, f"a file that would unpack to more than {most:,} bytes")
            piece = packed.read(PIECE) if unpacker.needs_input else b""
            if unpacker.needs_input and not piece:
                raise _refusal(path, "a file that is cut off")
        if unpacker.unused_data or packed.read(1):
            raise _refusal(path, "a file that goes on after its end")


@contextmanager
def _open_unpacked(path: Path, unpacked: Path) -> Iterator[sqlite3.Connection]:
    """Open an unpacked file, if its tables are those of this version, and its pages are in order."""
    with closing(sqlite3.connect(f"{unpacked.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            check_format(path, connection)
            whole = is_whole(connection)
        except (sqlite3.Error, FileNotFoundError) as error:
            raise _refusal(path, f"something else ({error})") from error
        if not whole:
            raise _refusal(path, "pages that contradict each other")
        yield connection


def _read_rows(path: Path, connection: sqlite3.Connection) -> Iterator[Row]:
    """Yield the rows of an unpacked file; refuse it at the first that this package would not store."""
    try:
        for _, row in read_rows(connection):
            if fault := find_fault(row):
                raise _refusal(path, fault)
            yield row
    except sqlite3.Error as error:
        raise _refusal(path, f"rows that cannot be read ({error})") from error


def _read_tasks(path: Path, connection: sqlite3.Connection) -> tuple[Task, ...]:
    tasks = read_tasks(connection)
    if len(tasks) != connection.execute("SELECT count(*) FROM tasks").fetchone()[0]:
        raise _refusal(path, "tasks that cannot be read")
    return tasks


def _counts_more(row: Row, stored: Row) -> bool:
    """Return whether a repetition counts more than another of its key. The last part decides whatever the order."""
    first, second = ((entry["diagnostics"] is None, entry["created"], entry["checksum"]) for entry in (row, stored))
    return first < second


def _refusal(path: Path, reason: str) -> ValueError:
    return ValueError(
        f"Expected {path} to be an intact file of `graph-bandit export`. Got {reason}. Copy the file again, or export "
        "the folder again. Nothing was taken from it."
    )
