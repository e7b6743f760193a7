"""Find the parent of a salt: the molecule without counter-ions, water and protonation charges."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from graph_bandit_env.tables.smiles import write_smiles

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Salts = Literal["merge", "separate"]
""""merge" describes salts and charged molecules by their parent. Salts of one compound are then one molecule."""

NITRO = re.compile(r"\[N\+\]\(=O\)\[O-\]|O=\[N\+\]\(\[O-\]\)")
ANOTHER_FORM = re.compile(r"\.|[+-]\d*(?::\d+)?\]|\[(?:Li|Na|K)\]")  # otherwise, a SMILES is its own parent
ATOM = re.compile(r"\[\d*([A-Z][a-z]?|[a-z]{1,2})[^\]]*\]|(Cl|Br|[BCNOPSFIbcnops])")
INORGANIC = ("C#N", "[C-]#[O+]", "O=C=O", "O=C(O)O", "N#CS", "N=C=S", "N#CO", "N=C=O", "S=C=S")  # with carbon
ACIDS = """
O=CO CC(=O)O CCC(=O)O CCCC(=O)O CCCCC(=O)O CC(C)(C)C(=O)O O=C(O)C(F)(F)F O=C(O)C(Cl)(Cl)Cl O=C(O)C(Cl)Cl O=C(O)CO
CC(O)C(=O)O O=C(O)C(=O)O O=C(O)CC(=O)O O=C(O)CCC(=O)O O=C(O)CCCC(=O)O O=C(O)CCCCC(=O)O O=C(O)C=CC(=O)O O=C(O)CC(O)C(=O)O
O=C(O)C(O)C(O)C(=O)O O=C(O)CC(O)(CC(=O)O)C(=O)O O=C(O)C(O)C(O)C(O)C(O)CO O=CC(O)C(O)C(O)C(O)C(=O)O
O=C1OC(C(O)CO)C(O)=C1O O=C(O)c1ccccc1 O=C(O)c1ccccc1O O=C(O)c1cc(O)ccc1O O=C(O)C(O)c1ccccc1 O=C(O)c1cccnc1
O=C(O)CNC(=O)c1ccccc1 O=C(O)c1ccc2ccccc2c1O O=C(O)c1cc2ccccc2c(Cc2c(O)c(C(=O)O)cc3ccccc23)c1O O=C1CCC(C(=O)O)N1
O=C(O)c1cc(=O)[nH]c(=O)[nH]1 CS(=O)(=O)O CCS(=O)(=O)O O=S(=O)(O)CCO O=S(=O)(O)CCS(=O)(=O)O O=S(=O)(O)C(F)(F)F
O=S(=O)(O)c1ccccc1 Cc1ccc(S(=O)(=O)O)cc1 O=S(=O)(O)c1ccc(Cl)cc1 O=S(=O)(O)c1ccc2ccccc2c1 O=S(=O)(O)c1cccc2ccccc12
O=S(=O)(O)c1cccc2c(S(=O)(=O)O)cccc12 CC1(C)C2CCC1(CS(=O)(=O)O)C(=O)C2 COS(=O)(=O)O CCOS(=O)(=O)O
CCCCCCCCCCCCOS(=O)(=O)O CCCCCCCCCCCCCCCC(=O)O CCCCCCCCCCCCCCCCCC(=O)O CCCCCCCCC=CCCCCCCCC(=O)O NC(CC(=O)O)C(=O)O
NC(CCC(=O)O)C(=O)O O=C1NS(=O)(=O)c2ccccc21 O=S(=O)(O)NC1CCCCC1 O=[N+]([O-])c1cc([N+](=O)[O-])c(O)c([N+](=O)[O-])c1
"""
BASES = """
CCNCC CCN(CC)CC CCN(C(C)C)C(C)C CC(C)NC(C)C CC(C)(C)N NCCO OCCNCCO OCCN(CCO)CCO CN(C)CCO C[N+](C)(C)CCO NC(CO)(CO)CO
CNCC(O)C(O)C(O)C(O)CO NCCN C1CNCCN1 C1COCCN1 NC1CCCCC1 C1CCC(NC2CCCCC2)CC1 c1ccncc1 c1c[nH]cn1
c1ccc(CNCCNCc2ccccc2)cc1 c1ccc(CCNCc2ccccc2)cc1 NCCCCC(N)C(=O)O N=C(N)NCCCC(N)C(=O)O C[N+](C)(C)CC(=O)[O-]
C[N+](C)(C)C CC[N+](CC)(CC)CC CCCC[N+](CCCC)(CCCC)CCCC
"""
NO_COMPLEX = {1, 3, 5, 6, 7, 8, 9, 11, 12, 14, 15, 16, 17, 19, 20, 33, 34, 35, 37, 38, 52, 53, 55, 56}
"""Nonmetals, and metals with ionic bonds."""


def parent_smiles(smiles: str) -> str:
    """Return the canonical SMILES of the parent of a molecule, with its stereochemistry and isotopes.

    The parent is the only organic molecule beside counter-ions and water, neutralized by adding or removing protons.
    Solvates, cocrystals, mixtures, metal complexes, and salts of permanent ions, such as ionic liquids, are their own
    parents, since their other components make a different substance.

    Args:
        smiles: SMILES small enough for RDKit.

    Returns:
        The same text if it is its own parent or cannot be read.

    Raises:
        ImportError: if RDKit is not installed.
    """
    if not may_be_form(smiles):
        return smiles
    from rdkit import Chem, rdBase

    fragments = _fragments(smiles)
    organic = [fragment for fragment in fragments if fragment.neutral]
    own = [fragment for fragment in organic if bare_smiles(fragment.neutral) not in _common(ACIDS + BASES)] or organic
    if len({fragment.neutral for fragment in own}) != 1:
        return smiles
    others = [fragment for fragment in fragments if fragment not in own]
    acids = any(bare_smiles(fragment.neutral) in _common(ACIDS) for fragment in others if not fragment.charge)
    is_mixture = acids and "n" not in own[0].neutral.lower()  # acids form no salts with molecules without nitrogen
    is_mixture |= any(fragment.charge for fragment in others) and not sum(fragment.charge for fragment in others)
    with rdBase.BlockLogs():
        parent = Chem.MolFromSmiles(own[0].neutral)
    if parent is None or Chem.GetFormalCharge(parent) or (is_mixture and not any(fragment.charge for fragment in own)):
        return smiles
    return write_smiles(parent)


def may_be_form(smiles: str) -> bool:
    """Return True if a SMILES has fragments, metals or charges other than those of nitro groups."""
    return ANOTHER_FORM.search(smiles) is not None and ANOTHER_FORM.search(NITRO.sub("", smiles)) is not None


def is_bare_salt(smiles: str) -> bool:
    """Return True if a molecule consists of inorganic ions or fragments, such as sodium chloride."""
    if not may_be_form(smiles):
        return False
    carbons = sum((bracketed or bare) in ("C", "c") for bracketed, bare in ATOM.findall(smiles))
    return carbons <= smiles.count(".") + 1 and not any(fragment.neutral for fragment in _fragments(smiles))


class _Fragment(NamedTuple):
    charge: int
    neutral: str
    """Canonical SMILES without charges, or empty if inorganic."""


def _fragments(smiles: str) -> list[_Fragment]:
    """Return the fragments of a molecule, or an empty list for a metal complex or unreadable SMILES."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        whole: Mol | None = Chem.MolFromSmiles(smiles)
        if whole is None:
            return []
        disconnect, uncharge = _standardisers()
        apart = disconnect(whole)
        pairs = zip(whole.GetAtoms(), apart.GetAtoms(), strict=True)
        if {old.GetAtomicNum() for old, new in pairs if old.GetDegree() > new.GetDegree()} - NO_COMPLEX:
            return []
        found = []
        for fragment in Chem.GetMolFrags(apart, asMols=True):
            neutral = uncharge(fragment)
            text = write_smiles(neutral) if any(atom.GetAtomicNum() == 6 for atom in neutral.GetAtoms()) else ""
            is_organic = text and bare_smiles(text) not in INORGANIC
            found.append(_Fragment(Chem.GetFormalCharge(fragment), text if is_organic else ""))
    return found


@lru_cache(maxsize=1)
def _standardisers() -> tuple[Callable[[Mol], Mol], Callable[[Mol], Mol]]:
    from rdkit.Chem.MolStandardize import rdMolStandardize

    return rdMolStandardize.MetalDisconnector().Disconnect, rdMolStandardize.Uncharger().uncharge


def bare_smiles(smiles: str) -> str:
    """Return a canonical SMILES without stereochemistry and isotopes. Unreadable SMILES are returned unchanged."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
    return smiles if molecule is None else Chem.MolToSmiles(molecule, isomericSmiles=False)


@lru_cache(maxsize=2)
def _common(listed: str) -> frozenset[str]:
    return frozenset(map(bare_smiles, listed.split()))
