"""Recognize other forms of a molecule: salts, charged forms and tautomers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from graph_bandit_campaign.pool.block import molecule_of
from graph_bandit_env.pools import parent_smiles

if TYPE_CHECKING:
    from rdkit.Chem.MolStandardize.rdMolStandardize import TautomerEnumerator

KEPT = 65_536  # molecules, whose tautomers take about 10 ms each


@lru_cache(maxsize=KEPT)
def tautomers(smiles: str) -> tuple[str, ...]:
    """Return the canonical SMILES of the tautomers of the parent, including itself. Some differ in `parent_of`."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        every = _enumerator().Enumerate(molecule_of(parent_smiles(smiles)))
        return tuple(map(Chem.MolToSmiles, every))


@lru_cache(maxsize=KEPT)
def parent_of(smiles: str) -> str:
    """Return the standardized parent of a SMILES, which all forms of a molecule share.

    It is the canonical tautomer (RDKit's MolStandardize) of `parent_smiles`. Stereoisomers and isotopes have different
    parents.
    """
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        _, *racemate = (parent := parent_smiles(smiles)).split(maxsplit=1)  # the extension
        return " ".join([Chem.MolToSmiles(_enumerator().Canonicalize(molecule_of(parent))), *racemate])


def _enumerator() -> TautomerEnumerator:
    from rdkit.Chem.MolStandardize import rdMolStandardize

    enumerator = rdMolStandardize.TautomerEnumerator()
    enumerator.SetRemoveSp3Stereo(False)  # stereoisomers are different molecules
    enumerator.SetRemoveBondStereo(False)
    return enumerator
