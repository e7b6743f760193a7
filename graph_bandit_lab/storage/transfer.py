"""Carry repetitions to other folders: an export is a results file without failed repetitions, packed by xz."""

from __future__ import annotations

import lzma
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from graph_bandit_env.storage import replace_file
from graph_bandit_lab.storage.database import open_to_read, sole_driver
from graph_bandit_lab.storage.results import FILE_NAME, ResultStore, check_format, read_rows
from graph_bandit_lab.storage.rows import check_row

MOST_UNPACKED, MOST_PACKED = 1 << 24, 100  # bytes, and times that a larger file may be packed
XZ = b"\xfd7zXZ\0"  # with which a packed file begins
MOST_MEMORY = 1 << 27  # bytes that unpacking takes
FIRST = "(new.diagnostics IS NULL, new.created) < (old.diagnostics IS NULL, old.created)"
Key = tuple[str, int]  # settings hash and seed


@dataclass(frozen=True)
class Exported:
    """An export that was written."""

    path: Path
    repetitions: int
    failed: int
    """Repetitions that have failed. They are not exported."""


def export_results(folder: str | Path, path: str | Path) -> Exported:
    """Write all finished repetitions of a folder to one small file, from which a sweep can go on elsewhere.

    A sweep may play into the folder meanwhile. Rows are copied as they are. The tasks
    of the folder go with them, so that agents are ranked elsewhere as they are here. Unpacked with
    `xz -d`, the file is a results file.

    Args:
        folder: folder of results.
        path: the file. An earlier export is replaced atomically.

    Returns:
        The numbers of repetitions.

    Raises:
        FileNotFoundError: if the folder holds no results.
        ValueError: if the results file is damaged, or `path` is another kind of file.
    """
    source, path = Path(folder) / FILE_NAME, Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"Expected results in {source}. Make some with `graph-bandit run --out {folder}`.")
    if path.is_file() and not path.read_bytes().startswith(XZ):
        raise ValueError(f"Expected {path} to be a new file, or an earlier export. Choose another name.")
    with open_to_read(source) as connection:
        check_format(source, connection)
        (failed,) = connection.execute("SELECT count(*) FROM repetitions WHERE status = 'failed'").fetchone()
    with TemporaryDirectory() as temporary:
        store = ResultStore(Path(temporary))
        count, _ = store.take(source)
        replace_file(path, lzma.compress(store.path.read_bytes()))
    return Exported(path, count, failed)


@dataclass(frozen=True)
class Imported:
    """Counts of the repetitions of exported files."""

    taken: int
    present: int
    """Repetitions that the folder held already. They stay as they were."""
    different: int = 0
    """Repetitions that were played twice, with other actions or rewards under the same key."""

    @property
    def notes(self) -> list[str]:
        """Say what was taken, and what differs."""
        notes = [f"Repetitions taken from files: {self.taken}. There already: {self.present}."]
        if self.different:
            notes.append(
                f"Played twice, with other actions or rewards: {self.different}. What the folder held stays; of two "
                "files, the repetition that was finished first counts. Say, the type of CPU is another one."
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
        return exports.give(ResultStore(Path(folder))) if exports else Imported(0, 0)


@dataclass(frozen=True)
class Exports:
    """Files of exports that were found intact, merged in a temporary folder."""

    store: ResultStore
    """Their repetitions and tasks."""
    different: set[Key]
    """Repetitions that two files hold, with other actions or rewards."""

    def give(self, store: ResultStore) -> Imported:
        """Take repetitions and tasks into another results file, in one transaction, ordered by when they ended."""
        taken, different = store.take(self.store.path)
        return Imported(taken, len(self.store.stored()) - taken, len(self.different | different))


@contextmanager
def open_exports(paths: Sequence[str | Path]) -> Iterator[Exports | None]:
    """Unpack files of `export_results`, check all of them, and merge them; the order of the files does not matter.

    Of a repetition that two files hold, the one with diagnostics counts, or else the one that was finished first.
    Nothing but rows that are as this package writes them leaves the file; None if there are no files.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if one is not such a file, is damaged, was made by another version, or holds anything that this
            package does not store.
    """
    if not paths:
        yield None
        return
    with TemporaryDirectory() as temporary:
        store, unpacked, different = ResultStore(Path(temporary)), Path(temporary, "unpacked"), set[Key]()
        for path in sorted(map(Path, paths), key=Path.read_bytes):
            try:
                _unpack(path, unpacked)
                different |= store.take(unpacked, FIRST)[1]
            except (ValueError, sqlite3.Error, lzma.LZMAError, FileNotFoundError) as error:
                raise ValueError(
                    f"Expected {path} to be an intact file of `graph-bandit export`. Got: {error} Copy the file again, "
                    "or export the folder again. Nothing was taken from it."
                ) from error
        yield Exports(store, different)


def _unpack(path: Path, to: Path) -> None:
    """Unpack and check a file, within limits, for a few kilobytes may be packed gigabytes.

    Raises:
        ValueError, sqlite3.Error, lzma.LZMAError, FileNotFoundError: if it is not an export.
    """
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)
    most = max(MOST_UNPACKED, MOST_PACKED * path.stat().st_size)
    content = unpacker.decompress(path.read_bytes(), int(most) + 1)
    if not unpacker.eof or unpacker.unused_data or len(content) > most:
        raise ValueError(f"a file that is cut off, goes on after its end, or unpacks to more than {most:,} bytes.")
    to.write_bytes(content)
    with open_to_read(to) as connection:
        check_format(path, connection)
        for row in read_rows(connection):
            check_row(row)
