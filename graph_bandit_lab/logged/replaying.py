"""Replay a log to an agent that learns. The rounds in which both choose the same graph form its episode."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, GraphSetLike
from graph_bandit_lab.logged.log import Log

REPLAYING = 5  # key of the stream from which acceptance is drawn


@dataclass(frozen=True, eq=False, kw_only=True)
class Replay:
    """The episode of an agent that is reconstructed from a log.

    It has the distribution of an episode of the same length with the agent itself, for any agent of the log, even if it
    learned. Its mean reward estimates the mean of mu over the graphs of this episode. One log does not show the
    variation between episodes.
    """

    rounds: NDArray[np.int64]
    """`(n,)`. Accepted rounds of the log, counted from 0."""
    actions: NDArray[np.int64]
    """`(n,)`. Graphs that the agent played."""
    rewards: NDArray[np.float64]
    """`(n,)`. Their rewards."""
    std_error: float
    """Standard error of `value` from the noise of the rewards in the log, `nan` if unknown."""

    @property
    def value(self) -> float:
        """Return the mean reward per round, `nan` if there is none."""
        return float(self.rewards.mean()) if len(self.rewards) else math.nan

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of the mean of mu over the graphs of this episode, valid for logs of any agent.

        Args:
            level: coverage of the interval, between 0 and 1.
        """
        half = NormalDist().inv_cdf((1 + level) / 2) * self.std_error
        return self.value - half, self.value + half

    def __str__(self) -> str:
        low, high = self.interval()
        return f"replay: {len(self.rounds)} rounds, mean reward {self.value:.4g} [{low:.4g}, {high:.4g}]"


def replay(agent: Agent, log: Log, graph_set: GraphSetLike, seed: int = 0) -> Replay:
    """Let an agent learn from the rounds of a log in which it chooses the logged graph.

        accept round t with probability c / p_t(G_t) if the agent chooses G_t      [Li et al. 2011, with c = p = 1/K]

    Here c is the least probability of the log: its floor, or the smallest p of a fixed policy. Each choice is therefore
    accepted with the same probability c, for any log [Dudik et al. 2014]. The agent learns only from accepted rounds. A
    choice waits for the round that accepts it. If a round offers different graphs from the previous one, the agent
    chooses again, and a rule that counts rounds also counts these choices.

    Args:
        agent: the agent, which is reset.
        log: the log. About c T of its rounds are accepted.
        graph_set: the graphs of the log.
        seed: seed of the agent and of the acceptance draws.

    Raises:
        ValueError: if the log could not play a graph on offer, which the agent may choose, or the graphs differ.
    """
    least = log.least if log.learns else float(log.probabilities[log.masks].min())
    if not least > 0:
        raise ValueError(
            "Expected a log that could play each graph on offer in each round. It could not: log with a "
            "floor, such as `log_episode(env, agent, floor=0.1)`."
        )
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(REPLAYING,)))
    agent.reset(None, seed, log.check_graphs(graph_set))
    chances, propensities, accepted = rng.random(log.num_rounds), log.propensities, []
    choice: int | None = None
    for t, (action, reward) in enumerate(zip(log.actions.tolist(), log.rewards.tolist(), strict=True)):
        if choice is None or (log.masks[t] != log.masks[t - 1]).any():
            choice = agent.select_action(None, log.masks[t].astype(np.int8))
        if choice == action and chances[t] < least / propensities[t]:
            agent.update(None, action, reward)
            accepted.append(t)
            choice = None
    rounds = np.array(accepted, np.int64)
    actions, rewards = log.actions[rounds], log.rewards[rounds]
    counts = np.bincount(log.actions, minlength=log.num_graphs)  # noise in the log, which causes error in the mean
    means = np.bincount(log.actions, log.rewards, log.num_graphs) / np.maximum(counts, 1)
    squares = np.bincount(log.actions, (log.rewards - means[log.actions]) ** 2, log.num_graphs)
    freedom, error = counts.sum() - (counts > 0).sum(), math.nan
    if freedom and len(rounds):
        variances = np.where(counts > 1, squares / np.maximum(counts - 1, 1), squares.sum() / freedom)
        error = float(np.sqrt(variances[actions].sum()) / len(rounds))
    return Replay(rounds=rounds, actions=actions, rewards=rewards, std_error=error)
