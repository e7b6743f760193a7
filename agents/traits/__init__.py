"""Traits of molecules, which agents compute from structures alone, and the scales on which they compare them.

This package does not import torch, so that processes that prepare pools stay small.
"""

from agents.traits.counts import BINS, Counts
from agents.traits.encoders import find_encoder
from agents.traits.scales import Moments, Ranks, Scales
from agents.traits.traits import FINGERPRINTS, NUMBERS, TRAITS, Traits, compute_traits, mask_atoms

__all__ = [
    "BINS",
    "FINGERPRINTS",
    "NUMBERS",
    "TRAITS",
    "Counts",
    "Moments",
    "Ranks",
    "Scales",
    "Traits",
    "compute_traits",
    "find_encoder",
    "mask_atoms",
]
