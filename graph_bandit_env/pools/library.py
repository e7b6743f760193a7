"""A library of a few thousand real molecules without a download: scaffolds with substituents."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from graph_bandit_env.checks import check_choice
from graph_bandit_env.extras import require
from graph_bandit_env.pools.molecule_set import MoleculeSet
from graph_bandit_env.pools.molecule_sources import from_smiles

if TYPE_CHECKING:
    from rdkit.Chem import Mol

# Each scaffold has two positions for substituents, which are bonded by their first atom.
SCAFFOLDS = (
    "c1cc({0})ccc1{1}",
    "c1c({0})cccc1{1}",
    "c1cc({0})cnc1{1}",
    "c1nc({0})ncc1{1}",
    "c1cc({0})sc1{1}",
    "c1cc({0})oc1{1}",
    "c1c({0})[nH]nc1{1}",
    "c1c({0})noc1{1}",
    "c1cc2cc({0})ccc2nc1{1}",
    "c1cc2c(cc1{0})[nH]c({1})n2",
    "c1cc2c(cc1{0})cc({1})[nH]2",
    "c1cc2c(cc1{0})oc({1})c2",
    "O=C(Nc1ccc({0})cc1)c1ccc({1})cc1",
    "O=S(=O)(Nc1ccc({0})cc1)c1ccc({1})cc1",
    "c1cc({0})ccc1Oc1ccc({1})cc1",
    "C1CN({0})CCN1c1ccc({1})cc1",
)
SUBSTITUENTS = (  # their rings have number 9, as scaffold rings with other numbers may be open
    "C",
    "CC",
    "C(C)C",
    "C9CC9",
    "CO",
    "CCO",
    "CCN",
    "CN(C)C",
    "C(F)(F)F",
    "C(=O)O",
    "C(=O)N",
    "C(=O)OC",
    "CC#N",
    "CC(=O)N",
    "Cc9ccccc9",
    "Cc9ccncc9",
    "CC9CCOCC9",
    "CN9CCOCC9",
)
Property = Literal["qed", "logp", "tpsa"]


def enumerate_library(reward: Property = "qed") -> MoleculeSet:
    """Enumerate all molecules of a scaffold and two substituents, with a computed property as target.

    Args:
        reward: "qed" (drug-likeness, Bickerton et al. 2012), "logp" (Wildman & Crippen 1999) or "tpsa" (topological
            polar surface area in square angstroms, Ertl et al. 2000).

    Returns:
        The molecules without duplicates, in a fixed order.

    Raises:
        MissingExtraError: if RDKit is not installed (the extra `chem` installs it).
        ValueError: if the property is unknown.
    """
    require("rdkit", "The library of molecules")
    from rdkit import Chem

    pairs = itertools.product(SCAFFOLDS, SUBSTITUENTS, SUBSTITUENTS)
    smiles = [scaffold.format(first, second) for scaffold, first, second in pairs]
    unique = list(dict.fromkeys(Chem.MolToSmiles(Chem.MolFromSmiles(text)) for text in smiles))
    return from_smiles(unique, compute_property(reward, unique))


def compute_property(name: str, smiles: Sequence[str]) -> list[float]:
    """Compute a property of some molecules.

    Args:
        name: as `reward` of `enumerate_library`.
        smiles: K canonical SMILES.

    Raises:
        ValueError: if the property is unknown.
    """
    from rdkit import Chem
    from rdkit.Chem import QED, Crippen, rdMolDescriptors

    properties: dict[str, Callable[[Mol], float]] = {
        "qed": QED.qed,
        "logp": Crippen.MolLogP,  # type: ignore[attr-defined]
        "tpsa": rdMolDescriptors.CalcTPSA,
    }
    check_choice("reward", name, tuple(properties))
    return [float(properties[name](Chem.MolFromSmiles(text))) for text in smiles]
