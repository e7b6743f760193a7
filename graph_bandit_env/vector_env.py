"""The native vector environment: many independent graph bandits that step together, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import gymnasium as gym
import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.spaces import GraphInstance
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.bandit.arguments import VectorArguments
from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_env.bandit.calls import LimitedSpec, check_reset_options, read_seeds
from graph_bandit_env.bandit.instance import Instance
from graph_bandit_env.bandit.signatures import describes, takes
from graph_bandit_env.bandit.spaces import Info, pack_indices
from graph_bandit_env.checks import check_integer
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.rewards.noise import NamedNoise

ROUNDS = 256  # rounds drawn at once, at most
NUMBERS = 1 << 12  # numbers kept for one bandit, at most
Array = NDArray[np.bool_ | np.integer | np.float64]
VectorObservation = tuple[tuple[GraphInstance, ...], ...] | NDArray[np.int64]
"""K tuples of n graphs each, one for each action (if K varies, n tuples, one for each bandit), or `(n, k)` indices."""


@describes(VectorArguments)
class GraphActionBanditVector(LimitedSpec, gym.vector.VectorEnv[VectorObservation, ArrayLike, Array]):
    """`num_envs` bandits, each a `GraphActionBandit` with the same arguments and its own seed.

    `gymnasium.make_vec("GraphActionBandit-v0", num_envs=n, ...)` makes one. `SyncVectorEnv` and `AsyncVectorEnv`
    (`vectorization_mode="sync"`, or "async" with `vector_kwargs={"shared_memory": False}`) give the same trajectories
    for the same list of seeds and the same actions, but slower.

    ## Seeds
    `reset(seed=[s_1, ..., s_n])` resets bandit i with seed s_i. `spread_seeds` turns an integer into such a list.

    ## Arguments
    The fields of `VectorArguments`: `num_envs`, then the keywords of `GraphActionBandit` and two more.

    Raises:
        ValueError, TypeError: as in `GraphActionBandit`.
    """

    @takes(VectorArguments)
    def __init__(self, arguments: VectorArguments) -> None:
        if arguments.render_mode is not None:
            raise ValueError("Expected `render_mode` to be None. `make_vec(..., vectorization_mode='sync')` renders.")
        self.render_mode = None
        self.num_envs = check_integer("num_envs", arguments.num_envs, 1)
        self.autoreset_mode = AutoresetMode(arguments.autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.bandit = BanditModel(arguments)
        limit = arguments.max_episode_steps
        self._step_limit = math.inf if limit is None else check_integer("max_episode_steps", limit, 1)
        self._most_rounds = int(min(self.bandit.horizon, self._step_limit))
        self.num_graphs = self.bandit.num_graphs
        self.single_action_space = self.bandit.action_space
        self.single_observation_space = self.bandit.observation_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

        shape = self.num_envs, self.num_graphs
        self._instances: list[Instance | None] = [None] * self.num_envs  # None before the first reset
        self._generators: list[np.random.Generator | None] = [None] * self.num_envs
        self._seeds: list[int | None] = [None] * self.num_envs
        self._means = np.zeros(shape)
        self._left = np.ones(shape, np.bool_)  # graphs that the episode may still offer
        self._offered = np.zeros(shape, np.bool_)  # graphs that the next round offers
        self._round = np.zeros(self.num_envs, np.int64)
        self._over = np.ones(self.num_envs, np.bool_)  # bandits whose episode is over
        self._noise = NoiseAhead(self.num_envs, self.bandit)

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]
        """Return the seed of each bandit, given or drawn; None before the first reset."""
        return tuple(self._seeds)

    @property
    def graph_sets(self) -> tuple[GraphSet, ...]:
        """Return the K graphs of each bandit."""
        return tuple(instance.graph_set for instance in self._after_reset())

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
        info: Info = {}
        return self._observe(), self._add_rows(info, chosen, action_mask=self._offered.astype(np.int8))

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
        generator, instance = self._generators[i], self._instances[i]
        if seed is not None or generator is None:
            generator, self._seeds[i] = seeding.np_random(seed)
            self._generators[i] = generator
        if seed is not None or resample or instance is None:
            instance = self._instances[i] = self.bandit.draw(generator)
            self._noise.forget(i)
        elif self.bandit.resample_graphs:
            instance.take_graphs()
        self._show(i, instance)
        self._round[i], self._over[i] = 0, False
        self._offered[i] = False
        self._offered[i, instance.offer(self._left[i])] = True

    def _open_round(self, playing: NDArray[np.bool_]) -> None:
        instances = self._after_reset()
        for i in np.flatnonzero(playing).tolist() if self.bandit.each_round else ():
            instances[i].take_graphs()
            self._show(i, instances[i])
        for i in np.flatnonzero(playing).tolist() if self.bandit.drift else ():
            instances[i].drift()
            self._means[i, : len(instances[i].mean_rewards)] = instances[i].mean_rewards
        if self.bandit.actions_per_round == self.num_graphs:
            self._offered[playing] = self._left[playing]
            return
        self._offered[playing] = False
        for i in np.flatnonzero(playing).tolist():
            self._offered[i, instances[i].offer(self._left[i])] = True

    def _show(self, i: int, instance: Instance) -> None:
        self._left[i] = instance.exists(self.num_graphs)
        self._means[i] = np.nan
        self._means[i, self._left[i]] = instance.mean_rewards

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
        if reset_mask is None:
            return np.ones(self.num_envs, np.bool_)
        mask = np.asarray(reset_mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"Expected `reset_mask` to be {self.num_envs} bools, one of them True. Got {reset_mask!r}."
            )
        if not mask.all():
            self._after_reset()
        return mask

    def _after_reset(self) -> list[Instance]:
        instances = [instance for instance in self._instances if instance is not None]
        if len(instances) < self.num_envs:
            raise ResetNeeded("Expected `reset` first: there is no instance or no episode yet.")
        return instances


class NoiseAhead:
    """The numbers that `Instance.noise.draw` would give for each bandit, a block of rounds at a time.

    Noise that a user's function draws is not drawn ahead, for it may depend on what is played.

    Args:
        num_envs: n.
        bandit: the model that all n bandits share.
    """

    def __init__(self, num_envs: int, bandit: BanditModel) -> None:
        self._named = bandit.noise if isinstance(bandit.noise, NamedNoise) else None
        self._of_graphs = bandit.noise_draws == "graph"
        columns = bandit.num_graphs if self._of_graphs else 1
        rounds = max(1, min(ROUNDS, bandit.horizon, NUMBERS // columns))
        self._numbers = np.zeros((num_envs, rounds if self._named else 0, columns))
        self._used = np.full(num_envs, rounds)  # rounds of the block that have been played

    def forget(self, i: int) -> None:
        """Drop the noise drawn for bandit `i`, which has a new instance."""
        self._used[i] = self._numbers.shape[1]

    def draw(
        self, instances: Sequence[Instance], played: NDArray[np.int64], playing: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Draw the noise of this round.

        Args:
            instances: n instances.
            played: `(n,)`. The graph that each bandit plays.
            playing: bool `(n,)`. True where a bandit plays this round.

        Returns:
            `(n,)` float64; zero where a bandit does not play.
        """
        noise = np.zeros(len(instances))
        rows = np.flatnonzero(playing)
        if self._named is None:
            for i in rows.tolist():
                noise[i] = instances[i].noise.draw(instances[i].mean_rewards, int(played[i]))
            return noise
        rounds = self._numbers.shape[1]
        for i in rows[self._used[rows] == rounds].tolist():
            self._numbers[i] = instances[i].noise.draw_ahead(rounds)
            self._used[i] = 0
        columns = played[rows] if self._of_graphs else 0
        noise[rows] = self._named.scale(played[rows]) * self._numbers[rows, self._used[rows], columns]
        self._used[rows] += 1
        return noise
