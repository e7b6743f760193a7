"""Reject files that are damaged or unpack to suspicious sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from graph_bandit_env.storage import unpacked_size

MOST_UNPACKED = 1 << 24  # bytes that any file may unpack to
MOST_PACKED = 50  # maximum compression ratio of larger files, 3 to 30 for tables of molecules


class TooBigError(ValueError):
    """A file unpacks to a suspicious size."""


def check_unpacked(path: Path, unpacked: int) -> None:
    """Reject a file that unpacks to too many bytes.

    Args:
        path: path of the file, or of a folder of files.
        unpacked: unpacked size in bytes.

    Raises:
        TooBigError: a ValueError.
    """
    packed = sum(part.stat().st_size for part in (path.iterdir() if path.is_dir() else [path]))
    if unpacked > max(MOST_UNPACKED, MOST_PACKED * packed):
        raise TooBigError(
            f"Expected {path} to unpack to at most {MOST_PACKED} times its {packed:,} bytes. It is larger. If that is "
            "right, save it unpacked: a table as a plain .csv file, arrays by `numpy.savez`."
        )


def check_archive(path: Path) -> None:
    """Reject a zip archive that is damaged or unpacks to too many bytes.

    Raises:
        ValueError: for such an archive.
    """
    with refuse_damage(path), ZipFile(path) as archive:
        check_unpacked(path, unpacked_size(archive))
        if part := archive.testzip():
            raise BadZipFile(f"{part} is damaged")


def damaged(path: Path, error: Exception) -> ValueError:
    """Return the error to raise for a file that its library cannot read."""
    return ValueError(
        f"Expected {path} to be complete, and of the kind its name says. Got: {str(error) or repr(error)}."
    )


@contextmanager
def refuse_damage(path: Path) -> Iterator[None]:
    """Convert any error of a library to a ValueError that names the file."""
    try:
        yield
    except TooBigError:
        raise
    except Exception as error:  # these libraries validate little, so a damaged file can raise any error
        raise damaged(path, error) from error
