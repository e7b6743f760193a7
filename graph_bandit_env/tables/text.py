"""Read text tables with commas, semicolons or tabs between the cells, and .smi files."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from graph_bandit_env.tables.lines import lines_of
from graph_bandit_env.tables.numbers import decimal_mark
from graph_bandit_env.tables.table import Table

SAMPLE = 50  # lines by which the delimiter is recognised
DELIMITERS = "\t;,"  # the first one wins a tie, since commas are more common in text than tabs


def open_delimited(path: Path, file: IO[str]) -> Table:
    """Open a table with a header; the first lines decide on the delimiter and the decimal mark."""
    lines = lines_of(path, file)
    sample = list(itertools.islice(lines, SAMPLE))
    delimiter = _delimiter_of(sample)
    records = _records_of(path, itertools.chain(sample, lines), delimiter)
    header = next((cells for _, cells in records if any(cell.strip() for cell in cells)), ())
    cells = re.split(rf"[{delimiter}\r\n]", "".join(sample).replace('"', ""))
    return Table(path, tuple(header), records, decimal=decimal_mark(delimiter, map(str.strip, cells)))


def open_smi(path: Path, file: IO[str]) -> Table:
    """Open a table without a header: each line is a SMILES, then perhaps an identifier."""
    records = ((line, text.split(maxsplit=1)) for line, text in enumerate(lines_of(path, file), start=1))
    return Table(path, ("smiles", "id"), records, has_header=False)


def _records_of(path: Path, lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, Sequence[str]]]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)  # else an unclosed quotation mark swallows rows
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise ValueError(
            f"Expected a table in {path}. Line {reader.line_num} cannot be read: {error}. A cell that begins with a "
            f"quotation mark needs another at its end, and no cell may have more than {csv.field_size_limit():,} "
            "characters."
        ) from error


def _delimiter_of(sample: Sequence[str]) -> str:
    """Return the delimiter of the header whose count most lines below share; ties go to the most frequent one."""
    lines = re.sub('"[^"]*"', "", "".join(sample)).splitlines()
    header, *below = [line for line in lines if line.strip()] or [""]

    def likelihood(delimiter: str) -> tuple[bool, int, int]:
        count = header.count(delimiter)
        return count > 0, sum(line.count(delimiter) == count for line in below), count

    return max(DELIMITERS, key=likelihood) if any(map(header.count, DELIMITERS)) else ","
