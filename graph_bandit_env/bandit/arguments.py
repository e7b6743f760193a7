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
    Graphs = GraphSet | Sequence[Any]  # neither library is imported for the sake of a type

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
    """Erdős–Rényi graphs ("er"), random dot product graphs ("rdpg"), connected graphs of four kinds without node
    features ("mixed"), or rings that differ in the weights of their edges alone ("weighted")."""
    num_graphs: Size = 100
    """K, the number of graphs to choose from; or (least, most), from which a number is drawn for each graph set. The
    action space and `action_mask` then have room for the most."""
    num_nodes: Size = 50
    """N, the number of nodes of each graph; or (least, most), from which a number is drawn for each graph."""
    feature_dim: int = 10
    """d, the number of features of a node: drawn from N(0, 1), or 1 in "mixed" and "weighted" graphs."""
    edge_prob: float = 0.4
    """p, the probability of an edge in an Erdős–Rényi graph."""
    graphs: Graphs | None = None
    """Your own graphs instead of a graph model: a `GraphSet`, or a list of PyG `Data` or networkx graphs. They need a
    `reward_model`."""
    directed: bool | None = None
    """Whether edges of your `graphs` have a direction: True keeps it, False adds the missing direction of each edge.
    None: as a `GraphSet` or networkx graphs say; edges of PyG `Data` must be there in both directions."""
    resample_graphs: bool | Resampling = False
    """Draw a new graph set for each episode ("episode", or True) or each round ("round"), from the graph model or as
    `num_graphs` of `graphs`. One reward function holds for all of them. "unit" then scales over 100 random graphs, or
    over all of `graphs`."""
    reward_model: RewardModel | None = None
    """Mean reward as a function of the graph: "linear", "gp_gntk", "gp_representation", "gp_representation_relu", which
    are drawn at random; "transitivity"; "spanning_tree", the weight of the lightest one; an array of K means, or a
    function from a PyG `Data` to a number. None: "linear", which needs random graphs."""
    reward_scale: RewardScale = "raw"
    """Scale of the means: "raw", or "unit", shifted and scaled to mean 0 and standard deviation 1 over the graphs."""
    reward_seed: int | None = None
    """Separate seed of the reward function. The function is then the same for every seed of `reset`, so that a policy
    can be trained on some random graphs and tested on others. None: each instance draws its own function."""
    drift: DriftName | None = None
    """Mean rewards that change: "walk", by a small step in each round, or "jump", where all of them are replaced at
    times that nobody knows. Regret is to the best graph of the round. It needs the name of a random reward function;
    with "unit", all rounds have the mean 0 and the unit of the first one. None: they stay."""
    drift_rate: float = DRIFT_RATE
    """How fast they change: means d rounds apart have the correlation (1 - rate)^d, and a jump comes before a round
    with this probability."""
    noise: NoiseName | NoiseFunction = "gaussian"
    """Distribution of the noise: "gaussian", "uniform", "rademacher", or a function of (rng, mean reward) that returns
    the noise to add."""
    noise_std: float | Sequence[float] | NDArray[np.floating] = 0.01
    """Standard deviation of the named noises, in reward units; or K of them, one for each graph of a set that stays."""
    noise_draws: NoiseDraws = "round"
    """Noise is drawn once for each round, whichever graph is played ("round"), or for each graph and round ("graph").
    Named noise does not depend on what was played before."""
    horizon: int = 1000
    """T, the number of rounds of an episode."""
    actions_per_round: int | None = None
    """How many graphs a round offers, drawn uniformly in each round; None: all of them."""
    context: str | None = None
    """Name of a slot of `graphs` (a `SlotSet`), such as a substrate: each round draws one of its choices, all of them
    equally likely, and offers the actions with it. Regret is to the best of these. None: there is no context."""
    replacement: bool = True
    """False: a graph is no longer offered once it was played, and regret is to the best graph still offered."""
    observe: ObservationKind = "graphs"
    """Observe the graphs ("graphs"), or the indices of those on offer ("indices")."""
    render_mode: RenderMode | None = None
    """None, or "rgb_array": each frame is an array. With "human", `gymnasium.make` shows them in a window of pygame."""
