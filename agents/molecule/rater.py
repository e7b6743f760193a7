"""Rate molecules outside the agent's set, such as those of a pool that is too large for memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.descriptors import Descriptors, Scales
from agents.molecule.parts import MoleculeSettings, make_parts
from agents.process.kernels import Mixture
from agents.process.rater import JointRating, PosteriorRater, Rating
from gntk import one_thread

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Others:
    """Molecules outside the agent's set."""

    descriptors: Descriptors
    columns: Floats | None
    smiles: Sequence[str]

    def __getitem__(self, block: slice) -> Others:
        columns = None if self.columns is None else self.columns[block]
        return Others(self.descriptors.take(np.arange(block.start, block.stop)), columns, self.smiles[block])


@dataclass(frozen=True, eq=False, kw_only=True)
class Rater(PosteriorRater[Others]):
    """Rate molecules by the posterior of an agent. `MoleculeAgent.rater` makes it.

    It stores the measured molecules only.
    """

    settings: MoleculeSettings
    """Settings of the agent."""
    descriptors: Descriptors
    """Descriptors of the q molecules with results or bounds, of rewards or of sources."""
    columns: Floats | None
    """`(q, c)`. Their columns, or None."""
    scales: Scales
    """The scales of the pool."""
    smiles: tuple[str, ...]
    """SMILES of the q molecules, used to recognise them if sources count."""
    seed: int
    """Breaks ties between equal ratings, in `agents.beliefs.short_list`."""

    @one_thread()
    def __call__(self, descriptors: Descriptors, columns: Floats | None = None, smiles: Sequence[str] = ()) -> Rating:
        """Rate other molecules of the pool, in blocks, on one thread.

        Args:
            descriptors: descriptors of n molecules, including at least those of the agent.
            columns: `(n, c)`, NaN for unknown values, or None.
            smiles: their n SMILES, required if sources count.

        Raises:
            ValueError: if descriptors or columns do not match those of the agent, or SMILES are missing.
        """
        return self.rate(self._check(descriptors, columns, smiles), len(descriptors))

    @one_thread()
    def joint(self, descriptors: Descriptors, columns: Floats | None = None, smiles: Sequence[str] = ()) -> JointRating:
        """Rate other molecules jointly, with the arguments and errors of a call."""
        return self.rate_jointly(self._check(descriptors, columns, smiles))

    @one_thread()
    def kernel(self, first: Descriptors, second: Descriptors) -> Floats:
        """Return the kernel between molecules without columns, `(n, m)`, with the weights of the agent.

        Raises:
            ValueError: if descriptors do not match those of the agent, or the agent has columns.
        """
        given = [self._check(descriptors, None, [""] * len(descriptors)).descriptors for descriptors in (first, second)]
        mixture = mix(self.settings, Descriptors.stack(given), None, self.scales, self.weights)
        rows, index = torch.arange(len(first) + len(second)).split([len(first), len(second)])
        return mixture.columns(rows, index).numpy()

    @property
    def known(self) -> int:
        """Return q."""
        return len(self.descriptors)

    def describe(self, given: Others) -> tuple[Mixture, Tensor]:
        """Return the kernel of the molecules with results followed by others, and the positions of the others."""
        columns = None if self.columns is None or given.columns is None else [self.columns, given.columns]
        both = None if columns is None else np.concatenate(columns)
        mixture = mix(
            self.settings, Descriptors.stack([self.descriptors, given.descriptors]), both, self.scales, self.weights
        )
        others = torch.arange(self.known, self.known + len(given.descriptors))
        if self.links:
            places = {text: place for place, text in enumerate(self.smiles)}
            others = torch.tensor([places.get(text, self.known + k) for k, text in enumerate(given.smiles)])
        return mixture, others

    def _check(self, descriptors: Descriptors, columns: Floats | None, smiles: Sequence[str]) -> Others:
        """Check the arguments against the agent, and return the agent's descriptors with the rest."""
        if self.links and len(smiles) != len(descriptors):
            raise ValueError(f"Expected {len(descriptors)} SMILES, since sources count. Got {len(smiles)}.")
        count, expected = (0 if numbers is None else numbers.shape[1] for numbers in (columns, self.columns))
        given = replace(descriptors.only(self.descriptors.names), left_out=self.descriptors.left_out)
        if count != expected or (columns is not None and len(columns) != len(descriptors)):
            shape = None if columns is None else columns.shape
            raise ValueError(f"Expected columns of shape `({len(descriptors)}, {expected})`. Got `{shape}`.")
        return Others(given, columns, smiles)


def mix(
    settings: MoleculeSettings,
    descriptors: Descriptors,
    columns: Floats | None,
    scales: Scales,
    weights: Sequence[float],
) -> Mixture:
    """Return the kernel of some molecules of a pool, with learned weights."""
    return Mixture(make_parts(settings, descriptors, columns, scales, keeps=False)[0], weights)
