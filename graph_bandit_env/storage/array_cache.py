"""Arrays in the cache folder, under the digest of all that they were computed from. No torch."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from typing import TypeAlias
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.storage.cache_folder import MOST, make_room, open_cache
from graph_bandit_env.storage.replacing import replace_file

Array: TypeAlias = NDArray[np.generic]
DIGEST = hashlib.sha256().digest_size
LEVEL = 1  # of compression: a third of the time of level 6, and a tenth more bytes


class ArrayCache:
    """Arrays in a file of the cache folder, which is named by a digest: equal tables share it, wherever they lie.

    It ends in the SHA-256 digest of the key and its own content, and is not read if it is damaged, or of another key.

    Args:
        key: what the arrays are, and everything that they are computed from.
        most: how many bytes the file may have; one with more is not read.
    """

    name: str
    """Name of the file."""

    def __init__(self, key: bytes, most: int) -> None:
        self._key, self._most = hashlib.sha256(key).digest(), most
        self.name = f"{self._key.hex()}.npz"

    def load(self) -> dict[str, Array] | None:
        """Return the arrays by name; None if there is no file, or not one that `save` wrote for this key."""
        folder = open_cache()
        if folder is None:
            return None
        path = folder / self.name
        try:
            if not path.is_file() or path.stat().st_size > self._most:
                return None
            content = path.read_bytes()
            os.utime(path)  # files that are used stay longest
        except OSError:
            return None
        digest, content = content[-DIGEST:], content[:-DIGEST]
        if digest != self.digest(content):
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}

    def save(self, arrays: Mapping[str, Array]) -> bool:
        """Replace the file atomically, and return True; do nothing where there is no folder, or no room in it.

        Several processes may save at the same time: each writes a file of its own, and the last one stays.
        """
        folder, content = open_cache(), _encode(arrays)
        if folder is None or len(content) > MOST:
            return False
        try:
            replace_file(folder / self.name, [content, self.digest(content)])
        except (OSError, ValueError):  # the disk is full, or something that is not a file has this name
            return False
        make_room(folder)
        return True

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


MOST_DEFLATED = 1032  # times that deflate packs zeros; bzip2 packs them a million times


def unpacked_size(archive: ZipFile) -> int:
    """Return how many bytes the files of an archive have.

    Python reads no more of a file than the archive says, but bzip2 and LZMA would unpack all of it first. Neither NumPy
    nor a spreadsheet or torch packs by them.

    Raises:
        BadZipFile: if a file is packed in another way than by deflate.
    """
    for part in archive.infolist():
        if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise BadZipFile(f"{part.filename} is packed in another way than such files are")
    return sum(part.file_size for part in archive.infolist())
