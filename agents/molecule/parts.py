"""Parts of the kernel on molecules, each with the weight that it has before any result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.beliefs.posterior import Kernel
from agents.molecule.descriptors import compute_descriptors, compute_properties
from agents.molecule.fingerprints import FingerprintCounts, read_molecules
from agents.molecule.numbers import GaussianKernel, LinearKernel, by_rank, standardise
from agents.molecule.settings import MoleculeSettings

AT_A_TIME = 1000  # molecules that RDKit reads at a time: 50,000 of them take more than a gigabyte
WIDE, NARROW = 2.0, 0.7  # of Gaussian kernels: the mixture of both stands for all widths between


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the kernel."""

    name: str
    """What it compares; parts of one name differ in their width."""
    weight: float
    """Its weight before any result."""
    kernel: Kernel
    """Its kernel, which is 1 for a molecule and itself."""


@dataclass(frozen=True, eq=False)
class Description:
    """Parts of the kernel, and the molecules that they describe."""

    smiles: Sequence[str]
    """SMILES of K molecules."""
    columns: NDArray[np.float64] | None
    """`(K, c)`. The user's own numbers; None: there are none."""
    parts: Sequence[Part]
    """The parts of the kernel."""

    def is_of(self, smiles: Sequence[str], columns: NDArray[np.float64] | None) -> bool:
        """Return whether it describes these molecules with these numbers."""
        if (columns is None) != (self.columns is None) or smiles != self.smiles:
            return False
        return columns is None or self.columns is None or np.array_equal(columns, self.columns, equal_nan=True)


def make_parts(
    settings: MoleculeSettings, smiles: Sequence[str], columns: NDArray[np.float64] | None = None
) -> list[Part]:
    """Describe the molecules, and return the parts of positive weight.

    The weights of `settings` are those of what is compared; parts of one name share it. All weights add up to 1.

    Args:
        settings: hold the weights.
        smiles: SMILES of K molecules.
        columns: `(K, c)`, the user's own numbers, NaN where not known; None: there are none.

    Raises:
        ImportError: if RDKit is not installed.
        ValueError: if RDKit cannot read a SMILES, or no part is left.
    """
    count = partial(FingerprintCounts, stereo=settings.stereo)
    makers: dict[str, tuple[float, Callable[..., Any]]] = {
        "atom pairs": (settings.pairs_weight, partial(count, kind="atom_pairs")),
        "neighbourhoods": (settings.morgan_weight, partial(count, kind="morgan")),
        "torsions": (settings.torsions_weight, partial(count, kind="torsions")),
        "roles of atoms": (settings.roles_weight, partial(count, kind="roles")),
        "properties": (settings.properties_weight, compute_properties),
        "descriptors": (settings.descriptors_weight, compute_descriptors),
    }
    wanted = {name: both for name, both in makers.items() if both[0] > 0}
    described: dict[str, list[Any]] = {name: [] for name in wanted}
    for start in range(0, len(smiles) if wanted else 0, AT_A_TIME):
        molecules = read_molecules(smiles[start : start + AT_A_TIME])
        for name, (_, make) in wanted.items():
            described[name].append(make(molecules))
    parts: list[Part] = []
    for name, (weight, _) in wanted.items():
        if isinstance(described[name][0], FingerprintCounts):
            parts.append(Part(name, weight, FingerprintCounts.stack(described[name])))
        else:
            parts += _on_numbers(name, weight, np.concatenate(described[name]), linear=name == "descriptors")
    if columns is not None and settings.columns_weight > 0:
        parts += _on_numbers("own columns", settings.columns_weight, by_rank(columns), linear=True)
    total = sum(part.weight for part in parts)
    if total == 0:
        raise ValueError("Expected something to compare molecules by. Got weights of 0, or numbers that all share.")
    return [Part(part.name, part.weight / total, part.kernel) for part in parts]


def _on_numbers(name: str, weight: float, values: NDArray[np.float64], linear: bool) -> list[Part]:
    """Return a wide and a narrow Gaussian kernel, and a linear one that has a fifth of the weight."""
    points = standardise(values)
    if not points.shape[1]:
        return []
    share = 0.2 * weight if linear else 0.0
    both = [Part(name, (weight - share) / 2, GaussianKernel(points, width)) for width in (WIDE, NARROW)]
    return [*both, Part(name, share, LinearKernel(points))] if linear else both
