"""Adapt Gymnasium's vector environments to Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Sequence as SequenceSpace
from gymnasium.spaces import Tuple
from numpy.typing import NDArray
from stable_baselines3.common.env_util import is_wrapped
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn


class SB3VecEnv(VecEnv):
    """Step a Gymnasium `VectorEnv` as a `VecEnv`, with the trajectories of `DummyVecEnv` on the same environments.

    Attributes and methods, such as `action_masks`, are those of the sub-environments (`SyncVectorEnv`,
    `AsyncVectorEnv`) if there are any, else those of the vector environment or its outermost wrapper that has them. In
    the second case a value with one row for each environment is split into its rows, and any other value is the same
    for all. Observations are passed on without a copy, so each step must return new arrays (`SyncVectorEnv` with
    `copy=True`).

    Args:
        venv: vector environment in autoreset mode SAME_STEP, with observations that are arrays or Dicts of arrays, and
            a `reset` that takes a list of seeds.

    Raises:
        ValueError: if the autoreset mode is not SAME_STEP.
        TypeError: if observations are Tuples, as those of graphs are.
    """

    def __init__(self, venv: Any) -> None:
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
        super().__init__(venv.num_envs, venv.single_observation_space, venv.single_action_space)

    def reset(self) -> VecEnvObs:
        """Begin an episode in each environment, with the seeds and options that were set before."""
        if any(options != self._options[0] for options in self._options):
            raise ValueError("Expected equal options for all environments, as Gymnasium needs. Got different ones.")
        seeds = None if self._seeds[0] is None else self._seeds
        observations, info = self.venv.reset(seed=seeds, options=self._options[0] or None)
        self.reset_infos = split_info(info, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return observations  # type: ignore[no-any-return]

    def step_async(self, actions: NDArray[Any]) -> None:
        """Store the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Step; return observations, rewards `(n,)` float32, dones `(n,)` bool, and n infos."""
        observations, rewards, terminated, truncated, info = self.venv.step(self._actions)
        final = info.get("final_obs")
        infos = split_info({key: info[key] for key in info if "final_obs" not in key}, self.num_envs)
        dones = np.logical_or(terminated, truncated)
        for i in np.flatnonzero(dones).tolist():
            last = infos[i].pop("final_info", {})
            self.reset_infos[i], infos[i] = infos[i], last
            rows = isinstance(final, dict)  # of arrays with a row for each environment
            last["terminal_observation"] = {key: final[key][i] for key in final} if rows else final[i]
            if "episode" in self.reset_infos[i]:  # Gymnasium's `RecordEpisodeStatistics` writes the ended one here
                last["episode"] = self.reset_infos[i].pop("episode")
        for i, one in enumerate(infos):
            one["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
        return observations, np.array(rewards, np.float32), dones, infos

    def close(self) -> None:
        """Close the environments."""
        self.venv.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of each environment."""
        bare = self.venv.unwrapped
        if hasattr(bare, "envs"):
            values = [environment.get_wrapper_attr(attr_name) for environment in bare.envs]
        elif hasattr(bare, "get_attr"):  # sub-environments in other processes
            values = bare.get_attr(attr_name)
        else:
            values = _rows(self._find(attr_name), self.num_envs)
        return [values[i] for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of all environments, or of the vector environment if it has no sub-environments.

        Raises:
            ValueError: if `indices` are given.
        """
        if indices is not None:
            raise ValueError(f"Expected no `indices`, because an attribute is set for all. Got {indices}.")
        if hasattr(self.venv.unwrapped, "set_attr"):
            self.venv.unwrapped.set_attr(attr_name, [value] * self.num_envs)
        else:
            setattr(self.venv, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of each environment, or one of the vector environment that returns a row for each."""
        bare = self.venv.unwrapped
        if hasattr(bare, "envs"):
            return [method(*method_args, **method_kwargs) for method in self.get_attr(method_name, indices)]
        if hasattr(bare, "call"):  # sub-environments in other processes
            values = bare.call(method_name, *method_args, **method_kwargs)
        else:
            values = _rows(self._find(method_name)(*method_args, **method_kwargs), self.num_envs)
        return [values[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Return whether each environment is wrapped in this class."""
        environments = getattr(self.venv.unwrapped, "envs", [None] * self.num_envs)
        return [is_wrapped(environments[i], wrapper_class) for i in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[Any] | None]:
        """Return a frame of each environment."""
        return _rows(self.venv.render(), self.num_envs)

    def _find(self, name: str) -> Any:
        """Return an attribute of the outermost of the vector environment and its wrappers that has it."""
        layer = self.venv
        while not hasattr(layer, name) and hasattr(layer, "env"):
            layer = layer.env
        return getattr(layer, name)


def split_info(info: dict[str, Any], num_envs: int) -> list[dict[str, Any]]:
    """Split the info of a vector environment into one for each environment, with plain Python numbers.

    Args:
        info: info of a Gymnasium vector environment. `key` holds a value for each environment, and `_key`, if present,
            tells which environments have one.
        num_envs: n.
    """
    split: list[dict[str, Any]] = [{} for _ in range(num_envs)]
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
