"""Molecules in shared arrays, and the cache that keeps them next to their table. No torch."""

from __future__ import annotations

import glob
import hashlib
import io
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

FORMAT = 3  # of the cache; raise it when its content changes
DIGEST = hashlib.sha256().digest_size
SLACK, BYTES_PER_CHARACTER = 1 << 20, 64  # more than the arrays of any molecules need
EARLIER = re.compile(r"\.[0-9a-f]{12}\.npz(\.\d+\.part)?")  # names that caches had; they depended on the content


@dataclass(frozen=True, eq=False)
class ParsedMolecules:
    """M molecules in shared arrays: molecule k has the rows from offset k to offset k + 1."""

    canonical: tuple[str, ...]
    """M canonical SMILES; empty where a text is not a molecule, or a molecule without atoms."""
    atoms: NDArray[np.uint8]
    """`(sum n, 9)`: categories."""
    atom_offsets: NDArray[np.int64]
    """`(M + 1,)`."""
    bonds: NDArray[np.uint8]
    """`(sum E, 3)`: categories, both directions of each bond."""
    links: NDArray[np.unsignedinteger]
    """`(sum E, 2)`: atoms of each bond, sorted; the smallest integers that hold them."""
    bond_offsets: NDArray[np.int64]
    """`(M + 1,)`."""

    def __len__(self) -> int:
        return len(self.canonical)


class Cache:
    """The file `.NAME.npz` next to a table.

    It ends in the SHA-256 digest of the SMILES, the version of RDKit and its own content: a file that is damaged, or
    has other molecules, is not read.

    Args:
        table: path of the table.
        smiles: M texts that were or will be parsed.
    """

    def __init__(self, table: Path, smiles: Sequence[str]) -> None:
        import rdkit

        self.path = table.with_name(f".{table.name}.npz")
        self._earlier = glob.escape(f".{table.name}.") + "*.npz*"
        self._key = json.dumps([FORMAT, rdkit.__version__, *smiles]).encode()
        self._count = len(smiles)
        self._most = SLACK + BYTES_PER_CHARACTER * len(self._key)

    def load(self) -> ParsedMolecules | None:
        """Return the molecules; None if there is no file, or not the one that `save` wrote for the same SMILES."""
        try:
            if not self.path.is_file() or self.path.stat().st_size > self._most:
                return None
            content = self.path.read_bytes()
        except OSError:
            return None
        return self._decode(content[:-DIGEST]) if content[-DIGEST:] == self._digest(content[:-DIGEST]) else None

    def save(self, parsed: ParsedMolecules) -> None:
        """Replace the file atomically, and remove those of earlier versions; do nothing in a folder that is read-only.

        Several processes may save at the same time: each writes a file of its own, and the last one stays.
        """
        content = self._encode(parsed)
        part = self.path.with_name(f"{self.path.name}.part")
        with suppress(OSError):
            try:
                part.unlink(missing_ok=True)  # a writer that was killed left it; one that still writes gives up
                with part.open("xb") as file:
                    file.write(content + self._digest(content))
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(part, self.path)
            finally:
                part.unlink(missing_ok=True)
            for earlier in self.path.parent.glob(self._earlier):
                if EARLIER.fullmatch(earlier.name.removeprefix(self.path.stem)):
                    earlier.unlink(missing_ok=True)

    def _digest(self, content: bytes) -> bytes:
        return hashlib.sha256(hashlib.sha256(self._key).digest() + content).digest()

    @staticmethod
    def _encode(parsed: ParsedMolecules) -> bytes:
        content = io.BytesIO()
        text = np.frombuffer("\n".join(parsed.canonical).encode(), np.uint8)
        np.savez_compressed(content, **(vars(parsed) | {"canonical": text}))
        return content.getvalue()

    def _decode(self, content: bytes) -> ParsedMolecules | None:
        """Read arrays whose digest is right; return None if they cannot be the molecules: somebody forged them."""
        try:
            with ZipFile(io.BytesIO(content)) as archive:
                if sum(part.file_size for part in archive.infolist()) > self._most:
                    return None
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            parsed = ParsedMolecules(tuple(arrays.pop("canonical").tobytes().decode().split("\n")), **arrays)
            return parsed if _is_sound(parsed, self._count) else None
        except Exception:  # noqa: BLE001 - forged content can lead to any error, and to no other result than None
            return None


def _is_sound(parsed: ParsedMolecules, count: int) -> bool:
    """Return whether arrays are M molecules, by their kinds and shapes, the order of offsets and the atoms of bonds."""
    atoms, bonds = len(parsed.atoms), len(parsed.bonds)
    kinds = (
        (parsed.atoms, np.uint8, (atoms, 9)),
        (parsed.bonds, np.uint8, (bonds, 3)),
        (parsed.links, np.min_scalar_type(parsed.links.max(initial=0)), (bonds, 2)),
        (parsed.atom_offsets, np.int64, (count + 1,)),
        (parsed.bond_offsets, np.int64, (count + 1,)),
    )
    if parsed.links.dtype.kind != "u" or len(parsed) != count:
        return False
    if any(array.dtype != kind or array.shape != shape for array, kind, shape in kinds):
        return False
    for offsets, total in ((parsed.atom_offsets, atoms), (parsed.bond_offsets, bonds)):
        if offsets[0] != 0 or offsets[-1] != total or (np.diff(offsets) < 0).any():
            return False
    most = np.repeat(np.diff(parsed.atom_offsets), np.diff(parsed.bond_offsets))[:, None]
    return bool((parsed.links < most).all())
