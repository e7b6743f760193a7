"""Merge equal molecules of different parts, list bad rows, and describe the finished pool."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agents.traits import Moments
from graph_bandit_campaign.pool.prepared.columns import NUMBERS, from_arrow, own
from graph_bandit_campaign.pool.prepared.making.duplicates import count_buckets, find_drops
from graph_bandit_campaign.pool.prepared.making.folder import Folder
from graph_bandit_campaign.pool.prepared.making.source import LONGEST, BadRow
from graph_bandit_campaign.pool.prepared.making.work import MOLECULE, PART_BITS, FinishedPart, Records
from graph_bandit_campaign.pool.prepared.manifest import (
    BAD_ROWS,
    DROPPED,
    MERGED,
    Manifest,
    PartRecord,
    part_name,
)
from graph_bandit_campaign.text import shield

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

Write = Callable[[Sequence[object]], object]
GroupOf = Callable[[NDArray[np.int64]], NDArray[np.int64]]

ROW = (1 << PART_BITS) - 1


def merge(folder: Folder, count: int) -> Manifest:
    """Write which rows of the parts to leave out, and why.

    `dropped.parquet` has a row group for each part with rows to leave out, `merged.parquet` one for each part with
    molecules that others repeat. The memory does not depend on the number of parts.

    Args:
        folder: folder with finished parts.
        count: how many there are.

    Returns:
        The manifest, which is not written yet.

    Raises:
        ValueError: if a part is damaged.
        OSError: if a file cannot be written.
    """
    folder.scratch.mkdir()
    work = _Merging(folder, count)
    manifest = work.run()
    for name in (DROPPED, MERGED, BAD_ROWS):
        with (folder.scratch / name).open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(folder.scratch / name, folder.path / name)
    return manifest


class _Merging:
    def __init__(self, folder: Folder, count: int) -> None:
        self._folder, self._question, self._count = folder, folder.question, count
        self._scratch = folder.scratch
        self._records: list[PartRecord] = []
        self._bad = 0
        self._moments: dict[str, Moments] = {}

    def run(self) -> Manifest:
        import pyarrow as pa

        rows = 0
        for number in range(self._count):
            rows += self._folder.part(number).record.rows
        groups = count_buckets(rows)
        self._parts_in_group = max(1, -(-self._count // groups))
        drops = find_drops(self._molecules(), self._scratch, count_buckets(rows), self._group_of, groups)
        schema = pa.schema(
            [("kept", pa.int32()), ("part", pa.int32()), ("row", pa.int32()), ("alias", pa.large_string())]
            + [("file", pa.int32()), ("line", pa.int64())]
            + [(own(name), pa.large_string()) for name in self._question.columns]
        )
        texts = _Texts(self._scratch, schema)
        with (
            self._open(DROPPED, pa.schema([("row", pa.int32())])) as dropped,
            (self._scratch / BAD_ROWS).open("w", encoding="utf-8", newline="") as file,
        ):
            listed = csv.writer(file, lineterminator="\n").writerow
            listed(("file", self._question.unit, "text", "problem"))
            for group in range(groups):
                of_group = drops.read(group)
                of_group = of_group[np.argsort(of_group["place"], kind="stable")]
                for number in self._parts_of(group):
                    of_part = of_group[of_group["place"] >> PART_BITS == number]
                    self._finish_part(number, of_part, dropped, listed, texts)
        merged = self._write_merged(texts, schema, groups)
        question = self._question
        return Manifest(
            question=question,
            parts=tuple(self._records),
            rows=sum(record.read for record in self._records),
            molecules=sum(record.molecules for record in self._records),
            merged=merged,
            bad=self._bad,
            moments={name: moments.to_dict() for name, moments in self._moments.items()},
        )

    def _molecules(self) -> Iterator[Records]:
        for number in range(self._count):
            yield np.fromfile(self._folder.path / f"{part_name(number)}.molecules", MOLECULE)

    def _group_of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return (places >> PART_BITS) // self._parts_in_group

    def _parts_of(self, group: int) -> range:
        return range(group * self._parts_in_group, min(self._count, (group + 1) * self._parts_in_group))

    def _open(self, name: str, schema: pa.Schema) -> ParquetWriter:
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(self._scratch / name, schema, compression="zstd", write_page_checksum=True)

    def _finish_part(self, number: int, drops: Records, dropped: ParquetWriter, listed: Write, texts: _Texts) -> None:
        """Write what is left out of a part, and add up the moments of the molecules that stay."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        part = self._folder.part(number)
        bad = list(part.bad)
        if len(drops):
            rows = drops["place"] & ROW
            dropped.write_table(pa.table({"row": pa.array(rows, pa.int32())}))
            file = ParquetFile(self._folder.path / part.record.name, page_checksum_verification=True)
            names = ["file", "row", "id", "written", "smiles", *map(own, self._question.columns)]
            table = file.read(names, use_threads=False).select(names).take(pa.array(rows))
            bad += self._bad_names(table, drops)
            texts.add(table, drops, self._group_of)
            self._add_moments(_moments_without(file, rows, part, self._question.stereo))
        else:
            self._add_moments(part.moments)
        for index, row, text, problem in sorted(bad):
            listed((self._question.files[index].name, row, shield(text), problem))
        self._bad += len(bad)
        self._records.append(replace(part.record, dropped=len(drops)))

    def _bad_names(self, table: pa.Table, drops: Records) -> list[BadRow]:
        """Return the rows whose name different molecules have."""
        rows, question = [], self._question
        for k in np.flatnonzero(drops["bad"]).tolist():
            cells = {name: table[name][k].as_py() for name in ("file", "row", "id", "written", "smiles")}
            where = f"{question.files[drops['file'][k]].name}, " * (len(question.files) > 1)
            name = (cells["id"] or cells["smiles"])[:LONGEST]
            problem = f"`{name}` is another molecule in {where}{question.unit} {drops['row'][k]}."
            rows.append((cells["file"], cells["row"], cells["written"][:LONGEST], problem))
        return rows

    def _add_moments(self, blocks: Sequence[dict[str, dict[str, list[float]]]]) -> None:
        for block in blocks:
            for name, lists in block.items():
                moments = Moments.from_dict(lists)
                self._moments[name] = self._moments[name].merge(moments) if name in self._moments else moments

    def _write_merged(self, texts: _Texts, schema: pa.Schema, groups: int) -> int:
        """Write the duplicates by the molecule that they repeat; return how many there are."""
        total = 0
        with self._open(MERGED, schema) as writer:
            for group in range(groups):
                table, kept_parts = texts.read(group)
                for number in np.unique(kept_parts).tolist():
                    begin, end = np.searchsorted(kept_parts, [number, number + 1]).tolist()
                    writer.write_table(table.slice(begin, end - begin), row_group_size=end - begin)
                    self._records[number] = replace(self._records[number], duplicates=end - begin)
                    total += end - begin
        return total


class _Texts:
    """Texts of duplicates, in files by the group of the part of the molecule that they repeat."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        import pyarrow as pa

        self._folder, self._schema = folder, schema.append(pa.field("kept_part", pa.int32()))

    def add(self, table: pa.Table, drops: Records, group_of: GroupOf) -> None:
        """Add the rows of a part that are duplicates."""
        import pyarrow as pa

        repeated = np.flatnonzero(~drops["bad"])
        rows, drops = table.take(pa.array(repeated)), drops[repeated]
        alias = [
            name if is_alias else None
            for name, is_alias in zip(rows["id"].to_pylist(), drops["alias"].tolist(), strict=True)
        ]
        columns = {
            "kept": pa.array(drops["kept"] & ROW, pa.int32()),
            "part": pa.array(drops["place"] >> PART_BITS, pa.int32()),
            "row": pa.array(drops["place"] & ROW, pa.int32()),
            "alias": pa.array(alias, pa.large_string()),
            "file": rows["file"],
            "line": rows["row"],
            "kept_part": pa.array(drops["kept"] >> PART_BITS, pa.int32()),
        }
        columns |= {name: rows[name] for name in self._schema.names if name not in columns}
        whole, groups = pa.table(columns).select(self._schema.names).cast(self._schema), group_of(drops["kept"])
        for group in np.unique(groups).tolist():
            with (self._folder / f"texts-{group}").open("ab") as file, pa.ipc.new_stream(file, self._schema) as writer:
                writer.write_table(whole.filter(pa.array(groups == group)))

    def read(self, group: int) -> tuple[pa.Table, NDArray[np.int64]]:
        """Return the rows of a group by kept molecule and place, and the part of each kept molecule."""
        import pyarrow as pa

        path, tables = self._folder / f"texts-{group}", [self._schema.empty_table()]
        if path.is_file():
            with path.open("rb") as file:
                while file.tell() < path.stat().st_size:  # one stream after the other
                    with pa.ipc.open_stream(file) as reader:
                        tables.append(reader.read_all())
        table = pa.concat_tables(tables)
        table = table.sort_by([(name, "ascending") for name in ("kept_part", "kept", "part", "row")]).combine_chunks()
        return table.drop_columns("kept_part"), table["kept_part"].to_numpy().astype(np.int64)


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
