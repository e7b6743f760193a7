"""Write all finished repetitions of a folder to one small file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.storage.database import open_to_read
from graph_bandit_lab.storage.files import find_file, replace_file
from graph_bandit_lab.storage.results import FILE_NAME, check_format, read_rows
from graph_bandit_lab.storage.rows import ARRAYS, Row, decode, is_sound, name_of
from graph_bandit_lab.storage.sweeps import read_tasks
from graph_bandit_lab.transfer.archive import PLAIN, write_export

ROWS = 100  # that are read in one transaction, during which nobody can write: a few milliseconds
BLOCK = 500  # repetitions that are encoded together


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

    The folder is read in short transactions, so a sweep that plays into it is not kept waiting. Nothing is rounded:
    `import_results` reads what was stored, bit for bit. The same repetitions give the same file. The tasks of the
    folder go with them, so that agents are ranked elsewhere as they are here.

    Args:
        folder: folder of results.
        path: the file. An earlier export is replaced atomically.

    Returns:
        The number of repetitions, and the size of the file.

    Raises:
        FileNotFoundError: if the folder holds no results.
        ValueError: if no repetition is finished, the results file is damaged, or `path` is another kind of file.
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
    blocks = (wanted[begin : begin + BLOCK] for begin in range(0, len(wanted), BLOCK))
    content, count = write_export((_read_block(source, block, damaged) for block in blocks), tasks)
    if not count:
        raise ValueError(f"Expected finished repetitions in {source}. There are none yet.")
    replace_file(path, content)
    return Exported(path, count, len(content), len(rows) - len(wanted), tuple(damaged))


def _read_block(source: Path, rowids: Sequence[int], damaged: list[str]) -> list[Row]:
    """Return these rows with their arrays, and add the names of damaged ones to a list."""
    block: list[Row] = []
    for row in _read_shortly(source, rowids):
        arrays = decode(row, (*ARRAYS, *FINDINGS, "diagnostics")) if is_sound(row) else None
        if arrays is None:
            damaged.append(name_of(row))
            continue
        recorded = arrays["diagnostics"] if row["diagnostics"] is not None else None
        block.append({name: row[name] for name in PLAIN} | arrays | {"diagnostics": recorded})
    return block


def _read_shortly(source: Path, rowids: Sequence[int]) -> Iterator[Row]:
    """Yield rows, a few in each transaction. One that went away in between, with all results, is left out."""
    for begin in range(0, len(rowids), ROWS):
        few = rowids[begin : begin + ROWS]
        with open_to_read(source) as connection:
            condition = f"status != 'failed' AND rowid IN ({', '.join('?' * len(few))})"
            rows = [row for _, row in read_rows(connection, condition, *few)]
        yield from rows


def _refuse_other_files(path: Path) -> None:
    if find_file(path).is_file() and not zipfile.is_zipfile(path):
        raise ValueError(
            f"Expected {path} to be a new file, or an earlier export. Got another file. Choose another name."
        )
