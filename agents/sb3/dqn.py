"""DQN that explores only among the graphs on offer."""

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
    """Learn Q of graphs by DQN; every random action is drawn from the graphs that the mask allows.

    The arguments are those of `stable_baselines3.DQN`; the policy is `GraphSetDQNPolicy`, as a class or by name. In a
    bandit no action changes later rounds, so `gamma=0` is right unless each graph can be played only once. The replay
    buffer stores two observations per step. If padded graphs do not fit in memory, lower `buffer_size` or observe
    indices.
    """

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"GraphSetDQNPolicy": GraphSetDQNPolicy}

    def predict(
        self,
        observation: Array | dict[str, Array],
        state: State | None = None,
        episode_start: Array | None = None,
        deterministic: bool = False,
    ) -> tuple[Array, State | None]:
        """Return the graph of largest Q, or with probability `exploration_rate` a random graph on offer.

        Args:
            observation: observation of one environment or of several.
            state: not used.
            episode_start: not used.
            deterministic: never return a random graph.

        Returns:
            The action, or one for each environment; and `state`.
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
        space: Any = self.action_space  # `Discrete`: the policy refuses any other
        masks = np.asarray(observation["mask"]).astype(np.int8)
        drawn = np.array([space.sample(mask) for mask in masks.reshape(-1, masks.shape[-1])])
        return drawn.reshape(masks.shape[:-1])
