"""The native vector environment: many independent graph bandits that step together, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.spaces import GraphInstance
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.bandit.arguments import BanditArguments
from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_env.bandit.calls import LimitedSpec, check_reset_options, read_seeds
from graph_bandit_env.bandit.instance import Instance
from graph_bandit_env.bandit.spaces import Info, pack_indices
from graph_bandit_env.checks import check_integer
from graph_bandit_env.graphs.graph_set import GraphSet

ROUNDS = 256  # rounds drawn at once, at most
NUMBERS = 1 << 12  # numbers kept for one bandit, at most
Array = NDArray[np.bool_ | np.integer | np.float64]
VectorObservation = tuple[tuple[GraphInstance, ...], ...] | NDArray[np.int64]
"""K tuples of n graphs each, one for each action (if K varies, n tuples, one for each bandit), or `(n, k)` indices."""


class GraphActionBanditVector(LimitedSpec, gym.vector.VectorEnv[VectorObservation, ArrayLike, Array]):
    """`num_envs` bandits, each a `GraphActionBandit` with the same arguments and its own seed.

    `gymnasium.make_vec("GraphActionBandit-v0", num_envs=n, ...)` makes one. `SyncVectorEnv` and `AsyncVectorEnv`
    (`vectorization_mode="sync"`, or "async" with `vector_kwargs={"shared_memory": False}`) give the same trajectories
    for the same list of seeds and the same actions, but slower.

    ## Seeds
    `reset(seed=[s_1, ..., s_n])` resets bandit i with seed s_i. `spread_seeds` turns an integer into such a list.

    Args:
        num_envs: n, the number of bandits that step together.
        autoreset_mode: when a bandit begins its next episode: at the following step (Gymnasium's default); in the same
            step, as in Stable-Baselines3, with the end of the last episode in `info["final_obs"]` and
            `info["final_info"]`; or when `reset` is called with the option `reset_mask`, bool `(n,)`.
        max_episode_steps: number of rounds after which an episode is truncated, as by `TimeLimit`; None: no such limit.
        **arguments: the fields of `BanditArguments`, without `render_mode`.

    Raises:
        ValueError, TypeError: as in `GraphActionBandit`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        **arguments: Any,
    ) -> None:
        if arguments.pop("render_mode", None) is not None:
            raise ValueError("Expected `render_mode` to be None. `make_vec(..., vectorization_mode='sync')` renders.")
        self.num_envs = check_integer("num_envs", num_envs, 1)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.bandit = BanditModel(BanditArguments(**arguments))
        limit = max_episode_steps
        self._step_limit = math.inf if limit is None else check_integer("max_episode_steps", limit, 1)
        self._most_rounds = int(min(self.bandit.horizon, self._step_limit))
        self.num_graphs = self.bandit.num_graphs
        self.single_action_space = self.bandit.action_space
        self.single_observation_space = self.bandit.observation_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

        shape = self.num_envs, self.num_graphs
        self._generators: dict[int, np.random.Generator] = {}
        self._instances: dict[int, Instance] = {}  # none before the first reset
        self._means = np.zeros(shape)
        self._left = np.ones(shape, np.bool_)  # graphs that the episode may still offer
        self._offered = np.zeros(shape, np.bool_)  # graphs that the next round offers
        self._round = np.zeros(self.num_envs, np.int64)
        self._over = np.ones(self.num_envs, np.bool_)  # bandits whose episode is over
        self._noise = NoiseAhead(self.num_envs, self.bandit)

    @property
    def graph_sets(self) -> tuple[GraphSet, ...]:
        """Return the K graphs of each bandit."""
        return tuple(instance.graph_set for instance in self._after_reset().values())

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Return a copy of the noise-free mean rewards, `(n, K)` float64; nan where there is no graph."""
        self._after_reset()
        return self._means.copy()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks of the graphs that the next round of each bandit offers, bool `(n, K)`."""
        self._after_reset()
        return self._offered.copy()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[VectorObservation, Info]:
        """Begin an episode in each bandit, or in those that the option `reset_mask` names.

        Raises:
            ValueError: if there are not as many seeds as bandits, or an option is unknown.
            ResetNeeded: if `reset_mask` leaves out a bandit that was never reset.
        """
        options = dict(options or {})
        chosen = self._check_reset_mask(options.pop("reset_mask", None))
        resample = check_reset_options(options)
        seeds = read_seeds(seed, self.num_envs)
        for i in np.flatnonzero(chosen).tolist():
            self._reset_one(i, seeds[i], resample)
        return self._observe(), self._add_rows({}, chosen, action_mask=self._offered.astype(np.int8))

    def step(
        self, actions: ArrayLike
    ) -> tuple[VectorObservation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Info]:
        """Play a graph in each bandit. A bandit whose episode is over ignores its action and begins the next episode.

        Raises:
            ResetNeeded: before the first reset, or if an episode is over and the next one does not begin by itself.
            InvalidAction: if an action is not an index that the round offers; nothing has changed then.
        """
        instances = self._after_reset()
        waiting = self._over.copy()
        if waiting.any() and self.autoreset_mode is not AutoresetMode.NEXT_STEP:
            over = np.flatnonzero(waiting).tolist()
            raise ResetNeeded(f"Expected `reset` before `step`: the episodes of bandits {over} are over.")
        playing = ~waiting
        played = self._check_actions(actions, playing)
        rows = np.arange(self.num_envs)
        means = self._means[rows, played]
        optimal = np.where(self._offered, self._means, -np.inf).argmax(axis=1)
        rewards = np.where(playing, means + self._noise.draw(instances, played, playing), 0.0)
        outcome = {
            "mean_reward": means,
            "optimal_mean_reward": self._means[rows, optimal],
            "optimal_action": optimal,
            "regret": self._means[rows, optimal] - means,
        }

        self._round[playing] += 1
        self._left[rows[playing], played[playing]] = self.bandit.replacement
        self._open_round(playing)
        terminated = playing & (~self._left.any(axis=1) | (self._round == 1) & (self.bandit.horizon == 1))
        truncated = playing & ((self._round == self.bandit.horizon) & ~terminated | (self._round >= self._step_limit))
        self._over = terminated | truncated | waiting  # until they have been reset

        info: Info = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._over.any():
            info = self._end_episodes(outcome)
            waiting, playing = self._over.copy(), ~self._over
        for i in np.flatnonzero(waiting).tolist():
            self._reset_one(i)
        self._add_rows(info, playing, **outcome)
        self._add_rows(info, np.ones_like(playing), action_mask=self._offered.astype(np.int8))
        return self._observe(), rewards, terminated, truncated, info

    def _reset_one(self, i: int, seed: int | None = None, resample: bool = False) -> None:
        if seed is not None or i not in self._generators:
            self._generators[i], _ = seeding.np_random(seed)
            resample = True
        if resample:
            self._instances[i] = self.bandit.draw(self._generators[i])
            self._noise.forget(i)
        elif self.bandit.resample_graphs:
            self._instances[i].take_graphs()
        self._show_graphs(i)
        self._round[i], self._over[i] = 0, False
        self._offer(i)

    def _open_round(self, playing: NDArray[np.bool_]) -> None:
        self._offered[playing] = self._left[playing]
        bandit = self.bandit
        one_by_one = bandit.actions_per_round < bandit.num_graphs or bandit.each_round or bandit.drift
        for i in np.flatnonzero(playing).tolist() if one_by_one else ():
            if bandit.each_round:
                self._instances[i].take_graphs()
                self._show_graphs(i)
            elif bandit.drift:
                self._instances[i].change_means()
                self._means[i, : len(self._instances[i].mean_rewards)] = self._instances[i].mean_rewards
            self._offer(i)

    def _offer(self, i: int) -> None:
        self._offered[i] = False
        self._offered[i, self._instances[i].offer(self._left[i])] = True

    def _show_graphs(self, i: int) -> None:
        self._left[i] = self._instances[i].exists(self.num_graphs)
        self._means[i] = np.nan
        self._means[i, self._left[i]] = self._instances[i].mean_rewards

    def _end_episodes(self, outcome: dict[str, Array]) -> Info:
        over, final = self._over, np.full(self.num_envs, None, dtype=object)
        graph_sets = self.graph_sets
        indices = pack_indices(self._offered, self.bandit.actions_per_round)
        for i in np.flatnonzero(over):
            final[i] = tuple(graph_sets[i]) if self.bandit.observes_graphs else indices[i]
        last = self._add_rows({}, over, **outcome, action_mask=self._offered.astype(np.int8))
        return {"final_obs": final, "_final_obs": over.copy(), "final_info": last, "_final_info": over.copy()}

    def _add_rows(self, info: Info, rows: NDArray[np.bool_], **values: Array) -> Info:
        """Add values as Gymnasium does: with zeros in the other rows, and the mask of `rows` under `_key`."""
        for key, value in values.items() if rows.any() else ():
            info[key] = np.where(rows.reshape(-1, *[1] * (value.ndim - 1)), value, value.dtype.type(0))
            info[f"_{key}"] = rows.copy()
        return info

    def _observe(self) -> VectorObservation:
        if self.bandit.observes_graphs:
            if self.bandit.varies:
                return tuple(map(tuple, self.graph_sets))
            return tuple(zip(*self.graph_sets, strict=True))
        return pack_indices(self._offered, self.bandit.actions_per_round)

    def _check_actions(self, actions: ArrayLike, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise InvalidAction(f"Expected an integer for each of {self.num_envs} bandits. Got {actions!r}.")
        valid = (given >= 0) & (given < self.num_graphs)
        played = np.where(valid & playing, given, 0).astype(np.int64)
        for i in np.flatnonzero(playing & ~(valid & self._offered[np.arange(self.num_envs), played])):
            raise InvalidAction(f"Expected an action where `action_mask` is 1. Got {given[i]} for bandit {i}.")
        return played

    def _check_reset_mask(self, reset_mask: ArrayLike | None) -> NDArray[np.bool_]:
        mask = np.ones(self.num_envs, np.bool_) if reset_mask is None else np.asarray(reset_mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"Expected `reset_mask` to be {self.num_envs} bools, one of them True. Got {reset_mask!r}."
            )
        if not mask.all():
            self._after_reset()
        return mask

    def _after_reset(self) -> dict[int, Instance]:
        if len(self._instances) < self.num_envs:
            raise ResetNeeded("Expected `reset` first: there is no instance or no episode yet.")
        return self._instances


class NoiseAhead:
    """The noise that each of n bandits would draw, a block of rounds at a time.

    Noise that a user's function draws is not drawn ahead, for it may depend on what is played.

    Args:
        num_envs: n.
        bandit: the model that all n bandits share.
    """

    def __init__(self, num_envs: int, bandit: BanditModel) -> None:
        self._noise = bandit.noise
        columns = bandit.num_graphs if self._noise.draws == "graph" else 1
        self._rounds = max(1, min(ROUNDS, bandit.horizon, NUMBERS // columns))
        self._numbers = np.zeros((num_envs, self._rounds, columns))
        self._used = np.full(num_envs, self._rounds)  # rounds of the block that have been played

    def forget(self, i: int) -> None:
        """Drop the noise drawn for bandit `i`, which has a new instance."""
        self._used[i] = self._rounds

    def draw(
        self, instances: Mapping[int, Instance], played: NDArray[np.int64], playing: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Draw the noise of this round.

        Args:
            instances: n instances.
            played: `(n,)`. The graph that each bandit plays.
            playing: bool `(n,)`. True where a bandit plays this round.

        Returns:
            `(n,)` float64; zero where a bandit does not play.
        """
        noise, rows = np.zeros(len(instances)), np.flatnonzero(playing)
        if callable(self._noise.noise):
            for i in rows.tolist():
                noise[i] = instances[i].draw_noise(int(played[i]))
            return noise
        for i in rows[self._used[rows] == self._rounds].tolist():
            self._numbers[i] = self._noise.draw_ahead(instances[i].noise_rng, self._rounds)
            self._used[i] = 0
        columns = played[rows] if self._noise.draws == "graph" else 0
        noise[rows] = self._noise.scale(played[rows]) * self._numbers[rows, self._used[rows], columns]
        self._used[rows] += 1
        return noise
