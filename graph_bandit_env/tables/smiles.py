"""Write the canonical SMILES of a molecule."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rdkit.Chem import Mol, QueryAtom


def write_smiles(molecule: Mol) -> str:
    """Return the canonical SMILES of a molecule, after removing the atom map numbers.

    A CXSMILES extension describes racemic and unknown stereocentres, and the repeat units of polymers.
    """
    from rdkit import Chem

    for atom in molecule.GetAtomsMatchingQuery(_is_numbered()):
        if atom.GetAtomicNum():
            atom.SetAtomMapNum(0)
    if not molecule.GetStereoGroups() and not Chem.GetMolSubstanceGroups(molecule):
        return Chem.MolToSmiles(molecule)
    editable = Chem.RWMol(molecule)
    groups = editable.GetStereoGroups()
    editable.SetStereoGroups([group for group in groups if group.GetGroupType() != Chem.STEREO_ABSOLUTE])
    Chem.CanonicalizeEnhancedStereo(editable)
    kinds = Chem.CXSmilesFields.CX_ENHANCEDSTEREO | Chem.CXSmilesFields.CX_POLYMER
    return Chem.MolToCXSmiles(editable, Chem.SmilesWriteParams(), int(kinds))


@cache
def _is_numbered() -> QueryAtom:
    from rdkit.Chem.rdqueries import HasPropQueryAtom

    return HasPropQueryAtom("molAtomMapNumber")
