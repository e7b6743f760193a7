"""Read the lines of text files, packed or not, in UTF-8 or UTF-16."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import IO, cast

from graph_bandit_env.tables.damage import check_unpacked, damaged

MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
LONGEST = 1 << 22  # characters of a line; the cells of 10,000 columns have fewer
SHOWN = 10  # bytes around one that cannot be decoded


@contextmanager
def open_text(path: Path, packed: bool) -> Iterator[IO[str]]:
    """Open a text for `lines_of`, inside the `with` block.

    Args:
        path: path of the file.
        packed: whether gzip packed it.

    Raises:
        ValueError: if it is in another encoding, damaged or too big; also while lines are read.
    """
    try:
        with _Unpacked(path) if packed else path.open("rb") as file:
            binary = cast(BufferedReader, file)
            encoding = "utf-16" if binary.peek(2)[:2] in MARKS_OF_UTF_16 else "utf-8-sig"
            with TextIOWrapper(binary, encoding, newline="") as text:
                yield text
    except UnicodeDecodeError as error:
        encoding = "UTF-16" if error.encoding.startswith("utf-16") else "UTF-8"
        around = error.object[max(error.start - SHOWN, 0) : error.end + SHOWN].decode("latin-1")
        raise ValueError(
            f"Expected {path} in {encoding}. Got other bytes at {around!r}. Save it as `CSV UTF-8`."
        ) from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise damaged(path, error) from error


def lines_of(path: Path, text: IO[str]) -> Iterator[str]:
    """Yield the lines of a text, with their ends.

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
    """A packed file that is refused once too much has come out of it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._path = path

    def read1(self, size: int = -1) -> bytes:
        content = super().read1(size)
        check_unpacked(self._path, self.tell())
        return content
