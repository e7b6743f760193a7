"""The agent of a campaign, trained anew from its measurements, and what it expects."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

import registry
from agents.contract import Agent, BatchAgent, MoleculeSetLike
from graph_bandit_campaign.graph_sets import PoolLike
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_lab import AgentSpec


class Learner:
    """An agent that depends on the measurements and the seed alone, however it came to them.

    Args:
        graph_set: K graphs.
        spec: the agent as on the command line; None: the best one for this kind of graphs.

    Raises:
        ValueError: if there is no such agent, or it cannot play here.
    """

    spec: str
    """The agent as on the command line."""
    algorithm: int
    """Version of its algorithm; another one may suggest other graphs from equal measurements."""

    def __init__(self, graph_set: PoolLike, spec: str | None) -> None:
        molecules = isinstance(graph_set, MoleculeSetLike)
        self.graph_set = graph_set
        self.spec = spec or ("molecule-ucb" if molecules else "gnn-ts:steps=1000")
        name = AgentSpec.parse(self.spec).name
        if registry.agent_needs(name) == "molecules" and not molecules:
            raise ValueError(f"Agent `{name}` needs molecules. Choose another, or make a MoleculeSet.")
        self.algorithm = int(getattr(self._make(), "algorithm", 1))
        self._learnt: tuple[object, Agent] | None = None

    def learn(self, state: CampaignState, places: Sequence[int], fresh: bool = False) -> Agent:
        """Return the agent that has learnt all measurements.

        Args:
            state: of the campaign.
            places: index of the graph of each measurement.
            fresh: whether the agent must not have drawn anything yet; else it may be one that was asked before.
        """
        measured = state.measured
        key = tuple((one.id, one.value) for one in measured)
        if fresh or self._learnt is None or self._learnt[0] != key:
            agent = self._make()
            sequence = np.random.SeedSequence([state.seed, len(measured)])
            agent.reset(None, seed=int(sequence.generate_state(1)[0]), graph_set=self.graph_set)
            if measured:
                sign = 1.0 if state.maximize else -1.0
                agent.update(None, np.array(places), np.array([sign * one.value for one in measured]))
            self._learnt = key, agent
        return self._learnt[1]

    def _make(self) -> Agent:
        spec = AgentSpec.parse(self.spec)
        return registry.make_agent(spec.name, **spec.settings)


def expect(agent: Agent, places: Sequence[int], ids: Sequence[str], state: CampaignState) -> tuple[Suggestion, ...]:
    """Say what an agent expects of some graphs.

        P(beats the best) = Phi(+-(mean - best) / std)

    Nothing but their names, if it does not predict, or before two values differ: nobody knows their unit then.

    Args:
        agent: which was told rewards, the values or (where small ones are wanted) their negatives.
        places: indices of the graphs.
        ids: names of all graphs.
        state: of the campaign.
    """
    values = state.means().values()
    if not isinstance(agent, BatchAgent) or len(set(values)) < 2:
        return tuple(Suggestion(ids[k]) for k in places)
    found, sign = agent.predict(), 1.0 if state.maximize else -1.0
    best = max(sign * value for value in values)
    expected = []
    for k in places:
        reward, std = float(found.mean[k]), float(found.std[k])
        beats = NormalDist().cdf((reward - best) / max(std, 1e-300))
        expected.append(Suggestion(ids[k], sign * reward, std, found.noise_std, beats))
    return tuple(expected)
