"""Many independent graph bandits that step together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from graph_bandit_env.bandit.calls import spread_seeds
from graph_bandit_env.bandit.spaces import Info
from graph_bandit_env.checks import check_integer
from graph_bandit_env.env import GraphActionBandit


class GraphActionBanditVector(SyncVectorEnv):
    """Gymnasium's `SyncVectorEnv` of n bandits with equal arguments, whose seeds are mixed.

    `gymnasium.make_vec("GraphActionBandit-v0", num_envs=n, ...)` makes one. `reset(seed=[s_1, ..., s_n])` resets bandit
    i with seed s_i, and `reset(seed=s)` with the seeds of `spread_seeds`: Gymnasium's own, s, s + 1, and so on, would
    make bandit 1 of seed 0 equal to bandit 0 of seed 1. What the arguments fix for all instances, such as the reward
    function of `reward_seed`, is drawn once for all bandits.

    Args:
        num_envs: n, from 1.
        autoreset_mode: when a bandit begins its next episode, as in `SyncVectorEnv`.
        max_episode_steps: number of rounds after which an episode is truncated, as by `TimeLimit`; None: no such limit.
        make: makes one bandit of `arguments`.
        **arguments: the fields of `BanditArguments`, and others that `make` takes.

    Raises:
        ValueError, TypeError: as in `GraphActionBandit`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        make: Callable[..., gym.Env] = GraphActionBandit,
        **arguments: Any,
    ) -> None:
        def make_one() -> gym.Env:
            made = make(**arguments)
            return made if max_episode_steps is None else TimeLimit(made, max_episode_steps)

        super().__init__([make_one] * check_integer("num_envs", num_envs, 1), autoreset_mode=autoreset_mode)
        bandits: list[Any] = [env.unwrapped for env in self.envs]
        for bandit in bandits:
            bandit.bandit = bandits[0].bandit

    def reset(self, *, seed: int | list[int | None] | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode in each bandit, or in those that the option `reset_mask` names.

        Raises:
            ValueError: if there are not as many seeds as bandits, or an option is unknown.
        """
        if isinstance(seed, int | np.integer):
            seed = [*spread_seeds(seed, self.num_envs)]
        return super().reset(seed=seed, options=options)
