"""Read a Parquet file in batches with pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from graph_bandit_env.tables.damage import check_unpacked, refuse_damage
from graph_bandit_env.tables.table import Table, to_text

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile


def open_parquet(path: Path, file: IO[bytes]) -> Table:
    """Open a table with rows numbered from 1."""
    with refuse_damage(path):
        opened = open_file(path, file)
        check_size(path, opened)
    return Table(path, tuple(opened.schema_arrow.names), _records_of(path, opened), "row")


def open_file(path: Path, file: IO[bytes]) -> ParquetFile:
    """Open a file with dictionary-encoded texts, since a text that is stored once may occur in all rows."""
    from pyarrow import types
    from pyarrow.parquet import ParquetFile

    checks = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    schema = ParquetFile(file).schema_arrow
    texts = [column.name for column in schema if any(check(column.type) for check in checks)]
    return ParquetFile(file, page_checksum_verification=True, read_dictionary=texts)


def check_size(path: Path, file: ParquetFile) -> None:
    """Reject a file with too much data, excluding texts. A cell counts as at least a byte.

    Raises:
        TooBigError: a ValueError.
    """
    metadata = file.metadata
    groups = (metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    check_unpacked(path, max(sum(groups), metadata.num_rows * len(file.schema_arrow)))


def size_of_texts(columns: Iterable[pa.Array]) -> int:
    """Return the size in bytes of dictionary-encoded texts."""
    from pyarrow import compute, types

    sizes = [
        compute.sum(compute.binary_length(column.dictionary).take(column.indices)).as_py()
        for column in columns
        if types.is_dictionary(column.type) and not types.is_primitive(column.type.value_type)
    ]
    return sum(filter(None, sizes))


def _records_of(path: Path, file: ParquetFile) -> Iterator[tuple[int, Sequence[str]]]:
    read, unpacked = 0, 0
    with refuse_damage(path):
        for batch in file.iter_batches():
            unpacked += size_of_texts(batch.columns)
            check_unpacked(path, unpacked)
            columns = [map(to_text, column.to_pylist()) for column in batch.columns]
            yield from enumerate(zip(*columns, strict=True), start=read + 1)
            read += batch.num_rows
        if read != file.metadata.num_rows:  # page headers have no checksum
            raise ValueError(f"{read} of {file.metadata.num_rows} rows")
