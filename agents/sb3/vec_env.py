"""Adapt Gymnasium's vector environments to Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete, Tuple
from gymnasium.spaces import Sequence as SequenceSpace
from numpy.typing import NDArray
from stable_baselines3.common.env_util import is_wrapped
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from agents.sb3.types import Array, Info

MASKS = "action_masks"  # the method that MaskablePPO calls


class SB3VecEnv(VecEnv):
    """Step a Gymnasium `VectorEnv` as a `VecEnv`, with the trajectories of `DummyVecEnv` on the same environments.

    Attributes and methods are those of the sub-environments (`SyncVectorEnv`, `AsyncVectorEnv`) if there are any, else
    those of the vector environment itself. In the second case a value with one row for each environment is split into
    its rows, and any other value is the same for all. Action masks come from the vector environment's method
    `action_masks()`, `(n, K)`; without it from `info["action_mask"]`; and else from the methods of the
    sub-environments. Observations are passed on without a copy, so each step must return new arrays (`SyncVectorEnv`
    with `copy=True`).

    Args:
        venv: vector environment in autoreset mode SAME_STEP, with observations that are arrays or Dicts of arrays, and
            a `reset` that takes a list of seeds.

    Raises:
        ValueError: if the autoreset mode is not SAME_STEP.
        TypeError: if `venv` is not a vector environment of Gymnasium, or observations are Tuples, as those of graphs
            are.
    """

    def __init__(self, venv: Any) -> None:
        if not hasattr(venv, "single_observation_space"):
            raise TypeError(f"Expected a Gymnasium vector environment. Got {venv}. `gymnasium.make_vec` makes one.")
        mode = venv.metadata.get("autoreset_mode")
        if getattr(mode, "value", mode) != "SameStep":
            raise ValueError(
                f"Expected a vector environment in autoreset mode SAME_STEP, as Stable-Baselines3 resets. Got {mode}. "
                "Make it with `autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP` (`gymnasium.make_vec` takes "
                "vector_kwargs={'autoreset_mode': ...} for a vector of sub-environments)."
            )
        if isinstance(venv.single_observation_space, (SequenceSpace, Tuple)):
            raise TypeError(
                "Expected observations that are arrays, or Dicts of them. Got tuples. For graph sets use the wrapper "
                "`graph_bandit_env.wrappers.vector.PaddedGraphSet`."
            )
        self.venv = venv
        self._actions: Array | None = None
        self._masks: NDArray[np.bool_] | None = None  # masks in the last info
        super().__init__(venv.num_envs, venv.single_observation_space, venv.single_action_space)

    def reset(self) -> VecEnvObs:
        """Begin an episode in each environment, with the seeds and options that were set before."""
        if any(options != self._options[0] for options in self._options):
            raise ValueError("Expected equal options for all environments, as Gymnasium needs. Got different ones.")
        seeds = None if all(seed is None for seed in self._seeds) else list(self._seeds)
        observations, info = self.venv.reset(seed=seeds, options=self._options[0] or None)
        self._read_masks(info)
        self.reset_infos = split_info(info, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return self._hand_on(observations)

    def step_async(self, actions: Array) -> None:
        """Store the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Step; return observations, rewards `(n,)` float32, dones `(n,)` bool, and n infos."""
        observations, rewards, terminated, truncated, info = self.venv.step(self._actions)
        self._read_masks(info)
        final = info.get("final_obs")
        infos = split_info({key: info[key] for key in info if "final_obs" not in key}, self.num_envs)
        dones = np.logical_or(terminated, truncated)
        for i, done in enumerate(dones):
            if done:
                last = infos[i].pop("final_info", {})
                self.reset_infos[i], infos[i] = infos[i], last
                last["terminal_observation"] = _row(final, i)
                if "episode" in self.reset_infos[i]:  # Gymnasium's `RecordEpisodeStatistics` writes the ended one here
                    last["episode"] = self.reset_infos[i].pop("episode")
            infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
        return self._hand_on(observations), np.array(rewards, np.float32), dones, infos

    def close(self) -> None:
        """Close the environments."""
        self.venv.close()

    def has_attr(self, attr_name: str) -> bool:
        """Return whether each environment has an attribute, without calling it."""
        environments = self._environments()
        if attr_name == MASKS and (self._masks is not None or self._layer(MASKS) is not None):
            return True
        if environments is not None:
            return all(environment.has_wrapper_attr(attr_name) for environment in environments)
        return super().has_attr(attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of each environment."""
        environments = self._environments()
        if environments is not None:
            return self._pick([environment.get_wrapper_attr(attr_name) for environment in environments], indices)
        if hasattr(self.venv.unwrapped, "get_attr"):  # sub-environments in other processes
            return self._pick(self.venv.unwrapped.get_attr(attr_name), indices)
        return self._pick(_rows(getattr(self._require(attr_name), attr_name), self.num_envs), indices)

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of each environment, or of the vector environment if it has no sub-environments.

        Raises:
            ValueError: if `indices` are given, but there are no sub-environments in this process.
        """
        environments = self._environments()
        if environments is not None:
            for environment in self._pick(environments, indices):
                environment.set_wrapper_attr(attr_name, value)
        elif indices is not None:
            raise ValueError(f"Expected no `indices`, because {self.venv} sets attributes for all. Got {indices}.")
        elif hasattr(self.venv.unwrapped, "set_attr"):
            self.venv.unwrapped.set_attr(attr_name, [value] * self.num_envs)
        else:
            setattr(self.venv, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of each environment, or one of the vector environment that returns a row for each."""
        layer = self._layer(MASKS)
        if method_name == MASKS and layer is not None:
            return self._pick(np.asarray(layer.action_masks(), np.bool_), indices)
        if method_name == MASKS and self._masks is not None:
            return self._pick(self._masks, indices)
        environments = self._environments()
        if environments is not None:
            chosen = self._pick(environments, indices)
            return [environment.get_wrapper_attr(method_name)(*method_args, **method_kwargs) for environment in chosen]
        if hasattr(self.venv.unwrapped, "call"):
            return self._pick(self.venv.unwrapped.call(method_name, *method_args, **method_kwargs), indices)
        method = getattr(self._require(method_name), method_name)
        return self._pick(_rows(method(*method_args, **method_kwargs), self.num_envs), indices)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Return whether each environment is wrapped in this class."""
        environments = self._environments() or [None] * self.num_envs
        return [is_wrapped(environment, wrapper_class) for environment in self._pick(environments, indices)]

    def get_images(self) -> Sequence[Array | None]:
        """Return a frame of each environment."""
        return _rows(self.venv.render(), self.num_envs)

    def _hand_on(self, observations: Any) -> VecEnvObs:
        return dict(observations) if isinstance(observations, dict) else np.asarray(observations)

    def _read_masks(self, info: Info) -> None:
        mask, actions = info.get("action_mask"), self.action_space
        wanted = (self.num_envs, int(actions.n) if isinstance(actions, Discrete) else 0)
        fits = mask is not None and np.shape(mask) == wanted and np.all(info.get("_action_mask", True))
        self._masks = np.array(mask, np.bool_) if fits else None

    def _environments(self) -> list[Any] | None:
        environments: list[Any] | None = getattr(self.venv.unwrapped, "envs", None)
        return environments

    def _layer(self, name: str) -> Any:
        """Return the outermost of the vector environment and its wrappers that has an attribute, or None."""
        layer = self.venv
        while layer is not None and not hasattr(layer, name):
            layer = getattr(layer, "env", None)
        return layer

    def _require(self, name: str) -> Any:
        layer = self._layer(name)
        if layer is None:
            raise AttributeError(f"{self.venv} has no attribute {name!r}")
        return layer

    def _pick(self, values: Any, indices: VecEnvIndices) -> list[Any]:
        chosen: Iterable[int] = self._get_indices(indices)
        return [values[i] for i in chosen]


def split_info(info: Info, num_envs: int) -> list[Info]:
    """Split the info of a vector environment into one for each environment, with plain Python numbers.

    Args:
        info: info of a Gymnasium vector environment. `key` holds a value for each environment, and `_key`, if present,
            tells which environments have one.
        num_envs: n.
    """
    split: list[Info] = [{} for _ in range(num_envs)]
    for key, values in info.items():
        if key.startswith("_") and key[1:] in info:
            continue
        rows = split_info(values, num_envs) if isinstance(values, dict) else _rows(values, num_envs)
        for i in np.flatnonzero(info.get(f"_{key}", np.ones(num_envs))):
            row: Any = rows[i]
            split[i][key] = row.item() if isinstance(row, np.generic) else row
    return split


def _rows(value: Any, num_envs: int) -> list[Any]:
    """Split a value that has a row for each environment; any other value is the same for each."""
    rows = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return list(value) if rows and len(value) == num_envs else [value] * num_envs


def _row(observations: Any, i: int) -> Any:
    """Return the observation of one environment, from an array of observations or a Dict of arrays."""
    if isinstance(observations, dict):
        return {key: values[i] for key, values in observations.items()}
    return observations[i]
