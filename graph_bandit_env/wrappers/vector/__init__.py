"""The wrappers of `graph_bandit_env.wrappers` for the native vector environment, under the same names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Dict, Discrete, GraphInstance
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.bandit.spaces import Info
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.vector_env import Array, GraphActionBanditVector
from graph_bandit_env.wrappers.padded import ROOM, Padded, Padding, indices_and_mask_space

__all__ = ["GraphSetIndices", "PaddedGraphSet"]


class _ObservationWrapper(gym.vector.VectorWrapper):
    """Replace observations, including the last ones of an episode (`info["final_obs"]`)."""

    def __init__(self, envs: gym.vector.VectorEnv) -> None:
        super().__init__(envs)
        if not isinstance(envs.unwrapped, GraphActionBanditVector):
            raise TypeError(
                f"Expected `gymnasium.make_vec('GraphActionBandit-v0', ...)`, a native vector environment. Got {envs}."
                " Other vector environments take the wrappers of `graph_bandit_env.wrappers`, by `wrappers=[...]`."
            )
        self._native = envs.unwrapped

    def _set_space(self, single: Dict) -> None:
        self.single_observation_space = single
        self.observation_space = batch_space(single, self.num_envs)

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """Return when a bandit begins its next episode, which wrappers of Gymnasium do not pass on by themselves."""
        return self._native.autoreset_mode

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Padded, Info]:
        """Begin episodes."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._observe(observation, info), info

    def step(self, actions: ArrayLike) -> tuple[Padded, Array, Array, Array, Info]:
        """Play a graph in each bandit."""
        observation, reward, terminated, truncated, info = self.env.step(actions)
        for i in np.flatnonzero(info.get("_final_obs", False)).tolist():
            info["final_obs"][i] = self._observe_last(i, info["final_obs"][i], info["final_info"]["action_mask"][i])
        return self._observe(observation, info), reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks of the graphs that the next round of each bandit offers, bool `(n, K)`."""
        return self._native.action_masks()

    def _observe(self, observation: Any, info: Info) -> Padded:
        raise NotImplementedError

    def _observe_last(self, i: int, observation: Any, mask: NDArray[np.int8]) -> Padded:
        raise NotImplementedError


class PaddedGraphSet(_ObservationWrapper):
    """Observe the graphs of n bandits as a batch, each as `graph_bandit_env.wrappers.PaddedGraphSet` does.

    A graph set is padded when it is drawn, not in each round. It is read from the environment itself, so make that with
    `observe="indices"`: then nothing is copied twice. `make_vec` of `GraphActionBanditPadded-v0` does that by itself.

    Args:
        envs: the native vector environment of `GraphActionBandit-v0`.
        **room: `max_nodes` and others, as in `graph_bandit_env.wrappers.PaddedGraphSet`.

    Raises:
        TypeError: if it is another environment.
        ValueError: as in `graph_bandit_env.wrappers.PaddedGraphSet`.
    """

    def __init__(self, envs: gym.vector.VectorEnv, **room: Any) -> None:
        super().__init__(envs)
        self.padding = Padding.for_bandit(self._native.bandit, **room)
        self._set_space(self.padding.space())
        self.single_action_space = Discrete(self.padding.graphs)
        self.action_space = batch_space(self.single_action_space, envs.num_envs)
        self._padded = self.padding.zeros(envs.num_envs)
        self._shown: list[GraphSet | None] = [None] * envs.num_envs  # the sets that `_padded` holds

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks of the graphs that the next round of each bandit offers, bool `(n, max_graphs)`."""
        return self.padding.pad_mask(super().action_masks())

    def _observe(self, observation: Any, info: Info) -> Padded:
        for shown in (info, info.get("final_info", {})):
            if "action_mask" in shown:
                shown["action_mask"] = self.padding.show_mask(shown["action_mask"])
        for i, graph_set in enumerate(self._native.graph_sets):
            if graph_set is not self._shown[i]:
                self._shown[i] = None
                self._fill({key: array[i] for key, array in self._padded.items()}, graph_set)
                self._shown[i] = graph_set
        self._padded["mask"][...] = self.action_masks()
        return {key: array.copy() for key, array in self._padded.items()}

    def _observe_last(self, i: int, observation: Any, mask: NDArray[np.int8]) -> Padded:
        last = {key: array[i].copy() for key, array in self._padded.items()}
        if self._native.bandit.each_round:  # which took new graphs for the round that is not played
            self._fill(last, observation)
        return {**last, "mask": self.padding.show_mask(mask)}

    def _fill(self, arrays: Padded, graphs: Iterable[GraphInstance]) -> None:
        for array in arrays.values():
            array[...] = 0
        self.padding.fill(arrays, graphs)


class GraphSetIndices(_ObservationWrapper):
    """Observe which graphs n bandits offer as a batch, each as `graph_bandit_env.wrappers.GraphSetIndices` does.

    Args:
        envs: the native vector environment of `GraphActionBandit-v0` with `graphs=...` and `observe="indices"`.

    Raises:
        TypeError: if it is another environment.
        ValueError: if it does not observe indices of a fixed graph set, given as `graphs`.
    """

    def __init__(self, envs: gym.vector.VectorEnv) -> None:
        super().__init__(envs)
        self._set_space(indices_and_mask_space(self._native.bandit))

    def _observe(self, observation: NDArray[np.int64], info: Info) -> Padded:
        return {"indices": observation, "mask": self.action_masks().astype(np.int8)}

    def _observe_last(self, i: int, observation: NDArray[np.int64], mask: NDArray[np.int8]) -> Padded:
        return {"indices": observation, "mask": mask.copy()}


def padded_bandits(**arguments: Any) -> PaddedGraphSet:
    """Make the native vector form of `GraphActionBanditPadded-v0`.

    Args:
        **arguments: those of `PaddedGraphSet` and of `GraphActionBanditVector`; `observe` is left out.

    Raises:
        TypeError, ValueError: as in both of them.
    """
    room = {name: arguments.pop(name) for name in ROOM if name in arguments}
    if arguments.get("observe", "graphs") != "graphs":
        raise TypeError(f"Expected no `observe`: this environment observes arrays. Got {arguments['observe']!r}.")
    each_round = arguments.get("resample_graphs") == "round"  # the graphs of a last round are in its observation alone
    arguments["observe"] = "graphs" if each_round else "indices"
    return PaddedGraphSet(GraphActionBanditVector(**arguments), **room)
