"""Parse SMILES into graphs, many at a time. No torch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.extras import require
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.pools.molecule_graph import PackedMolecules, to_categories
from graph_bandit_env.pools.parents import Salts, may_be_form, parent_smiles
from graph_bandit_env.tables.smiles import write_smiles

if TYPE_CHECKING:
    from rdkit.Chem import Mol

MOST_ATOMS = 250
MOST_CHARACTERS = 20  # per allowed atom, as RDKit can take a minute for dense graphs
ATOM = re.compile(r"\[(?!H\])[^\]]*|Cl|Br|[BCNOPSFIbcnops*]")  # without [H], which RDKit removes
REACTION = re.compile("[^>]*>[^>]*>[^>]*")
ARRAYS = ("nodes", "node_offsets", "links", "edges", "edge_offsets")  # of packed graphs


def parse(smiles: Sequence[str], salts: Salts = "separate") -> tuple[list[str], list[str], PackedMolecules]:
    """Parse SMILES to canonical SMILES and graphs.

    Args:
        smiles: M texts. Check them by `size_problem` first, since RDKit can crash on too large molecules.
        salts: "merge" parses the parents of salts and charged molecules instead.

    Returns:
        M canonical SMILES, empty for a text that is not a molecule or has no atoms. M canonical SMILES of the original
        molecules if their parents were parsed, otherwise empty. And M graphs, without atoms for unreadable texts.

    Raises:
        MissingExtraError: if RDKit is not installed.
    """
    require("rdkit", "Reading molecules")
    from rdkit import Chem, rdBase

    canonical, forms_written = list[str](), list[str]()
    atoms, bonds, links = [np.zeros((0, 9), np.uint8)], [np.zeros((0, 3), np.uint8)], [np.zeros((0, 2), np.uint16)]
    with rdBase.BlockLogs():  # bad rows are reported with their line instead
        for text in smiles:
            molecule = Chem.MolFromSmiles(text)
            written = own = _write(molecule)
            if salts == "merge" and may_be_form(written) and (own := parent_smiles(written)) != written:
                molecule = Chem.MolFromSmiles(own)
            canonical.append(own)
            forms_written.append("" if own == written else written)
            its_atoms, its_bonds, pairs = to_categories(molecule) if own else (atoms[0], bonds[0], links[0])
            both = np.concatenate([pairs, pairs[:, ::-1]])
            order = np.lexsort((both[:, 1], both[:, 0]))
            atoms.append(its_atoms.astype(np.uint8))
            bonds.append(np.concatenate([its_bonds, its_bonds])[order].astype(np.uint8))
            links.append(both[order].astype(np.uint16))
    joined = np.concatenate(links)
    graphs = PackedMolecules(
        np.concatenate(atoms),
        np.cumsum([*map(len, atoms)]),
        joined.astype(np.min_scalar_type(joined.max(initial=0))),  # uint8, unless a molecule has more than 256 atoms
        np.concatenate(bonds),
        np.cumsum([*map(len, links)]),
    )
    return canonical, forms_written, graphs


def canonical_smiles(smiles: str, most_atoms: int = MOST_ATOMS) -> str:
    """Return the canonical form of a SMILES, or an empty text if it is not a molecule, has no atoms or is too big.

    `smiles_problem` returns the reason. The cells in the text of an entry are kept.

    Args:
        smiles: any text.
        most_atoms: maximum number of atoms, without hydrogens.

    Raises:
        MissingExtraError: if RDKit is not installed.
    """
    require("rdkit", "Reading molecules")
    if size_problem(smiles, most_atoms):
        return ""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        return _write(Chem.MolFromSmiles(smiles))


def smiles_problem(smiles: str, most_atoms: int = MOST_ATOMS) -> str:
    """Return the reason for an empty result of `canonical_smiles` as a sentence. The arguments are the same."""
    if REACTION.fullmatch(smiles.split(maxsplit=1)[0] if smiles.strip() else ""):
        return "it is a reaction (`>>`). Reactions are not read: name the column of one of its molecules."
    return size_problem(smiles, most_atoms) or f"RDKit reads no molecule from {smiles!r:.80}."


def size_problem(smiles: str, most_atoms: int) -> str:
    """Return the reason why a SMILES must not be passed to RDKit, or an empty text.

    RDKit takes minutes for some big molecules, and crashes on a chain of 30,000 atoms. It reads `CC O` as `CC`.
    """
    before, *after = smiles.split(maxsplit=1) or [""]
    if after and not after[0].startswith("|"):  # `CCO |...|` is a SMILES with an extension
        return f"expected a SMILES without blanks. Got {smiles!r:.80}."
    atoms = len(ATOM.findall(before)) if len(before) > most_atoms else 0  # an atom has at least one character
    if atoms > most_atoms:
        return f"the molecule has {atoms:,} atoms, more than `most_atoms`, {most_atoms:,}."
    if len(smiles) > MOST_CHARACTERS * most_atoms:
        return f"the SMILES has {len(smiles):,} characters, more than {MOST_CHARACTERS} x `most_atoms`, {most_atoms:,}."
    return ""


def _write(molecule: Mol | None) -> str:
    try:
        return "" if molecule is None else write_smiles(molecule)
    except ValueError:  # more than 99 rings would be open at once
        return ""


def unread_graphs(smiles: Sequence[str], salts: Salts = "separate") -> GraphSet:
    """Return the graphs of K valid SMILES, parsed at the first access to atoms or bonds.

    Args:
        smiles: K texts.
        salts: as for `parse`.
    """
    return GraphSet.from_packed(UnreadMolecules(smiles, salts))


class UnreadMolecules(PackedMolecules):
    """Graphs of molecules, parsed at the first access to atoms or bonds. Most agents need neither.

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
        *_, read = parse(self.smiles, self.salts)
        vars(self).update({each: getattr(read, each) for each in ARRAYS})
        self.__post_init__()
        return vars(self)[name]

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the state from pickle."""
        vars(self).update(state)

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> UnreadMolecules:
        """Return the graphs with these indices, in this order."""
        return UnreadMolecules([self.smiles[k] for k in index], self.salts)
