"""Parse SMILES into graphs, many at a time. No torch."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.extras import require
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.packed_graphs import PackedGraphs
from graph_bandit_env.pools.molecule_graph import PackedMolecules, to_categories
from graph_bandit_env.pools.parents import Salts, may_be_form, parent_smiles, write_smiles
from graph_bandit_env.tables.entries import split_entry

if TYPE_CHECKING:
    from rdkit.Chem import Mol

MOST_ATOMS = 250
MOST_CHARACTERS = 20  # for each atom allowed; RDKit takes a minute for a dense graph of atoms that are written shorter
ATOM = re.compile(r"\[(?!H\])[^\]]*|Cl|Br|[BCNOPSFIbcnops*]")  # but no [H], which RDKit leaves out
REACTION = re.compile("[^>]*>[^>]*>[^>]*")
CHUNK = 500  # molecules that a process takes at a time
MANY = 10_000  # molecules; above that several processes are faster than one, the time to start them included
MOST_PROCESSES = 61  # Windows cannot wait for more

ARRAYS = ("nodes", "node_offsets", "links", "edges", "edge_offsets")  # of packed graphs

SHOWN = reprlib.Repr()
SHOWN.maxstring = 80  # characters of a SMILES in messages


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
    written: tuple[str, ...]
    """M canonical SMILES of what stood there, where it is the parent of it that was parsed; else empty."""

    def __len__(self) -> int:
        return len(self.canonical)


def parse(smiles: Sequence[str], workers: int = 1, salts: Salts = "separate") -> ParsedMolecules:
    """Parse SMILES.

    Args:
        smiles: M texts; ask `size_problem` first, since RDKit ends the process at some that are too big.
        workers: most processes to use for many molecules; with more than one, the calling script needs the guard
            `if __name__ == "__main__":`.
        salts: "merge": parse the parents of salts and charged molecules in their place.

    Returns:
        M molecules. One that could not be read has no atoms.

    Raises:
        MissingExtraError: if RDKit is not installed.
    """
    require("rdkit", "Reading molecules")
    parts = [smiles[start : start + CHUNK] for start in range(0, len(smiles), CHUNK)]
    if workers > 1 and len(smiles) > MANY:
        with ProcessPoolExecutor(min(workers, len(parts), MOST_PROCESSES), mp_context=get_context("spawn")) as pool:
            return _join(list(pool.map(_parse_here, parts, repeat(salts))))
    return _join([_parse_here(part, salts) for part in parts])


def canonical_smiles(smiles: str, most_atoms: int = MOST_ATOMS) -> str:
    """Return the canonical form of a SMILES; an empty text if it is not a molecule, has no atoms or is too big.

    `smiles_problem` says which. Of the text of an entry, its cells stay.

    Args:
        smiles: any text.
        most_atoms: how many atoms it may have; hydrogens do not count.

    Raises:
        MissingExtraError: if RDKit is not installed.
    """
    require("rdkit", "Reading molecules")
    if size_problem(smiles, most_atoms):
        return ""
    from rdkit import Chem, rdBase

    structure, cells = split_entry(smiles)
    with rdBase.BlockLogs():
        canonical = _write(Chem.MolFromSmiles(structure))
    return canonical and canonical + cells


def smiles_problem(smiles: str, most_atoms: int = MOST_ATOMS) -> str:
    """Say in a sentence why `canonical_smiles` returns an empty text for a SMILES, with the same arguments."""
    smiles, _ = split_entry(smiles)
    if REACTION.fullmatch(smiles.split(maxsplit=1)[0] if smiles.strip() else ""):
        return "it is a reaction (`>>`). Reactions are not read: name the column of one of its molecules."
    return size_problem(smiles, most_atoms) or f"RDKit reads no molecule from {SHOWN.repr(smiles)}."


def size_problem(smiles: str, most_atoms: int) -> str:
    """Say why RDKit must not be asked about a SMILES; return an empty text if it may be.

    RDKit takes minutes for some big molecules, and a chain of 30,000 atoms ends the process. It reads `CC O` as `CC`.
    """
    smiles, _ = split_entry(smiles)
    before, *after = smiles.split(maxsplit=1) or [""]
    if after and not after[0].startswith("|"):  # `CCO |...|` is a SMILES with an extension
        return f"expected a SMILES without blanks. Got {SHOWN.repr(smiles)}."
    atoms = len(ATOM.findall(before)) if len(before) > most_atoms else 0  # an atom has at least one character
    if atoms > most_atoms:
        return f"the molecule has {atoms:,} atoms, more than `most_atoms`, {most_atoms:,}."
    if len(smiles) > MOST_CHARACTERS * most_atoms:
        return f"the SMILES has {len(smiles):,} characters, more than {MOST_CHARACTERS} x `most_atoms`, {most_atoms:,}."
    return ""


def _parse_here(smiles: Sequence[str], salts: Salts) -> ParsedMolecules:
    from rdkit import Chem, rdBase

    canonical, forms_written, atoms, bonds, links = [], [], [], [], []
    with rdBase.BlockLogs():  # a bad row is reported with its line, not on stderr
        for structure, cells in map(split_entry, smiles):
            molecule = Chem.MolFromSmiles(structure)
            written = own = _write(molecule)
            if salts == "merge" and may_be_form(written) and (own := parent_smiles(written)) != written:
                molecule = Chem.MolFromSmiles(own)
            canonical.append(own and own + cells)
            forms_written.append("" if own == written else written + cells)
            if not own:
                atoms.append(np.zeros((0, 9), np.int64))
                bonds.append(np.zeros((0, 3), np.int64))
                links.append(np.zeros((0, 2), np.int64))
                continue
            its_atoms, its_bonds, pairs = to_categories(molecule)
            both = np.concatenate([pairs, pairs[:, ::-1]])
            order = np.lexsort((both[:, 1], both[:, 0]))
            atoms.append(its_atoms)
            bonds.append(np.concatenate([its_bonds, its_bonds])[order])
            links.append(both[order])
    joined = np.concatenate(links)
    return ParsedMolecules(
        tuple(canonical),
        np.concatenate(atoms).astype(np.uint8),
        _offsets(list(map(len, atoms))),
        np.concatenate(bonds).astype(np.uint8),
        joined.astype(np.min_scalar_type(joined.max(initial=0))),  # bytes, unless a molecule has more than 256 atoms
        _offsets(list(map(len, links))),
        tuple(forms_written),
    )


def _write(molecule: Mol | None) -> str:
    try:
        return "" if molecule is None else write_smiles(molecule)
    except ValueError:  # more than 99 rings would be open at once
        return ""


def _join(parts: Sequence[ParsedMolecules]) -> ParsedMolecules:
    return ParsedMolecules(
        tuple(text for part in parts for text in part.canonical),
        np.concatenate([part.atoms for part in parts]),
        _offsets(np.concatenate([np.diff(part.atom_offsets) for part in parts])),
        np.concatenate([part.bonds for part in parts]),
        np.concatenate([part.links for part in parts]),
        _offsets(np.concatenate([np.diff(part.bond_offsets) for part in parts])),
        tuple(text for part in parts for text in part.written),
    )


def _offsets(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def unread_graphs(smiles: Sequence[str], salts: Salts = "separate") -> GraphSet:
    """Return the graphs of K SMILES that can be read, which are not read before somebody asks for atoms or bonds.

    Args:
        smiles: K texts.
        salts: as for `parse`.
    """
    return GraphSet.from_packed(UnreadMolecules(smiles, salts))


class UnreadMolecules(PackedMolecules):
    """Graphs of molecules that are read when somebody asks for atoms or bonds: most agents never do.

    Args:
        smiles: K SMILES that can be read.
        salts: as for `parse`.
    """

    smiles: tuple[str, ...]
    salts: Salts

    def __init__(self, smiles: Sequence[str], salts: Salts) -> None:
        vars(self).update(smiles=tuple(smiles), salts=salts, directed=False)

    def __len__(self) -> int:
        return len(self.smiles)

    def __getattr__(self, name: str) -> object:
        if name not in ARRAYS or "smiles" not in vars(self):
            raise AttributeError(name)
        read = parse(self.smiles, salts=self.salts)
        vars(self).update(
            nodes=read.atoms,
            node_offsets=read.atom_offsets,
            links=read.links,
            edges=read.bonds,
            edge_offsets=read.bond_offsets,
        )
        self.__post_init__()
        return vars(self)[name]

    def __setstate__(self, state: dict[str, object]) -> None:
        """Take over what pickle has kept."""
        vars(self).update(state)

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> UnreadMolecules:
        """Return the graphs with these indices, in this order."""
        return UnreadMolecules([self.smiles[k] for k in index], self.salts)

    def join(self, others: PackedGraphs) -> PackedGraphs:
        """Return these graphs, followed by others with as many features."""
        if isinstance(others, UnreadMolecules) and self.salts == others.salts:
            return UnreadMolecules((*self.smiles, *others.smiles), self.salts)
        return PackedMolecules(self.nodes, self.node_offsets, self.links, self.edges, self.edge_offsets).join(others)
