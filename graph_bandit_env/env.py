"""`GraphActionBandit-v0`: a bandit whose actions are whole graphs."""

from __future__ import annotations

from typing import Any, SupportsFloat, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_env.bandit.instance import Instance
from graph_bandit_env.bandit.spaces import USED_UP
from graph_bandit_env.checks import check_action, check_reset_options
from graph_bandit_env.graphs.graph_set import GraphSet

Drawn = TypeVar("Drawn")


class GraphActionBandit(gym.Env[Any, np.int64]):
    """Choose one of K attributed graphs a round and receive a noisy reward.

    ## Description
    In round t the learner sees the graph set, plays a graph G_t that `action_mask` allows, and receives
    y_t = mu(G_t) + noise. It wants small cumulative regret, the sum of mu(G*_t) - mu(G_t).  [Wu & Amini 2024]
    `gymnasium.make_vec` makes many such bandits that step together: `graph_bandit_env.vector_env`.

    ## Action space
    `Discrete(K)`: the index of a graph. An index that is out of range or masked out raises `InvalidAction`.

    ## Observation space
    `observe="graphs"`: a tuple of K `GraphInstance` (see `graph_bandit_env.bandit.spaces`), a fresh copy each round.
    `observe="indices"`: the indices of the graphs that this round offers (without replacement, followed by -1 in the
    places of those that are used up); the graphs are at `env.unwrapped.graph_set`.

    ## Rewards
    mu of the graph that was played, plus noise. Each graph's mean is fixed for an instance. With `resample_graphs` the
    named Gaussian processes are drawn as functions over graphs (`graph_bandit_env.rewards.general_rewards`).

    ## Info
    `reset` and `step` give `action_mask`, int8 `(K,)`: the graphs that the *next* round offers. `step` also gives
    `mean_reward`, `optimal_mean_reward`, `optimal_action` and `regret` of the round just played, where the optimum
    is taken over the graphs which that round offered. Agents must not read these four.

    ## Starting state
    `reset(seed=s)` draws graphs, mean rewards, rounds and noise from four independent streams of one SeedSequence:
    equal seeds give equal instances, whatever is played. `reset()` keeps the instance and goes on with the noise (and,
    with `resample_graphs`, to the next graph set);
    `reset(options={"resample": True})` draws a new instance from the same seed's next streams.

    ## Episode end
    After `horizon` rounds the episode is truncated (terminated, if `horizon` is 1). Without replacement it terminates
    when every graph was played.

    ## Arguments
    Args:
        graph_model: "er" (Erdős–Rényi) or "rdpg" (random dot product graphs).
        num_graphs: K.
        num_nodes: N, of each graph.
        feature_dim: d, features of a node.
        edge_prob: p of an Erdős–Rényi graph.
        graphs: graphs of one's own instead of a graph model: a `GraphSet`, or a list of PyG `Data` or networkx graphs.
        resample_graphs: True: each episode has a graph set of its own, and one reward function over graphs holds for
            all of them. Random graphs are drawn anew; of `graphs`, `num_graphs` are drawn.
        reward_model: "linear", "gp_gntk", "gp_representation", "gp_representation_relu", an array of K means, or a
            function from a PyG `Data` to a number.
        reward_scale: "raw", or "unit" for means shifted and scaled to mean 0 and standard deviation 1 over the set
            (with `resample_graphs`: over 100 random graphs, or all of `graphs`).
        reward_seed: None, or a seed of its own for the reward function, which is then one function over random graphs
            of these sizes, whatever the seed of `reset`. With `resample_graphs`, some bandits train a policy, and
            others test it on unseen graphs.
        noise: "gaussian", "uniform", "rademacher", or a function of (rng, mean reward) that returns what is added.
        noise_std: standard deviation of the named noises, in reward units.
        common_noise: True: in round t the noise of each graph's reward is the same whatever was played before, for
            comparisons of agents round by round.
        horizon: T, rounds in an episode.
        actions_per_round: None, or how many graphs each round offers, drawn afresh and uniformly.
        replacement: False: a graph that was played is not on offer again in this episode.
        observe: "graphs" or "indices".
        render_mode: None, "rgb_array" or "human" (a window that `step` and `reset` draw into).

    Raises:
        ValueError: if an argument is out of its range; the message says what was expected.
        TypeError: if `graphs` is not a collection of graphs, or `graph_model` is not a name.

    ## Version history
    * v0: first version.
    """

    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 4}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(self, *, render_mode: str | None = None, **settings: Any) -> None:
        self.render_mode, self._renderer = render_mode, None
        if render_mode is not None:
            from graph_bandit_env.rendering import Renderer

            self._renderer = Renderer(render_mode)
        self.bandit = BanditModel.from_arguments(settings)
        self.num_graphs = self.bandit.num_graphs
        self.action_space = self.bandit.action_space
        self.observation_space = self.bandit.observation_space
        self._instance: Instance | None = None
        self._available: NDArray[np.int64] | None = None  # of the round to come; None outside an episode
        self._left = np.ones(self.num_graphs, np.bool_)  # graphs that this episode may still offer
        self._round = 0

    @property
    def graph_set(self) -> GraphSet:
        """Return the K graphs of this episode; graphs of one's own are there before the first `reset`."""
        if self._instance is None and self.bandit.own_graphs is not None and not self.bandit.resample_graphs:
            return self.bandit.own_graphs
        return self._after_reset(self._instance).graph_set

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Return a copy of the noise-free mean rewards, `(K,)` float64."""
        return self._after_reset(self._instance).mean_rewards.copy()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the graphs that the coming round offers, bool `(K,)`, as MaskablePPO of sb3-contrib asks for it."""
        mask = np.zeros(self.num_graphs, np.bool_)
        mask[self._after_reset(self._available)] = True
        return mask

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, on a new instance if `seed` or the option `resample` says so.

        Raises:
            ValueError: if an option is unknown.
        """
        resample = check_reset_options(options)
        super().reset(seed=seed)
        if seed is not None or self._instance is None or resample:
            self._instance = self.bandit.draw(self.np_random)
        else:
            self._instance.begin_episode()
        self._round = 0
        self._left[:] = True
        self._available = self._instance.offer(self._left)
        if self._renderer is not None:
            self._renderer.begin(self.graph_set, self.mean_rewards, self.bandit.horizon)
        if self.render_mode == "human":
            self.render()
        return self._observe(), {"action_mask": self.action_masks().astype(np.int8)}

    def step(self, action: np.int64) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play a graph.

        Raises:
            ResetNeeded: outside an episode.
            InvalidAction: if the action is not an index that the round offers.
        """
        if self._instance is None or self._available is None:
            raise ResetNeeded("Expected `reset` before `step`: there is no episode, or it is over.")
        played = check_action(action, self.action_masks())
        means = self._instance.mean_rewards
        optimal = self._available[means[self._available].argmax()]
        reward = float(means[played]) + self._instance.noise.draw(means, played)
        info: dict[str, Any] = {
            "mean_reward": float(means[played]),
            "optimal_mean_reward": float(means[optimal]),
            "optimal_action": int(optimal),
            "regret": float(means[optimal] - means[played]),
        }
        self._round += 1
        self._left[played] = self.bandit.replacement
        self._available = self._instance.offer(self._left)
        info["action_mask"] = self.action_masks().astype(np.int8)
        observation = self._observe()
        terminated = not self._left.any() or self._round == self.bandit.horizon == 1
        truncated = self._round == self.bandit.horizon and not terminated
        if terminated or truncated:
            self._available = None
        if self._renderer is not None:
            self._renderer.record(played, reward, info["regret"])
        if self.render_mode == "human":
            self.render()
        return observation, reward, terminated, truncated, info

    def render(self) -> Any:
        """Draw the episode as it stands: a frame `(540, 960, 3)` uint8 for "rgb_array", None for "human"."""
        if self._renderer is None:
            gym.logger.warn('Expected `render_mode` to be "rgb_array" or "human" for `render`. Got None.')
            return None
        return self._renderer.render(None if self._available is None else self.action_masks())

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._renderer is not None:
            self._renderer.close()

    def _observe(self) -> Any:
        if self.bandit.observes_graphs:
            return tuple(self.graph_set)
        offered = self._after_reset(self._available)
        return np.pad(offered, (0, self.bandit.actions_per_round - len(offered)), constant_values=USED_UP)

    def _after_reset(self, value: Drawn | None) -> Drawn:
        if value is None:
            raise ResetNeeded("Expected `reset` first: there is no instance or no episode yet.")
        return value
