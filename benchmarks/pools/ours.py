"""An agent of the registry as a player of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.contract.protocol import Agent, BatchAgent
from benchmarks.pools.screening import Floats, Indices
from graph_bandit_env.pools.molecule_set import MoleculeSet


class AgentPlayer:
    """Tell an agent each result once, and ask it for a batch.

    Args:
        agent: a `BatchAgent` chooses a batch; of any other `select_action` chooses one molecule after the other,
            without any results in between.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent: Any = agent

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Reset the agent."""
        self._agent.reset(None, seed=seed, graph_set=molecules)
        self._num_molecules, self._told = len(molecules), 0

    def choose(self, measured: Indices, values: Floats, count: int) -> Sequence[int]:
        """Return `count` molecules, after the agent was told what is new."""
        self._agent.update(None, measured[self._told :], values[self._told :])
        self._told = len(measured)
        mask = np.ones(self._num_molecules, np.int8)
        mask[measured] = 0
        if isinstance(self._agent, BatchAgent):
            return self._agent.select_batch(None, count, mask)
        chosen: list[int] = []
        for _ in range(count):
            chosen.append(int(self._agent.select_action(None, mask)))
            mask[chosen[-1]] = 0
        return chosen
