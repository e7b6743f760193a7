"""Traits of molecules, which agents compute from structures alone, and the scales on which they compare them."""

from agents.molecule.traits.counts import BINS, Counts, Kind
from agents.molecule.traits.molecules import Molecules
from agents.molecule.traits.scales import FARTHEST, Moments, Ranks, Scale, Scales
from agents.molecule.traits.traits import FINGERPRINTS, NUMBERS, TRAITS, Traits, compute_traits, read_molecules

__all__ = [
    "BINS",
    "FARTHEST",
    "FINGERPRINTS",
    "NUMBERS",
    "TRAITS",
    "Counts",
    "Kind",
    "Molecules",
    "Moments",
    "Ranks",
    "Scale",
    "Scales",
    "Traits",
    "compute_traits",
    "read_molecules",
]
