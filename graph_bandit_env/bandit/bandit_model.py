"""Check the arguments of an environment and draw instances from them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from gymnasium.spaces import Discrete, Space
from numpy.typing import NDArray

from graph_bandit_env.bandit.arguments import OBSERVATION_KINDS, RESAMPLINGS, BanditArguments
from graph_bandit_env.bandit.instance import (
    DRIFT_NAMES,
    DRIFT_RATE,
    Drift,
    DriftName,
    GraphSource,
    Instance,
    NewGraphs,
    PoolSubsets,
    Rewards,
    SameGraphs,
    draw_general_rewards,
)
from graph_bandit_env.bandit.spaces import Observation, graph_set_space, indices_space
from graph_bandit_env.checks import check_choice, check_flag, check_integer, check_number
from graph_bandit_env.graphs.graph_set import GraphSet, as_graph_set
from graph_bandit_env.graphs.random_graphs import RandomGraphs, largest_size
from graph_bandit_env.rewards.noise import NOISE_DRAWS, NoiseStream, make_noise
from graph_bandit_env.rewards.reward_models import (
    RANDOM_REWARDS,
    REWARD_MODELS,
    REWARD_SCALES,
    RewardModel,
    check_fit,
    check_reward_model,
    draw_mean_rewards,
    draw_with_fresh,
    is_structural,
)

REWARD_SEED_KEY = 2**31  # a child of `reward_seed` that no bandit ever spawns


class BanditModel:
    """The arguments of an environment, checked once; `draw` makes an instance.

    Raises:
        ValueError: if an argument is out of range.
        TypeError: if `graphs` is not a collection of graphs, or `graph_model` is not a name.
    """

    def __init__(self, arguments: BanditArguments) -> None:
        if not isinstance(arguments.graph_model, str):
            raise TypeError("Expected `graph_model` to be a name. Graphs of your own go into `graphs`.")
        self.random_graphs = RandomGraphs(
            graph_model=arguments.graph_model,
            num_graphs=arguments.num_graphs,
            num_nodes=arguments.num_nodes,
            feature_dim=arguments.feature_dim,
            edge_prob=arguments.edge_prob,
        )
        self.resample_graphs, self.each_round = _read_resampling(arguments.resample_graphs)
        self.own_graphs = self._read_graphs(arguments)
        self.num_graphs = self._check_num_graphs()
        self.varies = isinstance(self.random_graphs.num_graphs, tuple)
        self.reward_model = self._check_reward_model(arguments.reward_model)
        self.reward_scale = check_choice("reward_scale", arguments.reward_scale, REWARD_SCALES)
        self.reward_seed = self._check_reward_seed(arguments.reward_seed)
        self.drift = self._check_drift(arguments.drift)
        self.drift_rate = self._check_drift_rate(arguments.drift_rate)
        fixed = None if self.resample_graphs or self.varies else self.num_graphs
        self.noise = make_noise(arguments.noise, arguments.noise_std, fixed)
        self.noise_draws = check_choice("noise_draws", arguments.noise_draws, NOISE_DRAWS)
        self.horizon = check_integer("horizon", arguments.horizon, 1)
        self.actions_per_round = self.num_graphs
        if arguments.actions_per_round is not None:
            self.actions_per_round = check_integer("actions_per_round", arguments.actions_per_round, 1, self.num_graphs)
        self.replacement = check_flag("replacement", arguments.replacement)
        self.observes_graphs = check_choice("observe", arguments.observe, OBSERVATION_KINDS) == "graphs"
        if self.each_round and not self.replacement:
            raise ValueError(
                'Expected `replacement=True` with resample_graphs="round": each round has its own graphs. Got False.'
            )
        if self.each_round and not self.observes_graphs:
            raise ValueError(
                'Expected observe="graphs" with resample_graphs="round": indices do not show which graphs a round has. '
                'Got "indices".'
            )

        self.action_space = Discrete(self.num_graphs)
        source = self.own_graphs or self.random_graphs
        self.largest_sizes: tuple[int, int] = source.largest_sizes
        self.feature_dim: int = source.feature_dim
        self.edge_feature_dim: int | None = source.edge_feature_dim
        check_fit(self.reward_model, self.edge_feature_dim)
        self.observation_space: Space[Observation] = indices_space(
            self.num_graphs, self.actions_per_round, exhaustible=self.varies or not self.replacement
        )
        if self.observes_graphs:
            self.observation_space = graph_set_space(
                self.num_graphs, self.feature_dim, self.edge_feature_dim, self.varies
            )

    def draw(self, rng: np.random.Generator) -> Instance:
        """Draw an instance from new streams of `rng`: graphs, mean rewards, rounds, noise, and any drift."""
        graphs_rng, reward_rng, rounds_rng, noise_rng = rng.spawn(4)
        noise = NoiseStream(self.noise, noise_rng, self.noise_draws, self.num_graphs)
        if self.drift is None:
            source = self._draw_source(graphs_rng, reward_rng)
            return Instance(source, self.actions_per_round, rounds_rng, noise)
        (drift_rng,) = rng.spawn(1)
        graph_set = self.own_graphs or self.random_graphs.draw(graphs_rng)
        means, fresh = draw_with_fresh(self.reward_model, graph_set, reward_rng, self.reward_scale)
        drift = Drift(self.drift, fresh, self.drift_rate, drift_rng)
        return Instance(SameGraphs(graph_set, means), self.actions_per_round, rounds_rng, noise, drift)

    def _draw_source(self, graphs_rng: np.random.Generator, reward_rng: np.random.Generator) -> GraphSource:
        if self.own_graphs is not None:
            means = self._known_means
            if means is None:
                means = draw_mean_rewards(self.reward_model, self.own_graphs, reward_rng, self.reward_scale)
            if self.resample_graphs:
                return PoolSubsets(self.own_graphs, means, self.random_graphs.num_graphs, graphs_rng)
            return SameGraphs(self.own_graphs, means)
        if self.resample_graphs:
            return NewGraphs(self.random_graphs, self._known_rewards or self._draw_rewards(reward_rng), graphs_rng)
        graph_set = self.random_graphs.draw(graphs_rng)
        if self._known_rewards is not None:
            return SameGraphs(graph_set, self._known_rewards(graph_set))
        return SameGraphs(graph_set, draw_mean_rewards(self.reward_model, graph_set, reward_rng, self.reward_scale))

    def _draw_rewards(self, rng: np.random.Generator) -> Rewards:
        return draw_general_rewards(self.reward_model, self.random_graphs, rng, self.reward_scale)

    @cached_property
    def _known_rewards(self) -> Rewards | None:
        """Return the reward function that `reward_seed` fixes; it is drawn once and shared by all instances."""
        if self.reward_seed is None:
            return None
        # The root's first children would be the streams of a bandit that `reset` seeds with the same number.
        root = np.random.SeedSequence(self.reward_seed, spawn_key=(REWARD_SEED_KEY,))
        return self._draw_rewards(np.random.default_rng(root))

    @cached_property
    def _known_means(self) -> NDArray[np.float64] | None:
        """Return the means of the user's own graphs if they are not random."""
        if self.own_graphs is None or (isinstance(self.reward_model, str) and not is_structural(self.reward_model)):
            return None
        return draw_mean_rewards(self.reward_model, self.own_graphs, np.random.default_rng(0), self.reward_scale)

    @staticmethod
    def _read_graphs(arguments: BanditArguments) -> GraphSet | None:
        if arguments.graphs is not None:
            return as_graph_set(arguments.graphs, arguments.directed)
        if arguments.directed is not None:
            raise ValueError(
                f"Expected `directed` with `graphs` of your own, because random graphs are undirected. Got "
                f"{arguments.directed!r} without. Leave it out."
            )
        return None

    def _check_num_graphs(self) -> int:
        most = largest_size(self.random_graphs.num_graphs)
        if self.own_graphs is None:
            return most
        if not self.resample_graphs:
            if self.random_graphs != RandomGraphs():
                raise ValueError(
                    "Expected `graphs` alone, or `graph_model`, `num_graphs`, `num_nodes`, `feature_dim` and "
                    "`edge_prob`. Got both. Leave one out, or set resample_graphs=True to draw `num_graphs` of your "
                    "graphs for each episode."
                )
            return len(self.own_graphs)
        if self.random_graphs != RandomGraphs(num_graphs=self.random_graphs.num_graphs):
            raise ValueError(
                "Expected `graphs` and `num_graphs`, or `graph_model`, `num_nodes`, `feature_dim` and `edge_prob`. "
                "Got both. Leave one out."
            )
        if most > len(self.own_graphs):
            default = ", the default" if most == RandomGraphs().num_graphs else ""
            raise ValueError(
                f"Expected `num_graphs`, which `resample_graphs` draws of your {len(self.own_graphs)} graphs each "
                f"time, to be at most as many. Got {most}{default}. Set `num_graphs`, or leave `resample_graphs` out "
                "to offer all of them."
            )
        return most

    def _check_reward_model(self, reward_model: RewardModel | None) -> RewardModel:
        if self.own_graphs is not None:
            if reward_model is None:
                raise ValueError(
                    f"Expected `reward_model` with `graphs`. Got none. Give the mean reward of each of your "
                    f"{len(self.own_graphs)} graphs as an array, a function from a PyG Data to a number, or the name "
                    f"of a reward function ({', '.join(REWARD_MODELS)})."
                )
            return check_reward_model(reward_model, len(self.own_graphs))
        if reward_model is None:
            return "linear"
        if self.resample_graphs and not isinstance(reward_model, str) and not callable(reward_model):
            raise ValueError(
                "Expected `reward_model` to be a name or a function, since `resample_graphs` draws new graphs. Got "
                f"{type(reward_model).__name__}. If these are means of known graphs, pass the graphs as `graphs`."
            )
        is_model = isinstance(reward_model, str) or callable(reward_model)
        if not is_model and isinstance(self.random_graphs.num_graphs, tuple):
            raise ValueError(
                "Expected `reward_model` to be a name or a function, since the number of graphs varies. Got "
                f"{type(reward_model).__name__}."
            )
        return check_reward_model(reward_model, self.num_graphs)

    def _check_reward_seed(self, reward_seed: int | None) -> int | None:
        if reward_seed is None:
            return None
        if self.own_graphs is not None or not (isinstance(self.reward_model, str) or callable(self.reward_model)):
            raise ValueError(
                "Expected `reward_seed` with random graphs and a reward function. Got an array of means, or your own "
                "`graphs`. To fix the rewards of your own graphs, draw the means once and pass them as `reward_model`."
            )
        return check_integer("reward_seed", reward_seed, 0)

    def _check_drift(self, drift: DriftName | None) -> DriftName | None:
        if drift is None:
            return None
        name = check_choice("drift", drift, DRIFT_NAMES)
        model = self.reward_model
        if not (isinstance(model, str) and model in RANDOM_REWARDS):
            raise ValueError(
                f"Expected `reward_model` to be the name of a random reward function ({', '.join(RANDOM_REWARDS)}) "
                "with `drift`, which draws from it again and again. Got "
                f"{model if isinstance(model, str) else type(model).__name__}, from which nothing is drawn."
            )
        if self.resample_graphs:
            raise ValueError(
                "Expected `drift` or `resample_graphs`: the means of the same graphs drift. Got both. Leave one out."
            )
        if self.reward_seed is not None:
            raise ValueError(
                "Expected `drift` or `reward_seed`, which fixes the reward function. Got both. Leave one out."
            )
        return name

    def _check_drift_rate(self, given: float) -> float:
        rate = check_number("drift_rate", given, 0.0, 1.0)
        if rate == 0:
            raise ValueError("Expected `drift_rate` to be larger than 0. Got 0. Leave `drift` out if nothing drifts.")
        if self.drift is None and rate != DRIFT_RATE:
            raise ValueError(
                f"Expected `drift` ({', '.join(DRIFT_NAMES)}) with `drift_rate`. Got a rate of {rate}, and nothing "
                "that drifts at it."
            )
        return rate


def _read_resampling(given: object) -> tuple[bool, bool]:
    """Return whether graphs change, and whether they change in each round."""
    if isinstance(given, str):
        return True, check_choice("resample_graphs", given, RESAMPLINGS) == "round"
    if not isinstance(given, (bool, np.bool_)):
        raise ValueError(f'Expected `resample_graphs` to be True, False, "episode" or "round". Got {given!r}.')
    return bool(given), False
