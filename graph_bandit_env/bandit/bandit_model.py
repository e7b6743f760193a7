"""Check the arguments of an environment and draw instances from them."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property, partial
from typing import get_args

import numpy as np
from gymnasium.spaces import Discrete, Space
from numpy.typing import NDArray

from graph_bandit_env.bandit.arguments import BanditArguments, ObservationKind, RenderMode, Resampling
from graph_bandit_env.bandit.instance import (
    DRIFT_RATE,
    Drift,
    DriftName,
    GraphSource,
    Instance,
    new_graphs,
    pool_subset,
    same_graphs,
)
from graph_bandit_env.bandit.spaces import Observation, graph_set_space, indices_space
from graph_bandit_env.checks import check_choice, check_flag, check_integer, check_number
from graph_bandit_env.graphs.random_graphs import RandomGraphs, size_range
from graph_bandit_env.graphs.readers import as_graph_set
from graph_bandit_env.rewards.noise import Noise, NoiseDraws, NoiseName, check_deviations
from graph_bandit_env.rewards.reward_models import (
    RANDOM_REWARDS,
    Rewards,
    RewardScale,
    check_reward_model,
    draw_general_rewards,
    draw_mean_rewards,
    draw_with_fresh,
)

REWARD_SEED_KEY = 2**31  # spawn key of `reward_seed` that no bandit uses


class BanditModel:
    """The validated arguments of an environment. `draw` returns an instance.

    Raises:
        ValueError: if an argument is out of range.
        TypeError: if `graphs` is not a collection of graphs, or `graph_model` is not a name.
    """

    def __init__(self, arguments: BanditArguments) -> None:
        if not isinstance(arguments.graph_model, str):
            raise TypeError("Expected `graph_model` to be a name. Pass your own graphs as `graphs`.")
        self.random_graphs = RandomGraphs(
            **{field.name: getattr(arguments, field.name) for field in fields(RandomGraphs)}
        )
        self.varies = isinstance(self.random_graphs.num_graphs, tuple)
        self.resample_graphs = arguments.resample_graphs is not False
        if not isinstance(arguments.resample_graphs, bool):
            check_choice("resample_graphs", arguments.resample_graphs, get_args(Resampling))
        self.each_round = arguments.resample_graphs == "round"
        self.own_graphs = None if arguments.graphs is None else as_graph_set(arguments.graphs, arguments.directed)
        _, self.num_graphs = size_range(self.random_graphs.num_graphs)
        if self.own_graphs is not None and not self.resample_graphs:
            self.num_graphs = len(self.own_graphs)
        self._refuse_contradictions(arguments)
        source = self.own_graphs or self.random_graphs
        self.largest_sizes: tuple[int, int] = source.largest_sizes
        self.feature_dim: int = source.feature_dim
        self.edge_feature_dim: int | None = source.edge_feature_dim
        self.reward_model = check_reward_model(
            "linear" if arguments.reward_model is None else arguments.reward_model,
            self.num_graphs if self.own_graphs is None else len(self.own_graphs),
            self.edge_feature_dim,
        )
        self.reward_scale = check_choice("reward_scale", arguments.reward_scale, get_args(RewardScale))
        seed, drift = arguments.reward_seed, arguments.drift
        self.reward_seed = None if seed is None else check_integer("reward_seed", seed, 0)
        self.drift = None if drift is None else check_choice("drift", drift, get_args(DriftName))
        self.drift_rate = check_number("drift_rate", arguments.drift_rate, 0.0, 1.0)
        self.noise = Noise(
            arguments.noise
            if callable(arguments.noise)
            else check_choice("noise", arguments.noise, get_args(NoiseName)),
            check_deviations(arguments.noise_std, None if self.resample_graphs or self.varies else self.num_graphs),
            check_choice("noise_draws", arguments.noise_draws, get_args(NoiseDraws)),
            self.num_graphs,
        )
        self.horizon = check_integer("horizon", arguments.horizon, 1)
        self.actions_per_round = self.num_graphs
        if arguments.actions_per_round is not None:
            self.actions_per_round = check_integer("actions_per_round", arguments.actions_per_round, 1, self.num_graphs)
        slots = [slot.name for slot in getattr(self.own_graphs, "slots", ())]
        self.context = None
        if arguments.context is not None:
            self.context = slots.index(check_choice("context", arguments.context, slots or ["none, without slots"]))
        self.offers_some = self.context is not None or self.actions_per_round < self.num_graphs
        self.replacement = check_flag("replacement", arguments.replacement)
        self.observes_graphs = check_choice("observe", arguments.observe, get_args(ObservationKind)) == "graphs"
        if arguments.render_mode is not None:
            check_choice("render_mode", arguments.render_mode, get_args(RenderMode))
        self.action_space = Discrete(self.num_graphs)
        self.observation_space: Space[Observation] = indices_space(
            self.num_graphs,
            self.actions_per_round,
            exhaustible=self.varies or not self.replacement or self.context is not None,
        )
        if self.observes_graphs:
            self.observation_space = graph_set_space(
                self.num_graphs, self.feature_dim, self.edge_feature_dim, self.varies
            )

    def _refuse_contradictions(self, arguments: BanditArguments) -> None:
        """Raise a ValueError if two arguments cannot be used together."""
        own, drifts, model = self.own_graphs, arguments.drift is not None, arguments.reward_model
        has_means = not (model is None or isinstance(model, str) or callable(model))
        drawn = self.random_graphs.num_graphs if self.resample_graphs else RandomGraphs().num_graphs
        refused = {
            "`directed` with `graphs`: random graphs are undirected": own is None and arguments.directed is not None,
            "`graphs` without graph_model, num_nodes, feature_dim, edge_prob, or num_graphs of a fixed set": (
                own is not None and self.random_graphs != RandomGraphs(num_graphs=drawn)
            ),
            "`num_graphs` to be at most the number of `graphs`": own is not None and self.num_graphs > len(own),
            "`reward_model` with `graphs`: means, a function, or a name": own is not None and model is None,
            "`reward_model` to be a name or a function, because the graphs change. Pass known graphs as `graphs`": (
                own is None and has_means and (self.resample_graphs or self.varies)
            ),
            "`reward_seed` with random graphs and a reward function. For known graphs, draw the means once": (
                arguments.reward_seed is not None and (own is not None or has_means)
            ),
            "`reward_model` with `drift` to be random, by its name": (
                drifts and (has_means or model not in (None, *RANDOM_REWARDS))
            ),
            "`drift` or `resample_graphs`: the means of the same graphs drift": drifts and self.resample_graphs,
            "`drift` or `reward_seed`, which fixes the reward function": drifts and arguments.reward_seed is not None,
            "`drift_rate` to be larger than 0, and only with `drift`": (
                arguments.drift_rate == 0 or (not drifts and arguments.drift_rate != DRIFT_RATE)
            ),
            '`replacement=True` and observe="graphs" with resample_graphs="round": each round has its own graphs': (
                self.each_round and not (arguments.replacement and arguments.observe == "graphs")
            ),
        }
        for expected in [words for words, holds in refused.items() if holds]:
            raise ValueError(f"Expected {expected}.")

    def draw(self, rng: np.random.Generator) -> Instance:
        """Draw an instance from new streams of `rng`: graphs, mean rewards, rounds, noise and any drift."""
        graphs_rng, reward_rng, rounds_rng, noise_rng = rng.spawn(4)
        source: GraphSource
        drift = None
        if self.own_graphs is None and self.resample_graphs:
            rewards = self._known_rewards or self._draw_rewards(reward_rng)
            source = partial(new_graphs, self.random_graphs, rewards, graphs_rng)
        else:
            graph_set = self.own_graphs or self.random_graphs.draw(graphs_rng)
            if self.drift is not None:
                means, fresh = draw_with_fresh(self.reward_model, graph_set, reward_rng, self.reward_scale)
                drift = Drift(self.drift, fresh, self.drift_rate, rng.spawn(1)[0])
            elif self._known_rewards is not None:
                means = self._known_rewards(graph_set)
            elif self._known_means is not None:
                means = self._known_means
            else:
                means = draw_mean_rewards(self.reward_model, graph_set, reward_rng, self.reward_scale)
            source = partial(same_graphs, graph_set, means)
            if self.resample_graphs:
                source = partial(pool_subset, graph_set, means, self.random_graphs.num_graphs, graphs_rng)
        return Instance(source, self.actions_per_round, self.context, rounds_rng, self.noise, noise_rng, drift)

    def _draw_rewards(self, rng: np.random.Generator) -> Rewards:
        return draw_general_rewards(self.reward_model, self.random_graphs, rng, self.reward_scale)

    @cached_property
    def _known_rewards(self) -> Rewards | None:
        """Return the reward function of `reward_seed`, drawn once and shared by all instances."""
        if self.reward_seed is None:
            return None
        # The root's first children would equal the streams of a bandit with the same seed in `reset`.
        root = np.random.SeedSequence(self.reward_seed, spawn_key=(REWARD_SEED_KEY,))
        return self._draw_rewards(np.random.default_rng(root))

    @cached_property
    def _known_means(self) -> NDArray[np.float64] | None:
        """Return the means of the user's graphs if they are not random."""
        if self.own_graphs is None or (isinstance(self.reward_model, str) and self.reward_model in RANDOM_REWARDS):
            return None
        return draw_mean_rewards(self.reward_model, self.own_graphs, np.random.default_rng(0), self.reward_scale)
