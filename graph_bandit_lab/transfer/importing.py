"""Take the repetitions of exported files into a folder of results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_bandit_lab.design.names import name_environments
from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.storage.encoding import to_archive, to_blob
from graph_bandit_lab.storage.files import sole_driver
from graph_bandit_lab.storage.results import ResultStore
from graph_bandit_lab.storage.rows import ARRAYS, Row, name_of
from graph_bandit_lab.transfer.archive import PLAIN, Export, read_export

NAMED = 5  # repetitions that differ
Key = tuple[str, int]  # settings hash and seed


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
        ValueError: if a file is damaged or of a later version, or a process plays into the folder. Nothing is changed
            then.
    """
    exports = [read_export(path) for path in files]
    with sole_driver(Path(folder)):
        store = ResultStore(Path(folder))
        store.set_damaged_aside()
        return import_exports(store, exports)


def import_exports(store: ResultStore, exports: Sequence[Export]) -> Imported:
    """Take the repetitions and tasks of exports into a store, in one transaction.

    Raises:
        ValueError: if the rounds of an export are not what was exported. Nothing is changed then.
    """
    ordered = sorted(
        exports, key=lambda export: (min((row["created"] for row in export.rows), default=""), export.digest)
    )
    chosen: dict[Key, tuple[tuple[object, ...], int]] = {}  # rank, and number of the export
    different: dict[Key, Row] = {}
    rows: dict[Key, Row] = {}
    for number, row in ((number, row) for number, export in enumerate(ordered) for row in export.rows):
        key, candidate = _key_of(row), (_rank(row), number)
        chosen[key] = min(chosen.get(key, candidate), candidate)
        if rows.setdefault(key, row)["digest"] != row["digest"]:
            different[key] = row
    rows_that_count = _choose_rows(ordered, {key: number for key, (_, number) in chosen.items()})
    taken, unlike = store.take(rows_that_count, [task for export in ordered for task in export.tasks])
    different |= {key: rows[key] for key in unlike}
    return Imported(taken, len(chosen) - taken, tuple(_name(list(different.values()))))


def _name(rows: Sequence[Row]) -> list[str]:
    """Name repetitions, and their environments if these are several."""
    environments = name_environments([json.loads(row["environment"]) for row in rows])
    each = zip(rows, environments, strict=True)
    return [f"{name_of(row)}{f', on {environment}' if environment else ''}" for row, environment in each]


def _choose_rows(exports: Sequence[Export], chosen: Mapping[Key, int]) -> Iterator[dict[str, object]]:
    """Yield the rows that count, encoded for the results file."""
    for number, export in enumerate(exports):
        for block, rows in enumerate(export.blocks):
            if any(chosen[_key_of(row)] == number for row in rows):
                yield from (_encode(row) for row in export.decode(block) if chosen[_key_of(row)] == number)


def _encode(row: Row) -> dict[str, object]:
    blobs = {name: None if row[name] is None else to_blob(row[name]) for name in (*ARRAYS, *FINDINGS)}
    diagnostics = None if row["diagnostics"] is None else to_archive(row["diagnostics"])
    return {name: row[name] for name in PLAIN} | blobs | {"diagnostics": diagnostics}


def _key_of(row: Row) -> Key:
    return row["settings_hash"], row["seed"]


def _rank(row: Row) -> tuple[object, ...]:
    """Order repetitions of one key: with diagnostics, then by time. The rest makes the choice that of any order."""
    return row["diagnostics"] is None, row["created"], row["digest"], *(str(row[name]) for name in PLAIN)
