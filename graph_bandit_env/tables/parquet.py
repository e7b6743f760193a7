"""Read a Parquet file, a batch at a time, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from graph_bandit_env.tables.damage import check_unpacked, refuse_damage
from graph_bandit_env.tables.table import Table, to_text

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


def open_parquet(path: Path, file: IO[bytes]) -> Table:
    """Open a table; rows count from 1."""
    from pyarrow.parquet import ParquetFile

    with refuse_damage(path):
        opened = ParquetFile(file, page_checksum_verification=True)
        names, metadata = tuple(opened.schema_arrow.names), opened.metadata
        groups = (metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
        check_unpacked(path, max(sum(groups), metadata.num_rows * len(names)))  # a cell counts as a byte at least
    return Table(path, names, _records_of(path, opened), "row")


def _records_of(path: Path, file: ParquetFile) -> Iterator[tuple[int, Sequence[str]]]:
    read = 0
    with refuse_damage(path):
        for batch in file.iter_batches():
            columns = [map(to_text, column.to_pylist()) for column in batch.columns]
            yield from enumerate(zip(*columns, strict=True), start=read + 1)
            read += batch.num_rows
        if read != file.metadata.num_rows:  # the header of a page has no checksum
            raise ValueError(f"{read} of {file.metadata.num_rows} rows")
