"""The agent with an exact Gaussian process of one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self, TypeVar, cast

import torch
from torch import Tensor
from torch_geometric.data import Batch

from agents.beliefs.rules.rule import AcquisitionRule
from agents.kernel.settings import OneKernelSettings
from agents.process import GraphAgent, GraphDescription, Reading

P = TypeVar("P", bound=OneKernelSettings)
Read = Callable[[Batch, int], Reading]
"""A function that reads the graphs of `reset`, and takes the seed of the agent's weights, which it may not need."""

LOOKED_AT = 30  # graphs that all others are compared with, to find those that look equal
MOST_LOOKED_AT = 2000  # graphs of which this is found out


class KernelAgent(GraphAgent[P]):
    """Play by one kernel, whose scale is learnt with the noise.

        k = s k_1

    Where all graphs of `reset` are equal to the kernel, each is judged by its own rewards, too.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
        read: reads the graphs of `reset` for the kernel.
    """

    algorithm = 4  # until version 3, another prior of the scale; version 2 chose another of equal graphs

    def __init__(self, settings: P, make_rule: Callable[[], AcquisitionRule], read: Read) -> None:
        super().__init__(settings, make_rule)
        self._read = read

    @property
    def described(self) -> GraphDescription:
        """Return the graphs and what is read of them.

        Raises:
            RuntimeError: before the first `reset`.
        """
        return cast(GraphDescription, super().described)

    def blank(self) -> Self:
        """Return an agent with equal settings that was told nothing."""
        return type(self)(self.settings, self._make_rule, self._read)

    def begin(self, graphs: Batch, seed: int) -> None:
        """Read the graphs with this seed, and start with nothing measured."""
        self._seed = seed
        super().begin(graphs, seed)

    def describe(self, graphs: Batch) -> GraphDescription:
        """Read the graphs in one way."""
        reading = self._read(graphs, self._seed)
        return GraphDescription.of([(1.0, reading)], graphs.num_graphs, self.settings.known_weight)

    def appearance(self) -> Tensor | None:
        """Return the kernel of some graphs with all, if there are not very many: graphs with equal rows look equal."""
        count = self.described.count
        if count > MOST_LOOKED_AT:
            return None
        some = torch.arange(count) if count <= LOOKED_AT else torch.arange(LOOKED_AT) * count // LOOKED_AT
        return self.described.parts[0].kernel.columns(some, torch.arange(count)).T
