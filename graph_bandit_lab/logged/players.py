"""Define agents with known action probabilities: a fixed policy, and any agent with an exploration floor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from agents.contract import ActionProbabilities, Agent, BaseAgent, GraphSetLike, PlayForecaster, read_mask
from graph_bandit_env import GraphSet
from graph_bandit_env.files import digest
from graph_bandit_lab.episodes import BanditResult, Feedback, run_bandit
from graph_bandit_lab.episodes.feedback import AT_ONCE
from graph_bandit_lab.logged.log import ROUNDING, Log
from graph_bandit_lab.storage import software_versions

if TYPE_CHECKING:
    import gymnasium as gym
    from torch_geometric.data import Batch

LOGGING = 4  # key of the stream from which random plays are drawn
DRAWS = 10_000


@dataclass(frozen=True)
class FixedSettings:
    """Settings of a fixed policy."""

    probabilities: tuple[float, ...]
    """`(K,)`. Probabilities of the graphs, which sum to 1."""

    def __post_init__(self) -> None:
        values = np.array(self.probabilities)
        if not (values >= 0).all() or not abs(values.sum() - 1) < ROUNDING:
            raise ValueError(f"Expected probabilities that sum to 1. Got {self.probabilities!r}.")


class FixedPolicy(BaseAgent[FixedSettings]):
    """Play each graph with the same probability in all rounds, without learning.

    If a round offers only some of the graphs, their probabilities are divided by their sum.

    Args:
        probabilities: `(K,)`, which sum to 1.

    Raises:
        ValueError: if they do not sum to 1, or one is negative.
    """

    reads = frozenset[str]()
    learns = False

    def __init__(self, probabilities: Sequence[float] | NDArray[np.float64]) -> None:
        super().__init__(FixedSettings(tuple(map(float, probabilities))))

    def begin(self, graphs: Batch, seed: int) -> None:
        """Check that there is a probability for each graph."""
        if graphs.num_graphs != len(self.settings.probabilities):
            raise ValueError(f"Expected {len(self.settings.probabilities)} graphs. Got {graphs.num_graphs}.")

    def choose(self, mask: torch.Tensor) -> int:
        """Draw a graph."""
        return int(torch.multinomial(torch.from_numpy(self._among(mask)), 1, generator=self.generator))

    def learn(self, slots: torch.Tensor, rewards: torch.Tensor) -> None:
        """Do nothing."""

    def action_probabilities(
        self, observation: object, action_mask: ArrayLike | None = None, draws: int = DRAWS
    ) -> ActionProbabilities:
        """Return the probabilities of the graphs on offer (see `agents.contract.PlayForecaster`)."""
        self.look_at(observation)
        values = self._among(read_mask(action_mask, self.num_graphs))
        return ActionProbabilities(values, np.zeros(len(values)))

    def _among(self, mask: torch.Tensor) -> NDArray[np.float64]:
        values = np.where(mask.numpy(), self.settings.probabilities, 0.0)
        if not values.any():
            raise ValueError("Expected a round that offers a graph of positive probability. Got none.")
        return np.asarray(values / values.sum())


class LoggingAgent:
    """Play as an agent does, or a random graph with probability epsilon, and log the probabilities of each round.

        p_t(G) = (1 - epsilon) pi_t(G) + epsilon / n_t,   n_t graphs on offer

    If the agent only estimates pi_t from draws, a graph is drawn from the estimate, so that the log is exact.

    Args:
        agent: a `PlayForecaster`. It learns from all plays, including the random ones.
        floor: epsilon, from 0 to 1. With 0, the log has no information on graphs that the agent never plays.
        learns: False withholds rewards from the agent, which then plays a fixed policy.
        draws: number of draws for probabilities that the agent estimates.

    Raises:
        TypeError: if the agent has no `action_probabilities`.
        ValueError: if `floor` is not from 0 to 1.
    """

    def __init__(self, agent: Agent, floor: float = 0.1, learns: bool = True, draws: int = DRAWS) -> None:
        if not isinstance(agent, PlayForecaster):
            raise TypeError(f"Expected an agent with `action_probabilities`, as ours have. Got {type(agent).__name__}.")
        if not 0 <= floor <= 1:
            raise ValueError(f"Expected `floor` from 0 to 1. Got {floor!r}.")
        self.agent, self.floor, self.learns, self.draws = agent, float(floor), learns, draws
        self._rows: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = []

    def reset(self, observation: object, seed: int = 0, graph_set: GraphSetLike | None = None) -> None:
        """Clear the state, including the log, and read the graphs (see `agents.contract.Agent`)."""
        self.agent.reset(observation, seed, graph_set)
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(LOGGING,)))
        self._rows = []

    def select_action(self, observation: object, action_mask: ArrayLike | None = None) -> int:
        """Return a graph to play, and log the probability of each graph."""
        weighed = self.agent.action_probabilities(observation, action_mask, self.draws)
        action = int(self.agent.select_action(observation, action_mask))  # even if it is not played: rules count
        mask = read_mask(action_mask, len(weighed.values)).numpy()
        agents_part = weighed.values / weighed.values.sum()
        if self._rng.random() < self.floor:
            action = int(self._rng.choice(np.flatnonzero(mask)))
        elif weighed.errors.any():
            action = int(self._rng.choice(len(mask), p=agents_part))
        self._rows.append(((1 - self.floor) * agents_part + self.floor * mask / mask.sum(), mask))
        return action

    def update(self, observation: object, action: ArrayLike, reward: ArrayLike) -> None:
        """Pass rewards to the agent if it learns."""
        if self.learns:
            self.agent.update(observation, action, reward)

    def log(self, result: BanditResult, graph_set: object = None, facts: dict[str, object] | None = None) -> Log:
        """Return the log of the last episode.

        Args:
            result: the result of `run_bandit`.
            graph_set: the graphs, whose digest the log stores. None if they are unknown.
            facts: further facts to store in the log, as JSON.
        """
        own = self.agent.settings
        stated = {
            "agent": type(self.agent).__name__,
            "agent_settings": vars(own) if own else {},
            "floor": self.floor,
            "versions": software_versions(),
            **(facts or {}),
        }
        probabilities, masks = zip(*self._rows, strict=True)
        return Log(
            actions=result.actions,
            rewards=result.rewards,
            probabilities=np.array(probabilities),
            masks=np.array(masks),
            least=self.floor / len(masks[0]),
            learns=self.learns and getattr(self.agent, "learns", True),
            graphs=digest(graph_set) if isinstance(graph_set, GraphSet) else "",
            facts=json.loads(json.dumps(stated, default=str)),
        )


def log_episode(
    env: gym.Env[Any, Any],
    agent: Agent,
    seed: int = 0,
    floor: float = 0.1,
    learns: bool = True,
    feedback: Feedback = AT_ONCE,
    draws: int = DRAWS,
) -> Log:
    """Play an episode as `run_bandit` does, and log it with the probabilities of its plays.

    Args:
        env: a graph bandit on one graph set, whose graphs can be played again.
        agent: the agent (see `LoggingAgent`, also for `floor`, `learns` and `draws`).
        seed: seed of the whole episode.
        floor: probability of a random play.
        learns: pass rewards to the agent.
        feedback: delays of the rewards.
        draws: number of draws for probabilities that the agent estimates.

    Raises:
        ValueError: if graphs change between rounds or can be played only once, if there are batches or initial random
            rounds, or if the agent diverged.
    """
    bandit = getattr(env.unwrapped, "bandit", None)
    if bandit is not None and (bandit.each_round or not bandit.replacement):
        raise ValueError("Expected rounds on one graph set, whose graphs can be played again. Got another environment.")
    if feedback.batch > 1 or feedback.random_rounds:
        raise ValueError("Expected one choice of the agent in each round. Got batches, or first rounds at random.")
    logging = LoggingAgent(agent, floor, learns, draws)
    result = run_bandit(env, cast("Agent", logging), seed, feedback=feedback)  # without a state to save
    if result.status != "finished":
        raise ValueError(f"Expected an agent that plays to the end. It {result.status} in round {len(result.actions)}.")
    return logging.log(result, getattr(env.unwrapped, "graph_set", None), {"seed": seed})
