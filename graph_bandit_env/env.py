"""`GraphActionBandit-v0`: a bandit whose actions are whole graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsFloat, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from graph_bandit_env.checks import check_action, check_choice, check_integer, check_number
from graph_bandit_env.graph_models import RandomGraphs
from graph_bandit_env.graph_set import GraphSet, as_graph_set
from graph_bandit_env.noise import Noise, draw_noise, make_noise
from graph_bandit_env.reward_models import REWARD_SCALES, RewardModel, check_reward_model, draw_mean_rewards
from graph_bandit_env.spaces import USED_UP, graph_set_space, indices_space

Drawn = TypeVar("Drawn")


class GraphActionBandit(gym.Env[Any, np.int64]):
    """Choose one of K attributed graphs a round and receive a noisy reward.

    ## Description
    In round t the learner sees the graph set, plays a graph G_t that `action_mask` allows, and receives
    y_t = mu(G_t) + noise. It wants small cumulative regret, the sum of mu(G*_t) - mu(G_t).  [Wu & Amini 2024]

    ## Action space
    `Discrete(K)`: the index of a graph. An index that is out of range or masked out raises `InvalidAction`.

    ## Observation space
    `observe="graphs"`: a tuple of K `GraphInstance` (see `graph_bandit_env.spaces`), a fresh copy each round.
    `observe="indices"`: the indices of the graphs that this round offers (without replacement, followed by -1 in the
    places of those that are used up); the graphs are at `env.unwrapped.graph_set`.

    ## Rewards
    mu of the graph that was played, plus noise. Each graph's mean is fixed for an instance.

    ## Info
    `reset` and `step` give `action_mask`, int8 `(K,)`: the graphs that the *next* round offers. `step` also gives
    `mean_reward`, `optimal_mean_reward`, `optimal_action` and `regret` of the round just played, where the optimum
    is taken over the graphs which that round offered. Agents must not read these four.

    ## Starting state
    `reset(seed=s)` draws graphs, mean rewards, rounds and noise from four independent streams of one SeedSequence:
    equal seeds give equal instances, whatever is played. `reset()` keeps the instance and goes on with the noise;
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
        reward_model: "linear", "gp_gntk", "gp_representation", "gp_representation_relu", an array of K means, or a
            function from a PyG `Data` to a number.
        reward_scale: "raw", or "unit" for means shifted and scaled to mean 0 and standard deviation 1 over the set.
        noise: "gaussian", "uniform", "rademacher", or a function of (rng, mean reward) that returns what is added.
        noise_std: standard deviation of the named noises, in reward units.
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

    def __init__(
        self,
        *,
        graph_model: str = "er",
        num_graphs: int = 100,
        num_nodes: int = 50,
        feature_dim: int = 10,
        edge_prob: float = 0.4,
        graphs: GraphSet | Sequence[Any] | None = None,
        reward_model: RewardModel = "linear",
        reward_scale: str = "raw",
        noise: str | Noise = "gaussian",
        noise_std: float = 0.01,
        horizon: int = 1000,
        actions_per_round: int | None = None,
        replacement: bool = True,
        observe: str = "graphs",
        render_mode: str | None = None,
    ) -> None:
        self.render_mode, self._renderer = render_mode, None
        if render_mode is not None:
            from graph_bandit_env.rendering import Renderer

            self._renderer = Renderer(render_mode)
        if not isinstance(graph_model, str):
            raise TypeError("Expected `graph_model` to be a name. Graphs of your own go into `graphs`.")
        self._random_graphs = RandomGraphs(
            graph_model=graph_model,
            num_graphs=num_graphs,
            num_nodes=num_nodes,
            feature_dim=feature_dim,
            edge_prob=edge_prob,
        )
        given = self._own_graphs = None if graphs is None else as_graph_set(graphs)
        if given is not None and self._random_graphs != RandomGraphs():
            raise ValueError(
                "Expected `graphs` alone, or `graph_model`, `num_graphs`, `num_nodes`, `feature_dim` and `edge_prob`. "
                "Got both. Leave one out."
            )
        self.num_graphs = num_graphs if given is None else len(given)
        self._reward_model = check_reward_model(reward_model, self.num_graphs)
        self._reward_scale = check_choice("reward_scale", reward_scale, REWARD_SCALES)
        self._noise = make_noise(noise, check_number("noise_std", noise_std, 0.0))
        self.horizon = check_integer("horizon", horizon, 1)
        self.actions_per_round = self.num_graphs
        if actions_per_round is not None:
            self.actions_per_round = check_integer("actions_per_round", actions_per_round, 1, self.num_graphs)
        if not isinstance(replacement, bool):
            raise ValueError(f"Expected `replacement` to be True or False. Got {replacement!r}.")
        self.replacement = replacement
        self.observes_graphs = check_choice("observe", observe, ("graphs", "indices")) == "graphs"
        self.action_space = Discrete(self.num_graphs)
        if self.observes_graphs:
            width = feature_dim if given is None else given.feature_dim
            edge_width = None if given is None else given.edge_feature_dim
            self.observation_space = graph_set_space(self.num_graphs, width, edge_width)
        else:
            self.observation_space = indices_space(self.num_graphs, self.actions_per_round, exhaustible=not replacement)
        self._graph_set: GraphSet | None = given
        self._mean_rewards: NDArray[np.float64] | None = None
        self._available: NDArray[np.int64] | None = None  # of the round to come; None outside an episode
        self._left = np.ones(self.num_graphs, np.bool_)  # graphs that this episode may still offer
        self._round = 0

    @property
    def graph_set(self) -> GraphSet:
        """Return the K graphs of this instance."""
        return self._after_reset(self._graph_set)

    @property
    def largest_sizes(self) -> tuple[int, int]:
        """Return how many nodes and edges (both directions counted) a graph of any instance can have."""
        return (self._own_graphs or self._random_graphs).largest_sizes

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Return a copy of the noise-free mean rewards, `(K,)` float64."""
        return self._after_reset(self._mean_rewards).copy()

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
        options = options or {}
        if not isinstance(options, dict) or set(options) - {"resample"}:
            raise ValueError(f"Expected the option `resample` or none. Got {options!r}.")
        if not isinstance(options.get("resample", False), bool):
            raise ValueError(f"Expected `resample` to be True or False. Got {options['resample']!r}.")
        super().reset(seed=seed)
        if seed is not None or self._mean_rewards is None or options.get("resample", False):
            self._draw_instance()
        self._round = 0
        self._left[:] = True
        self._open_round()
        if self._renderer is not None:
            self._renderer.begin(self.graph_set, self.mean_rewards, self.horizon)
        if self.render_mode == "human":
            self.render()
        return self._observe(), {"action_mask": self.action_masks().astype(np.int8)}

    def step(self, action: np.int64) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play a graph.

        Raises:
            ResetNeeded: outside an episode.
            InvalidAction: if the action is not an index that the round offers.
        """
        if self._available is None:
            raise ResetNeeded("Expected `reset` before `step`: there is no episode, or it is over.")
        played = check_action(action, self.action_masks())
        means = self.mean_rewards
        optimal = self._available[means[self._available].argmax()]
        reward = float(means[played]) + draw_noise(self._noise, self._noise_rng, float(means[played]))
        info: dict[str, Any] = {
            "mean_reward": float(means[played]),
            "optimal_mean_reward": float(means[optimal]),
            "optimal_action": int(optimal),
            "regret": float(means[optimal] - means[played]),
        }
        self._round += 1
        self._left[played] = self.replacement
        self._open_round()
        info["action_mask"] = self.action_masks().astype(np.int8)
        observation = self._observe()
        terminated = not self._left.any() or self._round == self.horizon == 1
        truncated = self._round == self.horizon and not terminated
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

    def _draw_instance(self) -> None:
        graphs_rng, reward_rng, rounds_rng, noise_rng = self.np_random.spawn(4)
        graph_set = self._own_graphs or self._random_graphs.draw(graphs_rng)
        self._mean_rewards = draw_mean_rewards(self._reward_model, graph_set, reward_rng, self._reward_scale)
        self._graph_set, self._rounds_rng, self._noise_rng = graph_set, rounds_rng, noise_rng

    def _open_round(self) -> None:
        self._available = np.flatnonzero(self._left)
        if self.actions_per_round < len(self._available):
            drawn = self._rounds_rng.choice(self._available, self.actions_per_round, replace=False)
            self._available = np.sort(drawn)

    def _observe(self) -> Any:
        if self.observes_graphs:
            return tuple(self.graph_set)
        offered = self._after_reset(self._available)
        return np.pad(offered, (0, self.actions_per_round - len(offered)), constant_values=USED_UP)

    def _after_reset(self, value: Drawn | None) -> Drawn:
        if value is None:
            raise ResetNeeded("Expected `reset` first: there is no instance or no episode yet.")
        return value
