"""The arguments of the environment, with their defaults and descriptions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.bandit.instance import DRIFT_RATE, DriftName
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import GraphModelName, Size
from graph_bandit_env.rewards.noise import NoiseDraws, NoiseFunction, NoiseName
from graph_bandit_env.rewards.reward_models import RewardModel, RewardScale

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

    Graphs = GraphSet | Sequence[Data] | Sequence[nx.Graph]
else:
    Graphs = GraphSet | Sequence[Any]  # avoids importing either library for a type

ObservationKind = Literal["graphs", "indices"]
Resampling = Literal["episode", "round"]
RenderMode = Literal["rgb_array"]


@dataclass(frozen=True, kw_only=True, eq=False)
class BanditArguments:
    """The arguments of `GraphActionBandit`, all keywords. `BanditModel` checks them.

    Raises:
        TypeError: if an argument is unknown.
    """

    graph_model: GraphModelName = "er"
    """Random graphs: "er", "rdpg", "mixed" or "weighted". "er" are Erdős–Rényi graphs, "rdpg" random dot product
    graphs, "mixed" connected graphs of four kinds without node features, and "weighted" rings that differ only in their
    edge weights."""
    num_graphs: Size = 100
    """K, the number of graphs to choose from. With (least, most), a number is drawn for each graph set, and the action
    space and `action_mask` have room for the most."""
    num_nodes: Size = 50
    """N, the number of nodes of each graph. With (least, most), a number is drawn for each graph."""
    feature_dim: int = 10
    """d, the number of features of a node. They are drawn from N(0, 1), or are 1 in "mixed" and "weighted" graphs."""
    edge_prob: float = 0.4
    """p, the probability of an edge in an Erdős–Rényi graph."""
    graphs: Graphs | None = None
    """Your own graphs instead of a graph model: a `GraphSet`, or a list of PyG `Data` or networkx graphs. They need a
    `reward_model`."""
    directed: bool | None = None
    """Whether edges of `graphs` have a direction. True keeps it, False adds the missing direction of each edge. By
    default a `GraphSet` or networkx graphs decide, and edges of PyG `Data` must be present in both directions."""
    resample_graphs: bool | Resampling = False
    """Draw a new graph set in each episode ("episode", or True) or round ("round"), from the graph model or as
    `num_graphs` of `graphs`. All sets share one reward function. "unit" then scales over 100 random graphs, or over all
    of `graphs`."""
    reward_model: RewardModel | None = None
    """Mean reward as a function of the graph. Random functions are "linear" (default for random graphs), "gp_gntk",
    "gp_representation" and "gp_representation_relu". "transitivity" and "spanning_tree" (the weight of the lightest
    one) are computed. It can also be an array of K means, or a function from a PyG `Data` to a number."""
    reward_scale: RewardScale = "raw"
    """Scale of the means: "raw", or "unit" for mean 0 and standard deviation 1 over the graphs."""
    reward_seed: int | None = None
    """Separate seed of the reward function. The function is then the same for every seed of `reset`, so that a policy
    can be trained on some random graphs and tested on others. By default each instance draws its own function."""
    drift: DriftName | None = None
    """Changing mean rewards: "walk" or "jump". "walk" adds a small step in each round. "jump" replaces all means at
    unknown times. Regret is relative to the best graph of the round. Drift requires a random reward function. With
    "unit", the mean and scale of the first round apply to all rounds."""
    drift_rate: float = DRIFT_RATE
    """Speed of the drift. Means d rounds apart have the correlation (1 - rate)^d, and each round begins with a jump
    with probability `rate`."""
    noise: NoiseName | NoiseFunction = "gaussian"
    """Distribution of the noise: "gaussian", "uniform", "rademacher", or a function of (rng, mean reward) that returns
    the noise to add."""
    noise_std: float | Sequence[float] | NDArray[np.floating] = 0.01
    """Standard deviation of the noise, in reward units. A sequence of K values gives one for each graph of a fixed
    set."""
    noise_draws: NoiseDraws = "round"
    """Draw noise once for each "round", or for each "graph" and round. Noise does not depend on earlier actions."""
    horizon: int = 1000
    """T, the number of rounds of an episode."""
    actions_per_round: int | None = None
    """Number of graphs on offer in each round, drawn uniformly. By default all."""
    context: str | None = None
    """Slot of `graphs` (a `SlotSet`) that is a context, such as a substrate. Each round draws one of its choices with
    equal probability and offers the actions that contain it. Regret is relative to the best of these actions."""
    replacement: bool = True
    """Whether a graph can be played again. Without replacement, regret is relative to the best graph still on offer."""
    observe: ObservationKind = "graphs"
    """Observations are the graphs ("graphs"), or the indices of the graphs on offer ("indices")."""
    render_mode: RenderMode | None = None
    """None, or "rgb_array" for frames as arrays. With "human", `gymnasium.make` shows them in a pygame window."""
