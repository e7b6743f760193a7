"""Agents for pools of molecules: a Gaussian process on fingerprints, properties and descriptors."""

from agents.descriptors import DESCRIPTORS, Descriptors, Moments, Ranks, Scales, compute_descriptors, mask_atoms
from agents.molecule.agent import MoleculeAgent, molecule
from agents.molecule.parts import MoleculeSettings, weights_of
from agents.molecule.rater import Rater

__all__ = [
    "DESCRIPTORS",
    "Descriptors",
    "MoleculeAgent",
    "MoleculeSettings",
    "Moments",
    "Ranks",
    "Rater",
    "Scales",
    "compute_descriptors",
    "mask_atoms",
    "molecule",
    "weights_of",
]
