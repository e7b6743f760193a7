"""Transfer repetitions to other folders. An export is a results file without failed repetitions, packed by xz."""

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

MOST_UNPACKED, MOST_PACKED = 1 << 24, 100  # bytes, and the compression ratio of larger files
XZ = b"\xfd7zXZ\0"  # first bytes of a packed file
MOST_MEMORY = 1 << 27  # bytes for unpacking
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
    """Write all finished repetitions of a folder to one small file, from which a sweep can continue elsewhere.

    A sweep may write into the folder meanwhile. Rows are copied unchanged, with the tasks of the folder, so that agents
    are ranked in the same way elsewhere. Unpacked with `xz -d`, the file is a results file.

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
    """Repetitions that the folder already held. They stay unchanged."""
    different: int = 0
    """Repetitions played twice, with different actions or rewards under the same key."""

    @property
    def notes(self) -> list[str]:
        """Return notes on imported and differing repetitions."""
        notes = [f"Repetitions taken from files: {self.taken}. There already: {self.present}."]
        if self.different:
            notes.append(
                f"Played twice, with other actions or rewards: {self.different}. What the folder held stays; of two "
                "files, the repetition that was finished first counts. Say, the type of CPU is another one."
            )
        return notes


def import_results(folder: str | Path, files: Sequence[str | Path]) -> Imported:
    """Import the repetitions of exported files into a folder. The order of the files does not matter.

    Args:
        folder: folder of results, created if it does not exist. Its results are kept.
        files: files from `export_results`.

    Returns:
        The numbers of repetitions that were imported, already present, and different.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a file is damaged or of another version, or another process uses the folder. Nothing is changed
            then.
    """
    with open_exports(files) as exports, sole_driver(Path(folder)):
        return exports.give(ResultStore(Path(folder))) if exports else Imported(0, 0)


@dataclass(frozen=True)
class Exports:
    """Intact export files, merged in a temporary folder."""

    store: ResultStore
    """Their repetitions and tasks."""
    different: set[Key]
    """Repetitions in two files, with different actions or rewards."""

    def give(self, store: ResultStore) -> Imported:
        """Import repetitions and tasks into another results file, in one transaction, ordered by their end."""
        taken, different = store.take(self.store.path)
        return Imported(taken, len(self.store.stored()) - taken, len(self.different | different))


@contextmanager
def open_exports(paths: Sequence[str | Path]) -> Iterator[Exports | None]:
    """Unpack files from `export_results`, check all of them, and merge them in any order.

    If two files hold a repetition, the one with diagnostics counts, otherwise the one that finished first. Only rows in
    the form that this package writes are accepted. The result is None if there are no files.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a file is not an export, is damaged, was made by another version, or holds anything that this
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
    """Unpack and check a file, within limits, because a few kilobytes may expand to gigabytes.

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
