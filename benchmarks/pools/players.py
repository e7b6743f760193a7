"""Players by name: a model with a score of molecules, or an agent of the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy.stats import norm

import registry
from agents.contract import Agent, BatchAgent, Prediction
from benchmarks.pools.models.forest import Forest
from benchmarks.pools.models.tanimoto import OneHotProcess, TanimotoProcess
from benchmarks.pools.models.trend import NAMES, Trend
from benchmarks.pools.peers import PEERS, make_peer
from benchmarks.pools.screening import Floats, Indices, Player
from graph_bandit_env import GraphPool
from graph_bandit_lab import AgentSpec


class Forecaster(Protocol):
    """A model, or a player of an agent that predicts."""

    def begin(self, graphs: Any, seed: int) -> None:
        """Forget everything and take in K graphs."""

    def predict(self, measured: Indices, values: Floats) -> Prediction:
        """Return the prediction of each of the K graphs, in units of the values.

        Args:
            measured: `(t,)`, graphs in the order measured; those of earlier calls come first.
            values: `(t,)`, their values.
        """


class ModelPlayer:
    """Choose the molecules with the highest scores under a model; ties are broken at random.

    Args:
        model: predicts the values.
        score: returns scores `(K,)` of means, standard deviations without noise, and the largest value measured.
    """

    def __init__(self, model: Forecaster, score: Callable[[Floats, Floats, float], Floats]) -> None:
        self._model, self._score = model, score

    def begin(self, graphs: GraphPool, seed: int) -> None:
        """Start over, with separate random streams for model and ties."""
        of_model, of_ties = np.random.SeedSequence(seed).spawn(2)
        self._model.begin(graphs, int(of_model.generate_state(1)[0]))
        self._generator = np.random.default_rng(of_ties)

    def choose(self, measured: Indices, values: Floats, count: int) -> Indices:
        """Return the best `count` molecules among those not measured."""
        prediction = self._model.predict(measured, values)
        scores = self._score(prediction.mean, prediction.std, float(values.max()))
        left = np.setdiff1d(np.arange(len(scores)), measured)
        return left[np.lexsort((self._generator.random(len(left)), -scores[left]))[:count]]


class AgentPlayer:
    """Give an agent each result once, and ask it for a batch.

    Args:
        agent: a `BatchAgent` chooses a whole batch; any other agent chooses one graph after the other by
            `select_action`, without results in between.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent: Any = agent

    def begin(self, graphs: GraphPool, seed: int) -> None:
        """Reset the agent."""
        self._agent.reset(None, seed=seed, graph_set=graphs)
        self._num_graphs, self._num_given = len(graphs), 0

    def choose(self, measured: Indices, values: Floats, count: int) -> Sequence[int]:
        """Return `count` graphs, after giving the agent the new results."""
        self._tell(measured, values)
        mask = np.ones(self._num_graphs, np.int8)
        mask[measured] = 0
        if isinstance(self._agent, BatchAgent):
            return self._agent.select_batch(None, count, mask)
        chosen: list[int] = []
        for _ in range(count):
            chosen.append(int(self._agent.select_action(None, mask)))
            mask[chosen[-1]] = 0
        return chosen

    def predict(self, measured: Indices, values: Floats) -> Prediction:
        """Return what the agent predicts, after giving it the new results."""
        self._tell(measured, values)
        prediction: Prediction = self._agent.predict()
        return prediction

    def _tell(self, measured: Indices, values: Floats) -> None:
        self._agent.update(None, measured[self._num_given :], values[self._num_given :])
        self._num_given = len(measured)


def expected_improvement(mean: Floats, std: Floats, best: float) -> Floats:
    """Compute by how much each molecule is expected to exceed the best.

    EI = E max(f - best, 0) = (mean - best) Phi(z) + std phi(z),  z = (mean - best) / std    [Jones et al. 1998]
    """
    z = np.divide(mean - best, std, out=np.zeros_like(mean), where=std > 0)
    improvement = (mean - best) * norm.cdf(z) + std * norm.pdf(z)
    return np.where(std > 0, improvement, np.maximum(mean - best, 0.0))


MODELS: Mapping[str, Callable[[], Forecaster]] = {
    **{"forest": Forest, "tanimoto": TanimotoProcess, "onehot": OneHotProcess},
    **{name: partial(Trend, name) for name in NAMES},
}
SCORES: dict[str, Callable[[Floats, Floats, float], Floats]] = {
    "greedy": lambda mean, std, best: mean,
    "ucb": lambda mean, std, best: mean + 0.5 * std,
    "ei": expected_improvement,
}


def make_player(text: str) -> Player:
    """Make a player.

    Args:
        text: `forest-`, `tanimoto-`, a property such as `logp-`, or for slots `onehot-`, with `greedy`, `ucb` or `ei`;
            one of `PEERS`; or an agent of the registry as `name:setting=value,...`.

    Raises:
        ValueError: if the name or a setting is unknown.
        ImportError: if a peer's library is not installed.
    """
    if text in PEERS:
        return make_peer(text)
    spec = AgentSpec.parse(text)
    name, _, rule = spec.name.partition("-")
    if name not in MODELS:
        return AgentPlayer(registry.make_agent(spec.name, **spec.settings))
    if rule not in SCORES or spec.settings:
        raise ValueError(f"Expected `{name}-` with {', '.join(SCORES)}, without settings. Got `{text}`.")
    return ModelPlayer(MODELS[name](), SCORES[rule])


def make_forecaster(text: str) -> Forecaster:
    """Make a model, or a player of an agent that predicts.

    Args:
        text: `forest` or `tanimoto`, or a `BatchAgent` of the registry as `name:setting=value,...`.

    Raises:
        ValueError: if the name or a setting is unknown, or the agent predicts nothing.
    """
    if text in MODELS:
        return MODELS[text]()
    spec = AgentSpec.parse(text)
    agent = registry.make_agent(spec.name, **spec.settings)
    if not isinstance(agent, BatchAgent):
        raise ValueError(f"Expected {', '.join(MODELS)} or an agent that predicts. Got `{text}`.")
    return AgentPlayer(agent)
