"""Sets of molecules that bring along what agents would compute of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agents.traits import Scales, Traits, compute_traits
from graph_bandit_env import MoleculeSet


class DescribedMolecules(MoleculeSet):
    """K different molecules with their traits, and perhaps with the scales of a larger pool that they are from.

    `of` makes it from another set.
    """

    traits: Traits
    """What is computed from the structure of each molecule alone."""
    scales: Scales | None
    """The scales on which their numbers are compared; None: those of these molecules."""

    @classmethod
    def of(cls, molecules: MoleculeSet, traits: Traits, scales: Scales | None = None) -> Self:
        """Return the same molecules with their traits, and with scales."""
        described = cls.__new__(cls)
        described.__dict__.update(molecules.__dict__)
        described.traits, described.scales = traits, scales
        return described

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> DescribedMolecules:
        """Return the molecules with these indices, in this order, with all that is known of them."""
        return DescribedMolecules.of(super().take(index), self.traits.take(index), self.scales)

    def join(self, other: MoleculeSet) -> DescribedMolecules:
        """Return these molecules, followed by those of another set that are not here; see `MoleculeSet.join`.

        The traits of those are computed. They count in the scales: they must not be molecules of the larger pool.
        """
        joined = super().join(other)
        added = joined.smiles[len(self) :]
        if not added:
            return DescribedMolecules.of(joined, self.traits, self.scales)
        mine, scales = self.traits, self.scales
        more = compute_traits(added, mine.names, mine.stereo, mine.left_out)
        if scales is not None:
            columns = None if scales.ranks is None else joined.columns[len(self) :]
            scales = scales.merge(Scales.of(more, columns))
        return DescribedMolecules.of(joined, Traits.stack([mine, more]), scales)
