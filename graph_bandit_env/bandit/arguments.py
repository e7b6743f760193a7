"""The arguments of the environment: declared, defaulted and described here, and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from gymnasium.vector import AutoresetMode

from graph_bandit_env.bandit.signatures import name_nearest
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import GraphModelName
from graph_bandit_env.rewards.noise import Noise, NoiseName
from graph_bandit_env.rewards.reward_models import RewardModel, RewardScale

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

    Graphs = GraphSet | Sequence[Data] | Sequence[nx.Graph]
else:
    Graphs = GraphSet | Sequence[Any]  # neither library is imported for the sake of a type

ObservationKind = Literal["graphs", "indices"]
RenderMode = Literal["human", "rgb_array"]
OBSERVATION_KINDS: tuple[ObservationKind, ...] = get_args(ObservationKind)
RENDER_MODES: tuple[RenderMode, ...] = get_args(RenderMode)


@name_nearest
@dataclass(frozen=True, kw_only=True, eq=False)
class BanditArguments:
    """The arguments of `GraphActionBandit`, all keywords. `BanditModel` checks them.

    Raises:
        TypeError: if an argument is unknown; the message shows the nearest.
    """

    graph_model: GraphModelName = "er"
    """Erdős–Rényi graphs ("er"), or random dot product graphs ("rdpg")."""
    num_graphs: int = 100
    """K, graphs to choose from."""
    num_nodes: int = 50
    """N, nodes of each graph."""
    feature_dim: int = 10
    """d, features of a node."""
    edge_prob: float = 0.4
    """p, probability of an edge in an Erdős–Rényi graph."""
    graphs: Graphs | None = None
    """Graphs of one's own instead of a graph model: a `GraphSet`, or a list of PyG `Data` or networkx graphs. They need
    a `reward_model`."""
    resample_graphs: bool = False
    """True: each episode has a graph set of its own, and one reward function over graphs holds for all of them. Random
    graphs are drawn anew; of `graphs`, `num_graphs` are drawn. Means are then scaled over 100 random graphs, or all of
    `graphs`."""
    reward_model: RewardModel | None = None
    """Mean reward as a function of the graph: "linear", "gp_gntk", "gp_representation", "gp_representation_relu", an
    array of K means, or a function from a PyG `Data` to a number. None: "linear", of random graphs."""
    reward_scale: RewardScale = "raw"
    """Unit: means are shifted and scaled to mean 0 and standard deviation 1 over the graphs."""
    reward_seed: int | None = None
    """None, or a seed of its own for the reward function, which is then one function over random graphs of these sizes,
    whatever the seed of `reset`. With `resample_graphs`, some bandits train a policy, and others test it on unseen
    graphs."""
    noise: NoiseName | Noise = "gaussian"
    """Distribution of the noise: "gaussian", "uniform", "rademacher", or a function of (rng, mean reward) that returns
    what is added."""
    noise_std: float = 0.01
    """Standard deviation of the named noises, in reward units."""
    common_noise: bool = False
    """True: the noise of a graph in a round is the same whatever was played before, for paired comparisons."""
    horizon: int = 1000
    """T, rounds of an episode."""
    actions_per_round: int | None = None
    """Graphs that each round offers, drawn afresh and uniformly; None: all of them."""
    replacement: bool = True
    """False: a graph that was played is not on offer again, and regret is to the best of those that still are."""
    observe: ObservationKind = "graphs"
    """Observations are the graphs, or the indices of those on offer."""
    render_mode: RenderMode | None = None
    """None, an array for each frame ("rgb_array"), or a window that `step` and `reset` draw into ("human")."""


@name_nearest
@dataclass(frozen=True, eq=False)
class VectorArguments(BanditArguments):
    """The arguments of `GraphActionBanditVector`."""

    num_envs: int = 1
    """n, bandits that step together."""
    autoreset_mode: str | AutoresetMode = field(default=AutoresetMode.NEXT_STEP, kw_only=True)
    """When a bandit whose episode is over begins the next one: at the following step (Gymnasium's default), in the same
    step (as Stable-Baselines3 does; `info["final_obs"]` and `info["final_info"]` tell how the last one ended), or when
    `reset` is called with the option `reset_mask`, bool `(n,)`."""
    max_episode_steps: int | None = field(default=None, kw_only=True)
    """None, or after how many rounds an episode is truncated, as by `TimeLimit`."""
    render_mode: None = field(default=None, kw_only=True)
    """None; `vectorization_mode="sync"` renders."""
