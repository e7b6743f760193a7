"""Properties of molecules that limits may name, computed by RDKit. No numpy."""

from __future__ import annotations

# The module of RDKit, its function that takes a molecule, and the time for 1,000 molecules of 25 atoms, in ms: only the
# order of these counts, so that the cheap ones come first.
PROPERTIES = {
    "charge": ("rdmolops", "GetFormalCharge", 1),
    "heavy_atoms": ("Lipinski", "HeavyAtomCount", 1),
    "heteroatoms": ("rdMolDescriptors", "CalcNumHeteroatoms", 1),
    "mw": ("Descriptors", "MolWt", 2),
    "exact_mass": ("Descriptors", "ExactMolWt", 2),
    "rings": ("rdMolDescriptors", "CalcNumRings", 1),
    "aromatic_rings": ("rdMolDescriptors", "CalcNumAromaticRings", 2),
    "fraction_sp3": ("rdMolDescriptors", "CalcFractionCSP3", 2),
    "tpsa": ("rdMolDescriptors", "CalcTPSA", 8),
    "hbd": ("rdMolDescriptors", "CalcNumHBD", 10),
    "hba": ("rdMolDescriptors", "CalcNumHBA", 20),
    "rotatable_bonds": ("rdMolDescriptors", "CalcNumRotatableBonds", 80),
    "stereocentres": ("rdMolDescriptors", "CalcNumAtomStereoCenters", 30),
    "molar_refractivity": ("Crippen", "MolMR", 230),
    "logp": ("Crippen", "MolLogP", 230),
    "qed": ("QED", "qed", 1000),
}


def find_property(name: str) -> str:
    """Return the name of a property, whose capitals do not count; an empty text if there is none."""
    return name.casefold() if name.casefold() in PROPERTIES else ""
