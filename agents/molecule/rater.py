"""Rate molecules that an agent was not given, such as those of a pool that is too large for memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.posterior import DualPosterior
from agents.beliefs.rewards import Targets
from agents.molecule.mixture import Mixture
from agents.molecule.parts import make_parts
from agents.molecule.settings import MoleculeSettings
from agents.process.rating import JointRating, Rating
from agents.process.sources import Links, link
from agents.traits import Scales, Traits
from gntk import one_thread

Floats = NDArray[np.float64]

STACKED = 2048  # molecules that are joined with those measured at a time
AT_A_TIME = 256  # of these, rated at a time: with 2,000 results, in matrices of 4 MB


@dataclass(frozen=True, eq=False, kw_only=True)
class Rater:
    """Rate molecules by the posterior of an agent, which `MoleculeAgent.rater` makes.

    It holds the measured molecules and nothing of the others, and can be pickled and sent to where they are.
    """

    settings: MoleculeSettings
    """Settings of the agent."""
    traits: Traits
    """Traits of the q molecules with results or bounds, of rewards or of sources."""
    columns: Floats | None
    """`(q, c)`. Their columns; None: there are none."""
    scales: Scales
    """The scales of the pool."""
    weights: tuple[float, ...]
    """Weights of the parts of the kernel."""
    posterior: DualPosterior
    """The posterior given all results, on these q molecules."""
    targets: Targets
    """The scale on which values are modelled."""
    noise: float
    """Noise variance of one more result, in squared units of the targets."""
    links: Links | None
    """How results of sources go along with the rewards; None: they do not count."""
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
        given = self._check(traits, columns, smiles)
        mean, std = np.empty(len(traits)), np.empty(len(traits))
        for start in range(0, len(traits), STACKED):
            end = min(start + STACKED, len(traits))
            block = slice(start, end)
            some = None if columns is None else columns[block]
            posterior, others = self._join(given.between(start, end), some, smiles[block])
            means, variances = posterior.mean_and_variance(others, AT_A_TIME)
            mean[block], std[block] = means.numpy(), variances.sqrt().numpy()
        return Rating(mean, std, self.targets, self.noise)

    @one_thread()
    def joint(self, traits: Traits, columns: Floats | None = None, smiles: Sequence[str] = ()) -> JointRating:
        """Rate other molecules jointly; arguments and errors are those of a call."""
        posterior, others = self._join(self._check(traits, columns, smiles), columns, smiles)
        return JointRating(posterior.mean_of(posterior.explained(others)), posterior.covariance(others), self.targets)

    @one_thread()
    def kernel(self, first: Traits, second: Traits) -> Floats:
        """Return the kernel between molecules without columns, `(n, m)`, with the weights of the agent.

        Raises:
            ValueError: if traits are not those that the agent knows, or it knows columns.
        """
        given = [self._check(traits, None, [""] * len(traits)) for traits in (first, second)]
        mixture = mix(self.settings, Traits.stack(given), None, self.scales, self.weights)
        rows, index = torch.arange(len(first) + len(second)).split([len(first), len(second)])
        return mixture.columns(rows, index).numpy()

    def _check(self, traits: Traits, columns: Floats | None, smiles: Sequence[str]) -> Traits:
        """Refuse what the agent does not know; return the traits that it knows."""
        if self.links and len(smiles) != len(traits):
            raise ValueError(f"Expected {len(traits)} SMILES, since sources count. Got {len(smiles)}.")
        count, expected = (0 if numbers is None else numbers.shape[1] for numbers in (columns, self.columns))
        given = replace(traits.only(self.traits.names), left_out=self.traits.left_out)
        if count != expected or (columns is not None and len(columns) != len(traits)):
            shape = None if columns is None else columns.shape
            raise ValueError(f"Expected columns of shape `({len(traits)}, {expected})`. Got `{shape}`.")
        return given

    def _join(self, traits: Traits, columns: Floats | None, smiles: Sequence[str]) -> tuple[DualPosterior, Tensor]:
        """Join some molecules with those measured: return the posterior on all of them, and where these stand."""
        both = None if columns is None or self.columns is None else np.concatenate([self.columns, columns])
        mixture = mix(self.settings, Traits.stack([self.traits, traits]), both, self.scales, self.weights)
        known, numbers = len(self.traits), self.posterior.seen
        others = torch.arange(known, known + len(traits))
        if self.links:
            others = torch.tensor([self._places.get(text, known + k) for k, text in enumerate(smiles)])
            numbers = numbers // known * (known + len(traits)) + numbers % known
        kernel = link(mixture, known + len(traits), self.links)
        return self.posterior.within(kernel, numbers), others

    @cached_property
    def _places(self) -> dict[str, int]:
        return {text: place for place, text in enumerate(self.smiles)}


def mix(
    settings: MoleculeSettings, traits: Traits, columns: Floats | None, scales: Scales, weights: Sequence[float]
) -> Mixture:
    """Return the kernel of some molecules of a pool, with weights that were learnt."""
    return Mixture([part.kernel for part in make_parts(settings, traits, columns, scales)], weights)
