"""Read plain or packed text in UTF-8 or UTF-16: lines, tables with commas, semicolons or tabs, and .smi files."""

from __future__ import annotations

import csv
import gzip
import itertools
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import IO, cast

from graph_bandit_env.tables.damage import check_unpacked, damaged
from graph_bandit_env.tables.naming import ID, SMILES, is_header
from graph_bandit_env.tables.table import Table, decimal_mark

MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
LONGEST = 1 << 22  # characters of a line, more than cells of 10,000 columns
SHOWN = 10  # bytes to show around an invalid one


@contextmanager
def open_text(path: Path, packed: bool) -> Iterator[IO[str]]:
    """Open a text for `lines_of` in a `with` block.

    Args:
        path: path of the file.
        packed: True if it is packed by gzip.

    Raises:
        ValueError: if it is in another encoding, damaged or too big. This error can also occur while lines are read.
    """
    try:
        with _Unpacked(path) if packed else path.open("rb") as file:
            binary = cast(BufferedReader, file)
            encoding = "utf-16" if binary.peek(2)[:2] in MARKS_OF_UTF_16 else "utf-8-sig"
            with TextIOWrapper(binary, encoding, newline="") as text:
                yield text
    except UnicodeDecodeError as error:
        around = error.object[max(error.start - SHOWN, 0) : error.end + SHOWN].decode("latin-1")
        raise ValueError(
            f"Expected {path} in {error.encoding}. Got other bytes at {around!r}. Save it as `CSV UTF-8`."
        ) from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise damaged(path, error) from error


def lines_of(path: Path, text: IO[str]) -> Iterator[str]:
    """Yield the lines of a text with their line ends.

    Raises:
        ValueError: if a line is too long or has NUL characters.
    """
    for number, line in enumerate(iter(partial(text.readline, LONGEST), ""), start=1):
        if len(line) == LONGEST and line[-1] not in "\r\n":
            raise ValueError(f"Expected lines of at most {LONGEST:,} characters in {path}. Line {number} is longer.")
        if "\0" in line:
            raise ValueError(f"Expected text in {path}. Got NUL bytes in line {number}. Save it as `CSV UTF-8`.")
        yield line


class _Unpacked(gzip.GzipFile):
    """A packed file that raises an error if it unpacks to too much."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._path = path

    def read1(self, size: int = -1) -> bytes:
        content = super().read1(size)
        check_unpacked(self._path, self.tell())
        return content


SAMPLE = 50  # lines for detecting the delimiter
SMI = re.compile(r"\s*(\S+(?:[ \t]+\|[^|]*\|)?)(?:\s+(.*))?\s*", re.DOTALL)
DELIMITERS = "\t;,"  # in order of priority for ties, since commas are more common in text than tabs


def open_delimited(path: Path, file: IO[str]) -> Table:
    """Open a table with a header. The delimiter and decimal mark are detected from the first lines."""
    lines = lines_of(path, file)
    sample = list(itertools.islice(lines, SAMPLE))
    delimiter = _delimiter_of(sample)
    records = _records_of(path, itertools.chain(sample, lines), delimiter)
    header = next((cells for _, cells in records if any(cell.strip() for cell in cells)), ())
    cells = re.split(rf"[{delimiter}\r\n]", "".join(sample).replace('"', ""))
    return Table(path, tuple(header), records, decimal=decimal_mark(delimiter, map(str.strip, cells)))


def open_smi(path: Path, file: IO[str]) -> Table:
    """Open a table of lines with a SMILES and an optional extension and identifier. A header is skipped."""
    found = ((line, SMI.fullmatch(text)) for line, text in enumerate(lines_of(path, file), start=1))
    records = ((line, match.groups("")) for line, match in found if match and (line > 1 or not is_header(match[1])))
    return Table(path, (SMILES, ID), records, has_header=False)


def _records_of(path: Path, lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, Sequence[str]]]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)  # otherwise, an unclosed quotation mark hides rows
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
    """Return the delimiter with the same count in the header and most lines, or the most frequent one in a tie."""
    lines = re.sub('"[^"]*"', "", "".join(sample)).splitlines()
    header, *below = [line for line in lines if line.strip()] or [""]

    def likelihood(delimiter: str) -> tuple[bool, int, int]:
        count = header.count(delimiter)
        return count > 0, sum(line.count(delimiter) == count for line in below), count

    return max(DELIMITERS, key=likelihood) if any(map(header.count, DELIMITERS)) else ","
