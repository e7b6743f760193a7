"""Rate molecules that an agent was not given, such as those of a pool that is too large for memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.molecule.parts import MoleculeSettings, make_parts
from agents.process.kernels import Mixture
from agents.process.rater import JointRating, PosteriorRater, Rating
from agents.traits import Scales, Traits
from gntk import one_thread

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Others:
    """Molecules that were not given to the agent."""

    traits: Traits
    columns: Floats | None
    smiles: Sequence[str]

    def __getitem__(self, block: slice) -> Others:
        columns = None if self.columns is None else self.columns[block]
        return Others(self.traits.take(np.arange(block.start, block.stop)), columns, self.smiles[block])


@dataclass(frozen=True, eq=False, kw_only=True)
class Rater(PosteriorRater[Others]):
    """Rate molecules by the posterior of an agent, which `MoleculeAgent.rater` makes.

    It holds the measured molecules and nothing of the others.
    """

    settings: MoleculeSettings
    """Settings of the agent."""
    traits: Traits
    """Traits of the q molecules with results or bounds, of rewards or of sources."""
    columns: Floats | None
    """`(q, c)`. Their columns; None: there are none."""
    scales: Scales
    """The scales of the pool."""
    smiles: tuple[str, ...]
    """SMILES of the q molecules, by which they are known again where sources count."""
    seed: int
    """Chooses among molecules with equal ratings, in `agents.beliefs.short_list`."""

    @one_thread()
    def __call__(self, traits: Traits, columns: Floats | None = None, smiles: Sequence[str] = ()) -> Rating:
        """Rate other molecules of the pool, in blocks, on one thread.

        Args:
            traits: traits of n molecules; they have at least those of the agent.
            columns: `(n, c)`, NaN where a value is not known; None: there are none.
            smiles: their n SMILES, which are needed where sources count.

        Raises:
            ValueError: if traits or columns are not those that the agent knows, or SMILES are missing.
        """
        return self.rate(self._check(traits, columns, smiles), len(traits))

    @one_thread()
    def joint(self, traits: Traits, columns: Floats | None = None, smiles: Sequence[str] = ()) -> JointRating:
        """Rate other molecules jointly; arguments and errors are those of a call."""
        return self.rate_jointly(self._check(traits, columns, smiles))

    @one_thread()
    def kernel(self, first: Traits, second: Traits) -> Floats:
        """Return the kernel between molecules without columns, `(n, m)`, with the weights of the agent.

        Raises:
            ValueError: if traits are not those that the agent knows, or it knows columns.
        """
        given = [self._check(traits, None, [""] * len(traits)).traits for traits in (first, second)]
        mixture = mix(self.settings, Traits.stack(given), None, self.scales, self.weights)
        rows, index = torch.arange(len(first) + len(second)).split([len(first), len(second)])
        return mixture.columns(rows, index).numpy()

    @property
    def known(self) -> int:
        """Return q."""
        return len(self.traits)

    def describe(self, given: Others) -> tuple[Mixture, Tensor]:
        """Return the kernel of the molecules with results and then others, and where these others stand."""
        columns = None if self.columns is None or given.columns is None else [self.columns, given.columns]
        both = None if columns is None else np.concatenate(columns)
        mixture = mix(self.settings, Traits.stack([self.traits, given.traits]), both, self.scales, self.weights)
        others = torch.arange(self.known, self.known + len(given.traits))
        if self.links:
            places = {text: place for place, text in enumerate(self.smiles)}
            others = torch.tensor([places.get(text, self.known + k) for k, text in enumerate(given.smiles)])
        return mixture, others

    def _check(self, traits: Traits, columns: Floats | None, smiles: Sequence[str]) -> Others:
        """Refuse what the agent does not know; return the traits that it knows, with the rest."""
        if self.links and len(smiles) != len(traits):
            raise ValueError(f"Expected {len(traits)} SMILES, since sources count. Got {len(smiles)}.")
        count, expected = (0 if numbers is None else numbers.shape[1] for numbers in (columns, self.columns))
        given = replace(traits.only(self.traits.names), left_out=self.traits.left_out)
        if count != expected or (columns is not None and len(columns) != len(traits)):
            shape = None if columns is None else columns.shape
            raise ValueError(f"Expected columns of shape `({len(traits)}, {expected})`. Got `{shape}`.")
        return Others(given, columns, smiles)


def mix(
    settings: MoleculeSettings, traits: Traits, columns: Floats | None, scales: Scales, weights: Sequence[float]
) -> Mixture:
    """Return the kernel of some molecules of a pool, with weights that were learnt."""
    return Mixture(make_parts(settings, traits, columns, scales, keeps=False)[0], weights)
