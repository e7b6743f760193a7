"""Build the parts of the kernel on molecules that no measurement changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from agents.molecule.descriptors import DescriptorKernel, compute_descriptors
from agents.molecule.fingerprints import FingerprintCounts, read_molecules
from agents.molecule.kernel import Kernel, TanimotoKernel
from agents.molecule.settings import MoleculeSettings

AT_A_TIME = 1000  # molecules that RDKit reads at a time


def fixed_parts(settings: MoleculeSettings, smiles: Sequence[str]) -> list[tuple[float, Kernel]]:
    """Describe the molecules, and return the parts of positive weight, each with its weight.

    Molecules are read a thousand at a time, because 50,000 RDKit molecules take more than a gigabyte.

    Raises:
        ImportError: if RDKit is not installed.
        ValueError: if RDKit cannot read a SMILES.
    """
    weights = (settings.pairs_weight, settings.morgan_weight, settings.descriptor_weight)
    described: list[list[Any]] = [[], [], []]
    for start in range(0, len(smiles), AT_A_TIME):
        molecules = read_molecules(smiles[start : start + AT_A_TIME])
        makers: tuple[Callable[[], Any], ...] = (
            partial(FingerprintCounts, molecules, "atom_pairs"),
            partial(FingerprintCounts, molecules, "morgan"),
            partial(compute_descriptors, molecules),
        )
        for parts, weight, make in zip(described, weights, makers, strict=True):
            parts += [make()] if weight > 0 else []
    pairs, morgan, values = described
    kernels: list[tuple[float, Kernel]] = [
        (weight, TanimotoKernel(FingerprintCounts.stack(parts)))
        for weight, parts in ((weights[0], pairs), (weights[1], morgan))
        if parts
    ]
    return kernels + ([(weights[2], DescriptorKernel(np.concatenate(values)))] if values else [])
