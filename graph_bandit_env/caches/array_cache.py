"""A hidden file next to a table, with arrays that were computed from it. No torch."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.generic]
DIGEST = hashlib.sha256().digest_size
LEVEL = 1  # of compression: a third of the time of level 6, and a tenth more bytes


class ArrayCache:
    """Arrays in the file `.TABLE.npz` or `.TABLE.NAME.npz`.

    It ends in the SHA-256 digest of a key and its own content: a file that is damaged, or of another key, is not read.

    Args:
        table: path of the table.
        key: everything that the arrays are computed from.
        most: how many bytes the arrays may have; a file with more is not read.
        name: what the arrays are, for the name of the file.
    """

    path: Path
    """Path of the file."""

    def __init__(self, table: Path, key: bytes, most: int, name: str = "") -> None:
        self.path = table.with_name(f".{table.name}.{name}.npz" if name else f".{table.name}.npz")
        self._key, self._most = hashlib.sha256(key).digest(), most

    def load(self) -> dict[str, Array] | None:
        """Return the arrays by name; None if there is no file, or not one that `save` wrote for this key.

        Its digest is right then, but somebody may have forged it: check what the arrays hold.
        """
        try:
            if not self.path.is_file() or self.path.stat().st_size > self._most:
                return None
            content = self.path.read_bytes()
        except OSError:
            return None
        digest, content = content[-DIGEST:], content[:-DIGEST]
        if digest != self.digest(content):
            return None
        try:
            with ZipFile(io.BytesIO(content)) as archive:  # which shares the bytes
                if sum(part.file_size for part in archive.infolist()) > self._most:
                    return None
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
        except Exception:  # noqa: BLE001 - forged content can lead to any error, and to no other result than None
            return None

    def save(self, arrays: Mapping[str, Array]) -> bool:
        """Replace the file atomically, and return True; do nothing in a folder that is read-only.

        Several processes may save at the same time: each writes a file of its own, and the last one stays.
        """
        part = self.path.with_name(f"{self.path.name}.part")
        with suppress(OSError):
            content = _encode(arrays)
            try:
                part.unlink(missing_ok=True)  # a writer that was killed left it; one that still writes gives up
                with part.open("xb") as file:
                    file.write(content)
                    file.write(self.digest(content))
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(part, self.path)
            finally:
                part.unlink(missing_ok=True)
            return True
        return False

    def digest(self, content: bytes | memoryview) -> bytes:
        """Return the digest that a file with this content ends in."""
        digest = hashlib.sha256(self._key)
        digest.update(content)
        return digest.digest()


def _encode(arrays: Mapping[str, Array]) -> memoryview:
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(ZipInfo(f"{name}.npy"), entry.getbuffer(), ZIP_DEFLATED, LEVEL)  # without the time
    return content.getbuffer()
