"""Sets of molecules with precomputed descriptors for agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agents.descriptors import Descriptors, Scales, compute_descriptors
from graph_bandit_env import MoleculeSet


class DescribedMolecules(MoleculeSet):
    """K different molecules with their descriptors, and optionally with the scales of a larger pool.

    Use `of` to make it from another set.
    """

    descriptors: Descriptors
    """Descriptors, each computed from the structure of one molecule."""
    scales: Scales | None
    """Scales of the numbers. None means the scales of these molecules."""

    @classmethod
    def of(cls, molecules: MoleculeSet, descriptors: Descriptors, scales: Scales | None = None) -> Self:
        """Return the same molecules with their descriptors and scales."""
        described = cls.__new__(cls)
        described.__dict__.update(molecules.__dict__)
        described.descriptors, described.scales = descriptors, scales
        return described

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> DescribedMolecules:
        """Return the molecules with some indices, in this order, with all their data."""
        return DescribedMolecules.of(super().take(index), self.descriptors.take(index), self.scales)

    def join(self, other: MoleculeSet) -> DescribedMolecules:
        """Append the molecules of another set that are not in this one, see `MoleculeSet.join`.

        Their descriptors are computed. They must not be molecules of the larger pool, since they count in the scales.
        """
        joined = super().join(other)
        added = joined.smiles[len(self) :]
        if not added:
            return DescribedMolecules.of(joined, self.descriptors, self.scales)
        mine, scales = self.descriptors, self.scales
        more = compute_descriptors(added, mine.names, mine.stereo, mine.left_out)
        if scales is not None:
            columns = None if scales.ranks is None else joined.columns[len(self) :]
            scales = scales.merge(Scales.of(more, columns))
        return DescribedMolecules.of(joined, Descriptors.stack([mine, more]), scales)
