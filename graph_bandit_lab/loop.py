"""The loop: one agent plays one episode of one environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import gymnasium as gym

    from registry import Agent


@dataclass(frozen=True, eq=False)
class BanditResult:
    """What happened in one episode; shorter than the horizon if the agent diverged.

    Attributes:
        actions: `(T,)` int64. Graphs played.
        rewards: `(T,)` float64. Rewards observed.
        regret: `(T,)` float64. mu(G*_t) - mu(G_t) of each round, noise-free.
        status: "finished", or "diverged" if a fit turned non-finite.
    """

    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    regret: NDArray[np.float64]
    status: Literal["finished", "diverged"] = "finished"

    @property
    def cumulative_regret(self) -> NDArray[np.float64]:
        """Return R_t, the running sum of the regret, `(T,)`."""
        return self.regret.cumsum()


def run_bandit(
    env: gym.Env[Any, Any], agent: Agent, seed: int = 0, on_round: Callable[[], object] = lambda: None
) -> BanditResult:
    """Play one episode; equal seeds give equal instances and noise to every agent.

    Args:
        env: a graph bandit; it is reset with a child of `seed`.
        agent: reset with another child of `seed`; it never sees means or regret.
        seed: of the whole episode.
        on_round: called after each round.

    Returns:
        Actions, rewards and regret of each round.
    """
    env_seed, agent_seed = np.random.SeedSequence(seed).generate_state(2).tolist()
    observation, info = env.reset(seed=env_seed)
    agent.reset(observation, seed=agent_seed, graph_set=env.unwrapped.graph_set)  # type: ignore[attr-defined]
    rounds: list[tuple[int, float, float]] = []
    status: Literal["finished", "diverged"] = "finished"
    over = False
    while not over and status == "finished":
        action = agent.select_action(observation, info["action_mask"])
        played = observation
        observation, observed, terminated, truncated, info = env.step(action)
        reward = float(observed)
        rounds.append((action, reward, info["regret"]))
        over = terminated or truncated
        try:
            agent.update(played, action, reward)
        except FloatingPointError:  # the agents' word for a fit that turned non-finite
            status = "diverged"
        on_round()
    actions, rewards, regret = zip(*rounds, strict=True)
    return BanditResult(np.array(actions, np.int64), np.array(rewards), np.array(regret), status)
