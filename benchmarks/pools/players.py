"""Players by name: a model with an acquisition, or an agent of the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

import registry
from agents.contract import Agent, BatchAgent
from benchmarks.pools import forest, tanimoto
from benchmarks.pools.acquisitions import (
    Acquisition,
    UpperConfidenceBound,
    expected_improvement,
    greedy,
    thompson_sampling,
)
from benchmarks.pools.screening import Floats, Indices, Player
from graph_bandit_env import MoleculeSet
from graph_bandit_lab import AgentSpec


class Model(Protocol):
    """A model that predicts the values of a pool from some measurements."""

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Forget everything and take in K molecules."""

    def predict(self, measured: Indices, values: Floats) -> tuple[Floats, Floats]:
        """Return the mean and standard deviation of each molecule, `(K,)` each, in units of the values."""


class ModelPlayer:
    """Choose the molecules with the highest acquisition scores under a model; ties are broken at random."""

    def __init__(self, model: Model, acquisition: Acquisition) -> None:
        self._model, self._acquisition = model, acquisition

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Start over, with separate random streams for model and acquisition."""
        of_model, of_acquisition = np.random.SeedSequence(seed).spawn(2)
        self._model.begin(molecules, int(of_model.generate_state(1)[0]))
        self._generator = np.random.default_rng(of_acquisition)

    def choose(self, measured: Indices, values: Floats, count: int) -> Indices:
        """Return the best `count` molecules among those not measured."""
        mean, std = self._model.predict(measured, values)
        scores = self._acquisition(mean, std, float(values.max()), self._generator)
        left = np.setdiff1d(np.arange(len(mean)), measured)
        return left[np.lexsort((self._generator.random(len(left)), -scores[left]))[:count]]


class AgentPlayer:
    """Give an agent each result once, and ask it for a batch.

    Args:
        agent: a `BatchAgent` chooses a whole batch; any other agent chooses one molecule after the other by
            `select_action`, without results in between.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent: Any = agent

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Reset the agent."""
        self._agent.reset(None, seed=seed, graph_set=molecules)
        self._num_molecules, self._num_given = len(molecules), 0

    def choose(self, measured: Indices, values: Floats, count: int) -> Sequence[int]:
        """Return `count` molecules, after giving the agent the new results."""
        self._agent.update(None, measured[self._num_given :], values[self._num_given :])
        self._num_given = len(measured)
        mask = np.ones(self._num_molecules, np.int8)
        mask[measured] = 0
        if isinstance(self._agent, BatchAgent):
            return self._agent.select_batch(None, count, mask)
        chosen: list[int] = []
        for _ in range(count):
            chosen.append(int(self._agent.select_action(None, mask)))
            mask[chosen[-1]] = 0
        return chosen


MODELS: dict[str, tuple[Callable[[], Model], float]] = {  # with the scale of their upper confidence bounds
    "forest": (forest.Forest, forest.SCALE),
    "tanimoto": (tanimoto.TanimotoProcess, tanimoto.SCALE),
}
ACQUISITIONS: dict[str, Acquisition] = {"greedy": greedy, "ts": thompson_sampling, "ei": expected_improvement}


def make_player(text: str) -> Player:
    """Make a player.

    Args:
        text: `forest-` or `tanimoto-` with `greedy`, `ts`, `ei` or `ucb` (`ucb:scale=0.5`, in standard deviations),
            or an agent of the registry as `name:setting=value,...`.

    Raises:
        ValueError: if the name or a setting is unknown.
    """
    spec = AgentSpec.parse(text)
    name, _, rule = spec.name.partition("-")
    if name not in MODELS:
        return AgentPlayer(registry.make_agent(spec.name, **spec.settings))
    if rule not in (*ACQUISITIONS, "ucb"):
        raise ValueError(f"Expected `{name}-` with {', '.join(ACQUISITIONS)} or ucb. Got `{spec.name}`.")
    if spec.settings.keys() - ({"scale"} if rule == "ucb" else set()):
        raise ValueError(f"Expected no settings but `scale` of ucb. Got `{text}`.")
    make_model, scale = MODELS[name]
    settings = {"scale": scale, **spec.settings}
    return ModelPlayer(make_model(), UpperConfidenceBound(**settings) if rule == "ucb" else ACQUISITIONS[rule])
