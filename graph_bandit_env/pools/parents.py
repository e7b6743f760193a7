"""Describe salts and charged molecules by their parent: the organic molecule without counter-ions and charges."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Forms = Literal["joined", "apart"]
"""Whether salts and charged molecules are described by their parent, so that forms of one compound are one molecule."""

NITRO = re.compile(r"\[N\+\]\(=O\)\[O-\]|O=\[N\+\]\(\[O-\]\)")
ANOTHER_FORM = re.compile(r"\.|[+-]\d*(?::\d+)?\]|\[(?:Li|Na|K)\]")  # without it, a SMILES is its own parent
ATOM = re.compile(r"\[\d*([A-Z][a-z]?|[a-z]{1,2})[^\]]*\]|(Cl|Br|[BCNOPSFIbcnops])")
INORGANIC = ("C#N", "[C-]#[O+]", "O=C=O", "O=C(O)O", "N#CS", "N=C=S", "N#CO", "N=C=O", "S=C=S")  # but have carbon
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
SOLVENTS = """
CO CCO CCCO CC(C)O CCCCO CC(C)(C)O OCCO CC(O)CO OCC(O)CO CC(C)=O CC#N CN(C)C=O CC(=O)N(C)C CN1CCCC1=O CS(C)=O
C1CCOC1 C1COCCO1 CCOCC COC(C)(C)C CCOC(C)=O COCCOC ClCCl ClC(Cl)Cl ClC(Cl)(Cl)Cl Cc1ccccc1 c1ccccc1 CCCCCC CCCCCCC
C1CCCCC1
"""
COMMON = (SOLVENTS, ACIDS, BASES)


def parent_smiles(smiles: str) -> str:
    """Return the canonical SMILES of the parent of a molecule, with its stereochemistry and isotopes.

    The parent is the largest organic fragment other than common counter-ions and solvents, without the charges that a
    proton more or less takes away. Where there is no other fragment, a base that is one of those comes before an acid,
    and both before a solvent. RDKit's `ChargeParent` takes the largest organic fragment, so that tosylates of two small
    amines have one parent.

    Args:
        smiles: SMILES of a size that RDKit can read.

    Returns:
        The same text if it has neither fragments nor charges, has no organic fragment, or cannot be read.

    Raises:
        ImportError: if RDKit is not installed.
    """
    from rdkit import Chem

    fragments = _organic_fragments(smiles) if may_be_form(smiles) else []
    if not fragments:
        return smiles

    def order(fragment: Mol) -> tuple[int, int, str]:  # the larger, the less it looks like what goes with another one
        rank = _common().get(_bare_smiles(fragment), len(COMMON))
        return rank, fragment.GetNumHeavyAtoms(), Chem.MolToSmiles(fragment)

    largest = max(fragments, key=order)
    return Chem.MolToSmiles(Chem.MolFromSmiles(Chem.MolToSmiles(largest)))  # read again, as all canonical SMILES are


def may_be_form(smiles: str) -> bool:
    """Return whether a SMILES has fragments, metals or charges other than those of nitro groups."""
    return ANOTHER_FORM.search(smiles) is not None and ANOTHER_FORM.search(NITRO.sub("", smiles)) is not None


def is_bare_salt(smiles: str) -> bool:
    """Return whether a molecule is of ions or fragments, none of which is organic, such as sodium chloride."""
    if not may_be_form(smiles):
        return False
    carbons = sum((bracketed or bare) in ("C", "c") for bracketed, bare in ATOM.findall(smiles))
    return carbons <= smiles.count(".") + 1 and not _organic_fragments(smiles)  # inorganic fragments have one at most


def _organic_fragments(smiles: str) -> list[Mol]:
    """Return the organic fragments without charges."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule: Mol | None = Chem.MolFromSmiles(smiles)
        if molecule is None:
            return []
        disconnect, uncharge = _standardisers()
        return [
            fragment
            for fragment in map(uncharge, Chem.GetMolFrags(disconnect(molecule), asMols=True))
            if any(atom.GetAtomicNum() == 6 for atom in fragment.GetAtoms()) and _bare_smiles(fragment) not in INORGANIC
        ]


@lru_cache(maxsize=1)
def _standardisers() -> tuple[Callable[[Mol], Mol], Callable[[Mol], Mol]]:
    from rdkit.Chem.MolStandardize import rdMolStandardize

    return rdMolStandardize.MetalDisconnector().Disconnect, rdMolStandardize.Uncharger().uncharge


def _bare_smiles(fragment: Mol) -> str:
    """Return the canonical SMILES without stereochemistry and isotopes."""
    from rdkit import Chem

    return Chem.MolToSmiles(fragment, isomericSmiles=False)


@lru_cache(maxsize=1)
def _common() -> dict[str, int]:
    """Return the rank of each common counter-ion and solvent."""
    from rdkit import Chem

    return {
        Chem.MolToSmiles(Chem.MolFromSmiles(text)): rank for rank, texts in enumerate(COMMON) for text in texts.split()
    }
