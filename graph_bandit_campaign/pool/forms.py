"""Recognise a molecule in another form: as a salt, charged, or as a tautomer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from graph_bandit_campaign.pool.block import molecule_of
from graph_bandit_campaign.pool.prepared.pool import Place, PreparedPool
from graph_bandit_env.pools import parent_smiles
from graph_bandit_env.tables import split_entry

if TYPE_CHECKING:
    from rdkit.Chem.MolStandardize.rdMolStandardize import TautomerEnumerator

ATOM = re.compile(r"\[\d*([A-Z][a-z]?|[a-z]{1,2})[^\]]*\]|(Cl|Br|[BCNOPSFIbcnops])")
NONMETALS = frozenset({"B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "Ge", "As", "Se", "Br", "Te", "I", "At"})
KEPT = 65_536  # molecules, of each of which the skeleton takes 0.3 ms, and the canonical tautomer far more


def find_forms(pool: PreparedPool, smiles: Collection[str]) -> set[Place]:
    """Return part and row of the molecules that are tautomers of others, by their canonical SMILES.

    `Parents` tells which of them are forms of these.

    Args:
        pool: the pool.
        smiles: canonical SMILES of molecules that the pool does not have.
    """
    _, found = pool.find((), sorted({tautomer for text in smiles for tautomer in tautomers(text)}))
    return set(found.values())


def _formulas(smiles: str) -> set[tuple[str, ...]]:
    """Return the elements of the atoms of each fragment; forms of a molecule have one in common, their parent's.

    Metals are left out, which a parent may have lost, and hydrogen.
    """
    fragments = (ATOM.findall(fragment) for fragment in split_entry(smiles)[0].split("."))
    elements = ([(a or b).capitalize() for a, b in atoms] for atoms in fragments)
    return {tuple(sorted(element for element in some if element in NONMETALS)) for some in elements}


class Parents:
    """Molecules that can be found by their standardised parent.

    It is the canonical tautomer (RDKit's MolStandardize) of `parent_smiles`. Stereoisomers and isotopes have different
    parents.

    Args:
        smiles: canonical SMILES of the molecules.
    """

    def __init__(self, smiles: Iterable[str]) -> None:
        self.smiles = tuple(smiles)

    def find(self, smiles: str) -> list[str]:
        """Return the molecules with the same parent as a SMILES: all such have equal elements and bonds."""
        likely = dict.fromkeys(chain.from_iterable(self._alike.get(formula, ()) for formula in _formulas(smiles)))
        alike = (text for text in likely if skeleton(text) == skeleton(smiles))
        return [text for text in alike if parent_of(text) == parent_of(smiles)]

    @cached_property
    def _alike(self) -> dict[tuple[str, ...], list[str]]:
        """Molecules by the elements of each fragment, which are read at once where a skeleton takes 0.3 ms."""
        alike: dict[tuple[str, ...], list[str]] = {}
        for text in self.smiles:
            for formula in _formulas(text):
                alike.setdefault(formula, []).append(text)
        return alike


@lru_cache(maxsize=KEPT)
def skeleton(smiles: str) -> str:
    """Return the elements and bonded pairs of the largest fragment of the parent, which all forms have in common."""
    from rdkit import Chem
    from rdkit.Chem.rdMolHash import HashFunction, MolHash

    fragments = Chem.GetMolFrags(molecule_of(parent_smiles(smiles)), asMols=True)
    largest = max(fragments, key=Chem.Mol.GetNumAtoms)
    Chem.RemoveStereochemistry(largest)
    return MolHash(largest, HashFunction.ElementGraph)


def tautomers(smiles: str) -> list[str]:
    """Return the canonical SMILES of the tautomers of the parent, itself included."""
    from rdkit import Chem, rdBase

    cells = split_entry(smiles)[1]
    with rdBase.BlockLogs():
        every = _enumerator().Enumerate(molecule_of(parent_smiles(smiles)))
        return [Chem.MolToSmiles(tautomer) + cells for tautomer in every]


@lru_cache(maxsize=KEPT)
def parent_of(smiles: str) -> str:
    """Return the standardised parent of a SMILES, by which `Parents` finds molecules."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        _, *racemate = (parent := parent_smiles(smiles)).split(maxsplit=1)  # the extension, and cells of an entry
        return " ".join([Chem.MolToSmiles(_enumerator().Canonicalize(molecule_of(parent))), *racemate])


def _enumerator() -> TautomerEnumerator:
    from rdkit.Chem.MolStandardize import rdMolStandardize

    enumerator = rdMolStandardize.TautomerEnumerator()
    enumerator.SetRemoveSp3Stereo(False)  # stereoisomers are different molecules
    enumerator.SetRemoveBondStereo(False)
    return enumerator
