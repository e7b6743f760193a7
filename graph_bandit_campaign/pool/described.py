"""Sets of molecules that bring along what agents would compute of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agents.descriptors import Descriptors, Scales, compute_descriptors
from graph_bandit_env import MoleculeSet


class DescribedMolecules(MoleculeSet):
    """K different molecules with their descriptors, and perhaps with the scales of a larger pool that they are from.

    `of` makes it from another set.
    """

    descriptors: Descriptors
    """What is computed from the structure of each molecule alone."""
    scales: Scales | None
    """The scales on which their numbers are compared; None: those of these molecules."""

    @classmethod
    def of(cls, molecules: MoleculeSet, descriptors: Descriptors, scales: Scales | None = None) -> Self:
        """Return the same molecules with their descriptors, and with scales."""
        described = cls.__new__(cls)
        described.__dict__.update(molecules.__dict__)
        described.descriptors, described.scales = descriptors, scales
        return described

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> DescribedMolecules:
        """Return the molecules with these indices, in this order, with all that is known of them."""
        return DescribedMolecules.of(super().take(index), self.descriptors.take(index), self.scales)

    def join(self, other: MoleculeSet) -> DescribedMolecules:
        """Return these molecules, followed by those of another set that are not here; see `MoleculeSet.join`.

        The descriptors of those are computed. They count in the scales: they must not be molecules of the larger pool.
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
