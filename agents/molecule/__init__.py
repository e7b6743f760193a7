"""Agents for pools of molecules: a Gaussian process on fingerprints, properties and descriptors."""

from agents.molecule.agent import MoleculeAgent, molecule
from agents.molecule.parts import MoleculeSettings, weights_of
from agents.molecule.rater import Rater
from agents.traits import TRAITS, Moments, Ranks, Scales, Traits, compute_traits, mask_atoms

__all__ = [
    "TRAITS",
    "MoleculeAgent",
    "MoleculeSettings",
    "Moments",
    "Ranks",
    "Rater",
    "Scales",
    "Traits",
    "compute_traits",
    "mask_atoms",
    "molecule",
    "weights_of",
]
