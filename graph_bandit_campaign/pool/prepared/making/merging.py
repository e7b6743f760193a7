"""Merge equal entries of different parts, list bad rows, and describe the finished pool."""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agents.traits import Moments
from graph_bandit_campaign.pool.prepared.columns import NUMBERS, entries_of, from_arrow, own
from graph_bandit_campaign.pool.prepared.making.folder import Folder
from graph_bandit_campaign.pool.prepared.making.source import LONGEST, BadRow
from graph_bandit_campaign.pool.prepared.making.work import FinishedPart
from graph_bandit_campaign.pool.prepared.manifest import BAD_ROWS, DROPPED, MERGED, Manifest, PartRecord, part_name
from graph_bandit_campaign.text import shield
from graph_bandit_env.tables import EntryColumns, are_structures, differing_columns, is_part

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

Write = Callable[[Sequence[object]], object]

ROW = (1 << 32) - 1  # of a place: part number, then row in the part
AT_A_TIME = 50_000  # rows of entries with several ones that are compared at once
MEMORY = "400MB"  # of the data base, which writes to the folder what takes more
# All rows of a name that different entries have are bad. Of the others, the first row of an entry counts, and further
# ones are duplicates: the rules of `from_smiles_csv`. A place is the number of a part, and the row in it.
DROPS = """
CREATE TABLE firsts AS
    SELECT name, first, place, row_number() OVER (PARTITION BY name ORDER BY place) AS rank
    FROM (SELECT name, entry AS first, min(place) AS place FROM every GROUP BY name, entry);
CREATE TABLE bad AS
    SELECT every.place, CASE WHEN every.entry = one.first THEN two.place ELSE one.place END AS other
    FROM every JOIN firsts one ON one.name = every.name AND one.rank = 1
    JOIN firsts two ON two.name = every.name AND two.rank = 2;
CREATE TABLE good AS SELECT * FROM every WHERE place NOT IN (SELECT place FROM bad);
CREATE TABLE repeated AS
    SELECT place, kept.place AS kept, CASE WHEN named AND name != kept.name THEN name END AS alias
    FROM (SELECT *, first_value({'place': place, 'name': name}) OVER (PARTITION BY entry ORDER BY place) AS kept
        FROM good)
    WHERE place != kept.place;
"""

SHARED = "SELECT name FROM every GROUP BY name HAVING count(DISTINCT entry) > 1"


def merge(folder: Folder, count: int, entry: Sequence[str] = ()) -> Manifest:
    """Write which rows of the parts to leave out, and why.

    `dropped.parquet` has a row group for each part with rows to leave out, `merged.parquet` one for each part with
    molecules that others repeat. The memory does not depend on the number of parts.

    Args:
        folder: folder with finished parts.
        count: how many there are.
        entry: columns that are part of what an entry is. Columns of structures that differ in rows of one are, too.

    Returns:
        The manifest, which is not written yet.

    Raises:
        ValueError: if a part is damaged.
        OSError: if a file cannot be written.
    """
    import duckdb

    folder.scratch.mkdir()
    with duckdb.connect(folder.scratch / "rows.duckdb") as base:
        base.execute(f"SET memory_limit = '{MEMORY}'; SET threads = 1")
        manifest = _Merging(folder, count, base).run(tuple(entry))
    for name in (DROPPED, MERGED, BAD_ROWS):
        with (folder.scratch / name).open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(folder.scratch / name, folder.path / name)
    return manifest


class _Merging:
    def __init__(self, folder: Folder, count: int, base: duckdb.DuckDBPyConnection) -> None:
        self._folder, self._question, self._count, self._base = folder, folder.question, count, base
        self._columns = [own(name) for name in self._question.columns]
        self._records: list[PartRecord] = []
        self._bad = 0
        self._moments: dict[str, Moments] = {}

    def run(self, entry: tuple[str, ...]) -> Manifest:
        self._find_drops(entry)
        differing = self._differing(entry)
        if structures := tuple(name for name, are in differing.items() if are):
            entry += structures
            self._find_drops(entry)
            differing = self._differing(entry)
        self._finish_parts()
        merged = self._write_merged()
        return Manifest(
            question=self._question,
            parts=tuple(self._records),
            rows=sum(record.read for record in self._records),
            molecules=sum(record.molecules for record in self._records),
            merged=merged,
            bad=self._bad,
            moments={name: moments.to_dict() for name, moments in self._moments.items()},
            entries=self._digest(),
            entry=dict(self._entry_columns(entry).words),
            differing=tuple(differing),
            shared=tuple(sorted(self._shared)),
        )

    def _path(self, number: int) -> Path:
        return self._folder.path / f"{part_name(number)}.parquet"

    def _read(self, number: int, columns: Sequence[str]) -> pa.Table:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(self._path(number), page_checksum_verification=True) as file:
            return file.read([*columns], use_threads=False).select([*columns])

    def _find_drops(self, entry: Sequence[str]) -> None:
        """Make the tables of bad rows and of duplicates."""
        import pyarrow as pa

        for name in ("every", "firsts", "bad", "good", "repeated"):
            self._base.execute(f"DROP TABLE IF EXISTS {name}")
        self._base.execute(
            "CREATE TABLE every (place BIGINT, file INT, line BIGINT, name VARCHAR, named BOOL, entry VARCHAR)"
        )
        for number in range(self._count):
            table = self._read(number, ["file", "row", "id", "smiles", *map(own, entry)])
            entries = entries_of(table, entry)
            names = table["id"].to_pylist()
            rows = pa.table(  # noqa: F841 - read by the next statement
                {
                    "place": (number << 32) + np.arange(len(table)),
                    "file": table["file"],
                    "line": table["row"],
                    "name": pa.array([name or text for name, text in zip(names, entries, strict=True)], pa.string()),
                    "named": [*map(bool, names)],
                    "entry": pa.array(entries, pa.string()),
                }
            )
            self._base.execute("INSERT INTO every SELECT * FROM rows")
        self._shared: set[str] = set()
        while more := self._rows(SHARED)["name"].to_pylist() if self._question.is_guessed else []:
            self._base.execute(f"UPDATE every SET name = entry, named = false WHERE name IN ({SHARED})")
            self._shared.update(more)
        self._base.execute(DROPS)
        self._collect()

    def _rows(self, query: str) -> pa.Table:
        return self._base.sql(query).to_arrow_table()

    def _collect(self) -> None:
        """Make a table of the rows of entries that have several, with their cells."""
        import pyarrow as pa

        cells = "".join(f", c{k} VARCHAR" for k in range(len(self._columns)))
        self._base.execute(
            f"CREATE OR REPLACE TABLE cells (place BIGINT, kept BIGINT, alias VARCHAR, file INT, line BIGINT{cells})"
        )
        for number in range(self._count):
            places = self._rows(
                f"""SELECT place, kept, alias FROM repeated WHERE place >> 32 = {number} UNION ALL
                SELECT DISTINCT kept, kept, NULL FROM repeated WHERE kept >> 32 = {number} ORDER BY place"""
            )
            if len(places):
                table = self._read(number, ["file", "row", *self._columns])
                texts = table.take(pa.array(places["place"].to_numpy() & ROW)).columns
                names = [*places.column_names, *(f"c{k}" for k in range(len(texts)))]
                rows = pa.table([*places.columns, *texts], names)  # noqa: F841 - read by the next statement
                self._base.execute("INSERT INTO cells SELECT * FROM rows")

    def _differing(self, entry: Sequence[str]) -> dict[str, bool]:
        """Return the columns that differ in rows of one entry, and whether they hold structures that are part of it."""
        names = {k: name for k, name in enumerate(self._question.columns) if name not in entry}
        owners = self._rows("SELECT DISTINCT kept FROM repeated ORDER BY kept")["kept"].to_numpy() if names else ()
        found: dict[str, bool] = {}
        for start in range(0, len(owners), AT_A_TIME):
            some = owners[start : start + AT_A_TIME]
            table = self._rows(f"SELECT * FROM cells WHERE kept BETWEEN {some[0]} AND {some[-1]}")
            cells = {name: [text or "" for text in table[f"c{k}"].to_pylist()] for k, name in names.items()}
            differing = differing_columns(table["kept"].to_pylist(), cells)
            found |= {name: found.get(name, is_part(name)) and are_structures(cells[name]) for name in differing}
        return found

    def _digest(self) -> str:
        """Return a digest of names and entries, in their order."""
        content = hashlib.sha256()
        counting = "SELECT name, entry FROM good WHERE place NOT IN (SELECT place FROM repeated) ORDER BY place"
        for batch in self._base.sql(counting).to_arrow_reader(AT_A_TIME):
            pairs = zip(batch["name"].to_pylist(), batch["entry"].to_pylist(), strict=True)
            content.update("".join(f"{json.dumps(pair)}\n" for pair in pairs).encode())
        return content.hexdigest()[:32]

    def _entry_columns(self, entry: Sequence[str]) -> EntryColumns:
        """Return the columns that are part of an entry, with all cells that they have."""
        cells: dict[str, list[str]] = {name: [] for name in entry}
        for number in range(self._count if entry else 0):
            table = self._read(number, [*map(own, entry)])
            for name in entry:
                cells[name] += [text or "" for text in table[own(name)].to_pylist()]
        return EntryColumns.of(cells)

    def _finish_parts(self) -> None:
        import pyarrow as pa

        with (
            self._open(DROPPED, pa.schema([("row", pa.int32())])) as dropped,
            (self._folder.scratch / BAD_ROWS).open("w", encoding="utf-8", newline="") as file,
        ):
            listed = csv.writer(file, lineterminator="\n").writerow
            listed(("file", self._question.unit, "text", "problem"))
            for number in range(self._count):
                self._finish_part(number, dropped, listed)

    def _open(self, name: str, schema: pa.Schema) -> ParquetWriter:
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(self._folder.scratch / name, schema, compression="zstd", write_page_checksum=True)

    def _finish_part(self, number: int, dropped: ParquetWriter, listed: Write) -> None:
        """Write what is left out of a part, and add up the moments of the molecules that stay."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        part = self._folder.part(number)
        bad, of_part = [*part.bad, *self._bad_names(number)], f"WHERE place >> 32 = {number}"
        drops = self._rows(f"SELECT place FROM repeated {of_part} UNION ALL SELECT place FROM bad {of_part} ORDER BY 1")
        rows = drops["place"].to_numpy() & ROW
        if len(rows):
            dropped.write_table(pa.table({"row": pa.array(rows, pa.int32())}))
            with ParquetFile(self._path(number), page_checksum_verification=True) as file:
                self._add_moments(_moments_without(file, rows, part, self._question.stereo))
        else:
            self._add_moments(part.moments)
        for index, row, text, problem in sorted(bad):
            listed((self._question.files[index].name, row, shield(text), problem))
        self._bad += len(bad)
        self._records.append(replace(part.record, dropped=len(drops)))

    def _bad_names(self, number: int) -> list[BadRow]:
        """Return the rows of a part whose name different entries have."""
        found = self._rows(
            f"""SELECT own.file, own.line, own.name, own.place, other.file, other.line FROM bad
            JOIN every own ON own.place = bad.place JOIN every other ON other.place = bad.other
            WHERE bad.place >> 32 = {number} ORDER BY own.place"""
        )
        rows, question = list[BadRow](), self._question
        written = self._read(number, ["written"])["written"] if len(found) else []
        for file, line, name, place, other, its_line in zip(
            *(column.to_pylist() for column in found.columns), strict=True
        ):
            where = f"{question.files[other].name}, " * (len(question.files) > 1)
            problem = f"`{name[:LONGEST]}` is another molecule in {where}{question.unit} {its_line}."
            rows.append((file, line, written[place & ROW].as_py()[:LONGEST], problem))
        return rows

    def _add_moments(self, blocks: Sequence[dict[str, dict[str, list[float]]]]) -> None:
        for block in blocks:
            for name, lists in block.items():
                moments = Moments.from_dict(lists)
                self._moments[name] = self._moments[name].merge(moments) if name in self._moments else moments

    def _write_merged(self) -> int:
        """Write the duplicates by the molecule that they repeat; return how many there are."""
        import pyarrow as pa

        schema = pa.schema(
            [("kept", pa.int32()), ("part", pa.int32()), ("row", pa.int32()), ("alias", pa.large_string())]
            + [("file", pa.int32()), ("line", pa.int64())]
            + [(name, pa.large_string()) for name in self._columns]
        )
        cells, total = "".join(f", c{k}" for k in range(len(self._columns))), 0
        with self._open(MERGED, schema) as writer:
            for number in range(self._count):
                table = self._rows(
                    f"""SELECT kept & {ROW}, place >> 32, place & {ROW}, alias, file, line{cells} FROM cells
                    WHERE kept >> 32 = {number} AND place != kept ORDER BY kept, place"""
                )
                if len(table):
                    writer.write_table(table.rename_columns(schema.names).cast(schema), row_group_size=len(table))
                    self._records[number] = replace(self._records[number], duplicates=len(table))
                    total += len(table)
        return total


def _moments_without(
    file: ParquetFile, rows: NDArray[np.int64], part: FinishedPart, stereo: bool
) -> list[dict[str, dict[str, list[float]]]]:
    """Compute the moments of each block of a part without some rows."""
    names = [name for name in NUMBERS if any(name in block for block in part.moments)]
    if not names:
        return []
    blocks, begin = [], 0
    for group in range(file.num_row_groups):
        table = file.read_row_group(group, names, use_threads=False)
        keep = np.setdiff1d(np.arange(len(table)), rows - begin)
        traits = from_arrow(table, names, stereo, ()).take(keep)
        blocks.append({name: Moments.of(traits.numbers[name]).to_dict() for name in names})
        begin += len(table)
    return blocks
