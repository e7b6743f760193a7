"""Properties of molecules that limits may name, computed by RDKit. No numpy."""

from __future__ import annotations

from typing import NamedTuple


class Property(NamedTuple):
    """A property that RDKit computes."""

    module: str
    """Module of RDKit."""
    function: str
    """Function that takes a molecule."""
    cost: int
    """Time for 1,000 molecules of 25 atoms, in ms: only its order counts, so that the cheap ones come first."""


PROPERTIES = {
    "charge": Property("rdmolops", "GetFormalCharge", 1),
    "heavy_atoms": Property("Lipinski", "HeavyAtomCount", 1),
    "heteroatoms": Property("rdMolDescriptors", "CalcNumHeteroatoms", 1),
    "mw": Property("Descriptors", "MolWt", 2),
    "exact_mass": Property("Descriptors", "ExactMolWt", 2),
    "rings": Property("rdMolDescriptors", "CalcNumRings", 1),
    "aromatic_rings": Property("rdMolDescriptors", "CalcNumAromaticRings", 2),
    "fraction_sp3": Property("rdMolDescriptors", "CalcFractionCSP3", 2),
    "tpsa": Property("rdMolDescriptors", "CalcTPSA", 8),
    "hbd": Property("rdMolDescriptors", "CalcNumHBD", 10),
    "hba": Property("rdMolDescriptors", "CalcNumHBA", 20),
    "rotatable_bonds": Property("rdMolDescriptors", "CalcNumRotatableBonds", 80),
    "stereocentres": Property("rdMolDescriptors", "CalcNumAtomStereoCenters", 30),
    "molar_refractivity": Property("Crippen", "MolMR", 230),
    "logp": Property("Crippen", "MolLogP", 230),
    "qed": Property("QED", "qed", 1000),
}


def find_property(name: str) -> str:
    """Return the name of a property, whose capitals do not count; an empty text if there is none."""
    return name.casefold() if name.casefold() in PROPERTIES else ""
