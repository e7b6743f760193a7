"""Parse SMILES into graphs, many at a time, with a cache. No torch."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.pools.molecule_graph import to_categories

FORMAT = 1  # of the cache; raise it when its content changes
CHUNK = 500  # molecules that a process takes at a time
MANY = 10_000  # molecules; above that several processes are faster than one, the time to start them included
MOST_PROCESSES = 61  # Windows cannot wait for more


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
    links: NDArray[np.int32]
    """`(sum E, 2)`: atoms of each bond, sorted."""
    bond_offsets: NDArray[np.int64]
    """`(M + 1,)`."""

    def __len__(self) -> int:
        return len(self.canonical)


def parse(smiles: Sequence[str], workers: int = 1, cache: Path | None = None) -> ParsedMolecules:
    """Parse SMILES, or load the result from a cache.

    Args:
        smiles: M texts.
        workers: most processes to use for many molecules; with more than one, the calling script needs the guard
            `if __name__ == "__main__":`.
        cache: path of the file that the SMILES come from. The result is kept in the same folder, under a name that
            depends on the texts and on the version of RDKit. None: nothing is kept.

    Returns:
        M molecules. One that could not be read has no atoms.

    Raises:
        ImportError: if RDKit is not installed.
    """
    import rdkit

    kept = None
    if cache is not None:
        digest = hashlib.sha256("\n".join([str(FORMAT), rdkit.__version__, *smiles]).encode()).hexdigest()[:12]
        kept = cache.with_name(f".{cache.name}.{digest}.npz")
        if kept.is_file() and (loaded := _load(kept)) is not None and len(loaded) == len(smiles):
            return loaded
    parts = [smiles[start : start + CHUNK] for start in range(0, len(smiles), CHUNK)]
    if workers > 1 and len(smiles) > MANY:
        with ProcessPoolExecutor(min(workers, len(parts), MOST_PROCESSES), mp_context=get_context("spawn")) as pool:
            parsed = _join(list(pool.map(_parse_here, parts)))
    else:
        parsed = _join([_parse_here(part) for part in parts])
    if kept is not None:
        _save(parsed, kept)
    return parsed


def canonical_smiles(smiles: str) -> str:
    """Return the canonical form of a SMILES; an empty text if it is not a molecule or has no atoms."""
    return _parse_here([smiles]).canonical[0]


def _parse_here(smiles: Sequence[str]) -> ParsedMolecules:
    from rdkit import Chem, rdBase

    canonical, atoms, bonds, links = [], [], [], []
    with rdBase.BlockLogs():  # a bad row is reported with its line, not on stderr
        for text in smiles:
            molecule = Chem.MolFromSmiles(text)
            if molecule is None or molecule.GetNumAtoms() == 0:
                canonical.append("")
                atoms.append(np.zeros((0, 9), np.int64))
                bonds.append(np.zeros((0, 3), np.int64))
                links.append(np.zeros((0, 2), np.int64))
                continue
            canonical.append(Chem.MolToSmiles(molecule))
            its_atoms, its_bonds, pairs = to_categories(molecule)
            both = np.concatenate([pairs, pairs[:, ::-1]])
            order = np.lexsort((both[:, 1], both[:, 0]))
            atoms.append(its_atoms)
            bonds.append(np.concatenate([its_bonds, its_bonds])[order])
            links.append(both[order])
    return ParsedMolecules(
        tuple(canonical),
        np.concatenate(atoms).astype(np.uint8),
        _offsets(list(map(len, atoms))),
        np.concatenate(bonds).astype(np.uint8),
        np.concatenate(links).astype(np.int32),
        _offsets(list(map(len, links))),
    )


def _join(parts: Sequence[ParsedMolecules]) -> ParsedMolecules:
    return ParsedMolecules(
        tuple(text for part in parts for text in part.canonical),
        np.concatenate([part.atoms for part in parts]),
        _offsets(np.concatenate([np.diff(part.atom_offsets) for part in parts])),
        np.concatenate([part.bonds for part in parts]),
        np.concatenate([part.links for part in parts]),
        _offsets(np.concatenate([np.diff(part.bond_offsets) for part in parts])),
    )


def _offsets(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _save(parsed: ParsedMolecules, path: Path) -> None:
    """Write the cache atomically; do nothing if the folder cannot be written to."""
    content = io.BytesIO()
    arrays = {name: value for name, value in vars(parsed).items() if name != "canonical"}
    text = np.frombuffer("\n".join(parsed.canonical).encode(), np.uint8)
    np.savez_compressed(content, canonical=text, **arrays)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.getvalue())
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)


def _load(path: Path) -> ParsedMolecules | None:
    """Read the cache; return None if the file is damaged or cannot be read."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return ParsedMolecules(tuple(arrays.pop("canonical").tobytes().decode().split("\n")), **arrays)
    except (OSError, ValueError, TypeError, KeyError, BadZipFile):
        return None
