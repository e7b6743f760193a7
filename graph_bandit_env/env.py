"""`GraphActionBandit-v0`: a bandit whose actions are whole graphs, and its vector environment."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from copy import copy
from inspect import signature
from typing import Any, SupportsFloat, SupportsIndex, cast

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from graph_bandit_env.bandit.arguments import BanditArguments
from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_env.bandit.episode import Episode
from graph_bandit_env.bandit.instance import Instance
from graph_bandit_env.bandit.spaces import USED_UP, Info, Observation
from graph_bandit_env.checks import check_flag, check_integer
from graph_bandit_env.graphs.graph_set import GraphSet


class GraphActionBandit(gym.Env[Observation, np.int64]):
    """Choose one of K attributed graphs a round and receive a noisy reward.

    ## Description
    In round t the learner observes the graph set, plays a graph G_t that `action_mask` allows, and receives
    y_t = mu(G_t) + noise. The aim is a small cumulative regret, the sum of mu(G*_t) - mu(G_t).  [Wu & Amini 2024]
    `gymnasium.make_vec` creates a vector environment of such bandits (`GraphActionBanditVector`).

    ## Action space
    `Discrete(K)`: the index of a graph. An index that is out of range or masked out raises `InvalidAction`. If the
    number of graphs varies, K is the maximum here and in `action_mask`.

    ## Observation space
    `observe="graphs"`: a tuple of K `GraphInstance` (see `graph_bandit_env.bandit.spaces`), a new copy each round. If
    their number varies, the space is a `Sequence`.
    `observe="indices"`: the indices of the graphs on offer in this round (-1 pads the entries of graphs that are used
    up or do not exist). The graphs are at `env.unwrapped.graph_set`.

    ## Rewards
    mu of the played graph, plus noise. The mean of each graph is fixed within an instance. With `resample_graphs`, each
    episode or round has new graphs, and the named Gaussian processes are drawn as functions of any graph
    (`graph_bandit_env.rewards.general_rewards`). With `drift`, the means change after each round or at unknown times
    (`graph_bandit_env.bandit.instance`).

    ## Info
    `reset` and `step` return `action_mask`, int8 `(K,)`: 1 for the graphs on offer in the *next* round. `step` also
    returns `mean_reward`, `optimal_mean_reward`, `optimal_action` and `regret` of the round just played. The optimum is
    over the graphs on offer in that round. They are NumPy scalars, int64 and float64. Agents must not read these four.

    ## Starting state
    `reset(seed=s)` draws graphs, mean rewards, rounds, noise and drift from independent streams of one SeedSequence, so
    equal seeds give equal instances for any actions. With `drift`, the first means are those of the same seed without.
    `reset()` keeps the instance: noise and drift continue, and with `resample_graphs` the next graph set is drawn.
    (With "round", each step also draws one.)
    `reset(options={"resample": True})` draws a new instance from the next streams of the same seed.

    ## Episode end
    After `horizon` rounds the episode is truncated (terminated if `horizon` is 1). Without replacement it terminates
    once every graph has been played. There is no `TimeLimit`, but `spec.max_episode_steps` is the horizon, for wrappers
    that read it.

    ## Arguments
    The fields of `BanditArguments`, as keywords.

    Raises:
        ValueError: if an argument is out of range.
        TypeError: if an argument is unknown, `graphs` is not a collection of graphs, or `graph_model` is not a name.

    ## Version history
    * v0: first version.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 - as declared by Gymnasium

    _spec: EnvSpec | None = None
    __signature__ = signature(BanditArguments)  # so that `help` and editors list the arguments

    def __init__(self, **arguments: Any) -> None:
        given = BanditArguments(**arguments)
        self.render_mode = given.render_mode
        self.bandit = BanditModel(given)
        self.num_graphs = self.bandit.num_graphs
        self.action_space = self.bandit.action_space
        self.observation_space = self.bandit.observation_space
        self._instance: Instance | None = None
        self._episode: Episode | None = None  # for rendering
        self._available = np.empty(0, np.int64)  # graphs of the next round, empty outside an episode
        self._left = np.ones(self.num_graphs, np.bool_)  # graphs that this episode may still offer
        self._round = 0

    @property
    def spec(self) -> EnvSpec | None:
        """Return the spec that `gymnasium.make` sets, with `max_episode_steps` at most the horizon."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = copy(spec)
        if self._spec is not None:
            self._spec.max_episode_steps = min(self.bandit.horizon, self._spec.max_episode_steps or self.bandit.horizon)

    @property
    def graph_set(self) -> GraphSet:
        """Return the K graphs of the next round. A fixed set in `graphs` is available before the first `reset`."""
        if self._instance is None and self.bandit.own_graphs is not None and not self.bandit.resample_graphs:
            return self.bandit.own_graphs
        return self._after_reset().graph_set

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Return a copy of the noise-free mean rewards of the next round, `(K,)` float64."""
        return self._after_reset().mean_rewards.copy()

    def offered_together(self) -> list[NDArray[np.int64]]:
        """Return the groups of graphs that a round may offer together: those of each context, or all, as indices."""
        return self._after_reset().groups()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the graphs on offer in the next round, bool `(K,)`, for sb3-contrib's MaskablePPO."""
        self._after_reset()
        mask = np.zeros(self.num_graphs, np.bool_)
        mask[self._available] = True
        return mask

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Start an episode, on a new instance if `seed` or the option `resample` is given.

        Raises:
            ValueError: if an option is unknown.
        """
        resample = check_reset_options(options)
        super().reset(seed=seed)
        if seed is not None or self._instance is None or resample:
            self._instance = self.bandit.draw(self.np_random)
        elif self.bandit.resample_graphs:
            self._instance.take_graphs()
        self._round = 0
        self._left[:] = self._instance.exists(self.num_graphs)
        self._available = self._instance.offer(self._left)
        if self.render_mode is not None:
            self._episode = Episode(self.graph_set, self.mean_rewards, self.bandit.horizon)
        return self._observe(), {"action_mask": self.action_masks().astype(np.int8)}

    def step(self, action: np.int64) -> tuple[Observation, SupportsFloat, bool, bool, Info]:
        """Play a graph.

        Raises:
            ResetNeeded: outside an episode.
            InvalidAction: if the action is not the index of a graph on offer.
        """
        if self._instance is None or not len(self._available):
            raise ResetNeeded("Expected `reset` before `step`: there is no episode, or it is over.")
        played = check_action(action, self.action_masks())
        means = self._instance.mean_rewards
        optimal = self._available[means[self._available].argmax()]
        reward = float(means[played]) + self._instance.draw_noise(played)
        info: Info = {
            "mean_reward": means[played],
            "optimal_mean_reward": means[optimal],
            "optimal_action": optimal,
            "regret": means[optimal] - means[played],
        }
        if self._episode is not None:
            self._episode.record(self.graph_set, means, played, reward, info["regret"])
        self._round += 1
        self._left[played] = self.bandit.replacement
        if self.bandit.each_round:
            self._instance.take_graphs()
            self._left[:] = self._instance.exists(self.num_graphs)
        self._instance.change_means()
        self._available = self._instance.offer(self._left)
        info["action_mask"] = self.action_masks().astype(np.int8)
        observation = self._observe()
        terminated = not self._left.any() or self._round == self.bandit.horizon == 1
        truncated = self._round == self.bandit.horizon and not terminated
        if terminated or truncated:
            self._available = self._available[:0]
        return observation, reward, terminated, truncated, info

    def render(self) -> NDArray[np.uint8] | None:
        """Return a frame of the episode so far, `(540, 960, 3)` uint8, or None without a `render_mode`."""
        if self.render_mode is None:
            gym.logger.warn('Expected `render_mode="rgb_array"` for `render`. Got None.')
            return None
        from graph_bandit_env.rendering import draw

        self._after_reset()
        return draw(cast(Episode, self._episode), self.action_masks())

    def _observe(self) -> Observation:
        if self.bandit.observes_graphs:
            return tuple(self._after_reset().graph_set)
        listed = np.full(self.bandit.actions_per_round, USED_UP, np.int64)  # faster than `np.pad`
        listed[: len(self._available)] = self._available
        return listed

    def _after_reset(self) -> Instance:
        if self._instance is None:
            raise ResetNeeded("Expected `reset` first: there is no instance yet.")
        return self._instance


class GraphActionBanditVector(SyncVectorEnv):
    """Gymnasium's `SyncVectorEnv` of n bandits with equal arguments and mixed seeds.

    Create it by `gymnasium.make_vec("GraphActionBandit-v0", num_envs=n, ...)`. `reset(seed=[s_1, ..., s_n])` resets
    bandit i with seed s_i, and `reset(seed=s)` uses the seeds of `spread_seeds`. With Gymnasium's seeds s, s + 1, and
    so on, bandit 1 of seed 0 would equal bandit 0 of seed 1. Parts that are fixed for all instances, such as the reward
    function of `reward_seed`, are drawn once for all bandits.

    Args:
        num_envs: n, at least 1.
        autoreset_mode: time at which a bandit starts its next episode, as in `SyncVectorEnv`.
        max_episode_steps: number of rounds after which an episode is truncated, as by `TimeLimit`. None for no limit.
        make: creates one bandit from `arguments`.
        **arguments: the fields of `BanditArguments`, and other arguments of `make`.

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
        """Start an episode in each bandit, or in those selected by the option `reset_mask`.

        Raises:
            ValueError: if there are not as many seeds as bandits, or an option is unknown.
        """
        if isinstance(seed, int | np.integer):
            seed = [*spread_seeds(seed, self.num_envs)]
        return super().reset(seed=seed, options=options)


def check_reset_options(options: Mapping[str, object] | None) -> bool:
    """Return the option `resample` of `reset` (default False), or raise a ValueError for any other option."""
    given: object = {} if options is None else options
    if not isinstance(given, Mapping) or set(given) - {"resample"}:
        raise ValueError(f"Expected the option `resample` or none. Got {options!r}.")
    return check_flag("resample", given.get("resample", False))


def check_action(action: SupportsIndex, action_mask: NDArray[np.bool_]) -> int:
    """Return `action` as an int if the round offers it, or raise `InvalidAction`."""
    try:
        index = operator.index(None if isinstance(action, bool) else action)  # type: ignore[arg-type]
    except TypeError:
        index = -1
    if not (0 <= index < len(action_mask) and action_mask[index]):
        raise InvalidAction(
            f"Expected an integer from 0 to {len(action_mask) - 1} where `action_mask` is 1. Got {action!r}."
        )
    return index


def spread_seeds(seed: int, num_envs: int) -> list[int]:
    """Return a seed for each of several bandits, mixed by `SeedSequence`. The lists for seeds 0 and 1 share no seed.

    Gymnasium uses seed, seed + 1, and so on, so that environment 1 of seed 0 equals environment 0 of seed 1.

    Args:
        seed: an integer >= 0.
        num_envs: number of seeds. A larger number keeps the first ones.

    Returns:
        The seeds that `GraphActionBanditVector` uses for `reset(seed=seed)`. Pass them to `reset` of other vector
        environments.
    """
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(num_envs, np.uint64)]
