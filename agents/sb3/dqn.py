"""DQN that explores among the graphs on offer only."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from stable_baselines3 import DQN
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.policies import BasePolicy

from agents.sb3.q_policy import GraphSetDQNPolicy
from agents.sb3.types import Array

State = tuple[Array, ...]


class GraphSetDQN(DQN):
    """Learn Q of graphs by DQN; random actions, before learning starts and later, are drawn from the mask.

    Arguments are those of `stable_baselines3.DQN`; the policy is `GraphSetDQNPolicy`, as a class or by its name. In a
    bandit no action changes what comes, so `gamma=0` is right unless graphs are used up. The replay buffer holds two
    observations a step: lower `buffer_size`, or observe indices, where padded graphs do not fit.
    """

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"GraphSetDQNPolicy": GraphSetDQNPolicy}

    def predict(
        self,
        observation: Array | dict[str, Array],
        state: State | None = None,
        episode_start: Array | None = None,
        deterministic: bool = False,
    ) -> tuple[Array, State | None]:
        """Return the graph of largest Q, or with probability `exploration_rate` a random one on offer.

        Args:
            observation: of one environment, or of several.
            state: not used.
            episode_start: not used.
            deterministic: True: never a random one.

        Returns:
            The action (actions) and `state`.
        """
        if not deterministic and np.random.rand() < self.exploration_rate:  # noqa: NPY002 - DQN's generator
            return self._draw(observation), state
        return self.policy.predict(observation, state, episode_start, deterministic)

    def _sample_action(
        self, learning_starts: int, action_noise: ActionNoise | None = None, n_envs: int = 1
    ) -> tuple[Array, Array]:
        if self.num_timesteps < learning_starts:
            actions = self._draw(self._last_obs)
            return actions, actions
        return super()._sample_action(learning_starts, action_noise, n_envs)

    def _draw(self, observation: Any) -> Array:
        space: Any = self.action_space  # `Discrete`, or the policy would have refused it
        masks = np.asarray(observation["mask"]).astype(np.int8)
        drawn = np.array([space.sample(mask) for mask in masks.reshape(-1, masks.shape[-1])])
        return drawn.reshape(masks.shape[:-1])
