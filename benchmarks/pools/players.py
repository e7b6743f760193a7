"""Players by name: a model with an acquisition, or an agent of the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import numpy as np

import registry
from agents.contract import Agent, BatchAgent, Prediction
from benchmarks.pools.models import forest, networks, tanimoto
from benchmarks.pools.models.acquisitions import (
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

    def predict(self, measured: Indices, values: Floats) -> Prediction:
        """Return the prediction of each of the K molecules, in units of the values.

        Args:
            measured: `(t,)`, molecules in the order measured; those of earlier calls come first.
            values: `(t,)`, their values.
        """


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
        self._prediction = self._model.predict(measured, values)
        mean, std = self._prediction.mean, self._prediction.std
        scores = self._acquisition(mean, std, float(values.max()), self._generator)
        left = np.setdiff1d(np.arange(len(mean)), measured)
        return left[np.lexsort((self._generator.random(len(left)), -scores[left]))[:count]]

    def forecast(self) -> Prediction:
        """Return the prediction of the last choice."""
        return self._prediction


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
        self._tell(measured, values)
        mask = np.ones(self._num_molecules, np.int8)
        mask[measured] = 0
        if isinstance(self._agent, BatchAgent):
            return self._agent.select_batch(None, count, mask)
        chosen: list[int] = []
        for _ in range(count):
            chosen.append(int(self._agent.select_action(None, mask)))
            mask[chosen[-1]] = 0
        return chosen

    def forecast(self) -> Prediction | None:
        """Return what the agent predicts by all that it was told, None if it is not a `BatchAgent`."""
        return self._agent.predict() if isinstance(self._agent, BatchAgent) else None

    def predict(self, measured: Indices, values: Floats) -> Prediction:
        """Return what the agent predicts, after giving it the new results."""
        self._tell(measured, values)
        prediction: Prediction = self._agent.predict()
        return prediction

    def _tell(self, measured: Indices, values: Floats) -> None:
        self._agent.update(None, measured[self._num_given :], values[self._num_given :])
        self._num_given = len(measured)


class ColumnPlayer(AgentPlayer):
    """Give an agent columns that a network computes, in every round from all results, or once from the pool alone.

    Args:
        agent: a `BatchAgent` that reads columns.
        columns: computes them.
        of_results: whether they depend on the results.
    """

    def __init__(self, agent: Agent, columns: networks.Columns, of_results: bool) -> None:
        super().__init__(agent)
        self._columns, self._of_results = columns, of_results

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Compute the columns that no result changes, and reset the agent."""
        self._molecules, self._seed = molecules, seed
        if not self._of_results:
            self._add_columns(np.empty(0, np.int64), np.empty(0))

    def _tell(self, measured: Indices, values: Floats) -> None:
        if self._of_results:
            self._add_columns(measured, values)
        super()._tell(measured, values)

    def _add_columns(self, measured: Indices, values: Floats) -> None:
        numbers = self._columns(self._molecules, measured, values, self._seed)
        names = [f"network {number}" for number in range(numbers.shape[1])]
        super().begin(self._molecules.with_columns(names, numbers), self._seed)


class CensoredPlayer(AgentPlayer):
    """Give an agent all results but the weakest, or the strongest, of which only a bound is known.

    Args:
        agent: an agent that learns from bounds, if it is to learn bounds.
        strong: whether the strongest `CENSORED` of the pool are only known to lie above a number; else the weakest are
            only known to lie below one.
        taught: what it learns of them: "bounds", the number as if it were the result ("numbers"), or nothing
            ("dropped").
    """

    def __init__(self, agent: Agent, strong: bool, taught: str) -> None:
        super().__init__(agent)
        self._strong, self._taught = strong, taught

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Reset the agent, and find the number beyond which its results are not known."""
        super().begin(molecules, seed)
        self._limit = float(np.quantile(molecules.targets, 1 - CENSORED if self._strong else CENSORED))

    def _tell(self, measured: Indices, values: Floats) -> None:
        new, results = measured[self._num_given :], values[self._num_given :]
        self._num_given = len(measured)
        beyond = results > self._limit if self._strong else results < self._limit
        if self._taught == "bounds" and beyond.any():
            self._agent.update_bounds(None, new[beyond], np.full(beyond.sum(), self._limit), self._strong)
        told = np.ones_like(beyond) if self._taught == "numbers" else ~beyond
        if told.any():
            self._agent.update(None, new[told], np.where(beyond, self._limit, results)[told])


CENSORED = 0.3  # of the pool
CENSORINGS = {  # whether strong results are censored, and what is taught of them
    f"{strength}_{taught}": (strength == "strong", taught)
    for strength in ("weak", "strong")
    for taught in ("bounds", "numbers", "dropped")
}
NETWORKS: dict[str, tuple[networks.Columns, bool]] = {  # and whether they depend on the results
    "pretrained": (networks.pretrained, False),
    "crossfitted": (networks.cross_fitted, True),
}
MODELS: dict[str, tuple[Callable[[], Model], float]] = {  # with the scale of their upper confidence bounds
    "forest": (forest.Forest, forest.SCALE),
    "tanimoto": (tanimoto.TanimotoProcess, tanimoto.SCALE),
}
ACQUISITIONS: dict[str, Acquisition] = {"greedy": greedy, "ts": thompson_sampling, "ei": expected_improvement}


def make_player(text: str) -> Player:
    """Make a player.

    Args:
        text: `forest-` or `tanimoto-` with `greedy`, `ts`, `ei` or `ucb` (`ucb:scale=0.5`, in standard deviations),
            `pretrained-` or `crossfitted-` with the rest of the name of a molecule- agent, which gets columns of a
            network then, `weak_` or `strong_` with `bounds-`, `numbers-` or `dropped-` and the rest of such a name,
            which does not get the weakest or strongest results, or an agent of the registry as
            `name:setting=value,...`.

    Raises:
        ValueError: if the name or a setting is unknown.
    """
    spec = AgentSpec.parse(text)
    name, _, rule = spec.name.partition("-")
    if name in NETWORKS:
        return ColumnPlayer(registry.make_agent(f"molecule-{rule}", **spec.settings), *NETWORKS[name])
    if name in CENSORINGS:
        return CensoredPlayer(registry.make_agent(f"molecule-{rule}", **spec.settings), *CENSORINGS[name])
    if name not in MODELS:
        return AgentPlayer(registry.make_agent(spec.name, **spec.settings))
    if rule not in (*ACQUISITIONS, "ucb"):
        raise ValueError(f"Expected `{name}-` with {', '.join(ACQUISITIONS)} or ucb. Got `{spec.name}`.")
    if spec.settings.keys() - ({"scale"} if rule == "ucb" else set()):
        raise ValueError(f"Expected no settings but `scale` of ucb. Got `{text}`.")
    make_model, scale = MODELS[name]
    settings = {"scale": scale, **spec.settings}
    return ModelPlayer(make_model(), UpperConfidenceBound(**settings) if rule == "ucb" else ACQUISITIONS[rule])


def make_forecaster(text: str) -> Model | AgentPlayer:
    """Make a model, or a player of an agent that predicts; both have `begin` and `predict`.

    Args:
        text: `forest` or `tanimoto`, `pretrained-ucb` or `crossfitted-ucb`, or a `BatchAgent` of the registry as
            `name:setting=value,...`.

    Raises:
        ValueError: if the name or a setting is unknown, or the agent predicts nothing.
    """
    spec = AgentSpec.parse(text)
    if spec.name in MODELS:
        if spec.settings:
            raise ValueError(f"Expected no settings of `{spec.name}`. Got `{text}`.")
        return MODELS[spec.name][0]()
    if spec.name.partition("-")[0] in NETWORKS:
        return cast(ColumnPlayer, make_player(text))
    agent = registry.make_agent(spec.name, **spec.settings)
    if not isinstance(agent, BatchAgent):
        raise ValueError(f"Expected {', '.join(MODELS)} or an agent that predicts. Got `{text}`.")
    return AgentPlayer(agent)


def needs_molecules(text: str) -> bool:
    """Return whether a player or model plays pools of molecules only."""
    name = AgentSpec.parse(text).name
    return name.partition("-")[0] in {*MODELS, *NETWORKS, *CENSORINGS} or registry.agent_needs(name) == "molecules"
