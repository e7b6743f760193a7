"""Structural descriptors of molecules, and the scales on which agents compare them.

This package does not import torch, so that processes that prepare pools stay small.
"""

from agents.descriptors.counts import BINS, Counts
from agents.descriptors.descriptors import (
    DESCRIPTORS,
    FINGERPRINTS,
    NUMBERS,
    Descriptors,
    compute_descriptors,
    mask_atoms,
)
from agents.descriptors.encoders import find_encoder
from agents.descriptors.scales import Moments, Ranks, Scales

__all__ = [
    "BINS",
    "DESCRIPTORS",
    "FINGERPRINTS",
    "NUMBERS",
    "Counts",
    "Descriptors",
    "Moments",
    "Ranks",
    "Scales",
    "compute_descriptors",
    "find_encoder",
    "mask_atoms",
]
