"""Read a Parquet file, a batch at a time, by pyarrow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from graph_bandit_env.tables.table import Table, to_text

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


def open_parquet(path: Path, file: IO[bytes]) -> Table:
    """Open a table; rows count from 1."""
    from pyarrow.parquet import ParquetFile

    try:
        opened = ParquetFile(file)
    except ValueError as error:
        raise ValueError(f"Expected {path} to be a Parquet file. Got: {error}") from error
    return Table(path, tuple(opened.schema_arrow.names), _records_of(opened), "row")


def _records_of(file: ParquetFile) -> Iterator[tuple[int, Sequence[str]]]:
    numbers = itertools.count(1)
    for batch in file.iter_batches():
        columns = [map(to_text, column.to_pylist()) for column in batch.columns]
        yield from zip(numbers, zip(*columns, strict=True), strict=False)
