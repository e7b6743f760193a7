"""Mean rewards mu(G) of a graph set, from a name, an array or a user's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, get_args

import numpy as np
from gymnasium.spaces import GraphInstance
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import LARGEST_MEAN, check_choice, to_number
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import RandomGraphs

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data
else:
    Data = Any  # avoids importing torch for a type

RandomRewardName = Literal["linear", "gp_gntk", "gp_representation", "gp_representation_relu"]
StructuralRewardName = Literal["transitivity", "spanning_tree"]
RewardModelName = Literal[RandomRewardName, StructuralRewardName]
RewardModel = RewardModelName | Sequence[float] | NDArray[np.floating | np.integer] | Callable[[Data], float]
RewardScale = Literal["raw", "unit"]
RANDOM_REWARDS: tuple[RandomRewardName, ...] = get_args(RandomRewardName)
"""Names of random reward functions."""
STRUCTURAL_REWARDS: tuple[StructuralRewardName, ...] = get_args(StructuralRewardName)
REWARD_MODELS: tuple[RewardModelName, ...] = get_args(RewardModelName)
"""All names: those of `RANDOM_REWARDS`, and those of deterministic functions."""

Rewards = Callable[[GraphSet], NDArray[np.float64]]
"""Computes the `(K,)` mean rewards of any K graphs."""
FreshMeans = Callable[[np.random.Generator], NDArray[np.float64]]
"""Draws `(K,)` mean rewards."""


def check_reward_model(model: RewardModel, num_graphs: int, edge_feature_dim: int | None) -> RewardModel:
    """Check that a reward model fits K graphs, and return it, an array as float64.

    Raises:
        ValueError: if the name is unknown, the array is not K numbers from -`LARGEST_MEAN` to `LARGEST_MEAN`, or the
            model reads weights and edges do not have one feature each.
    """
    if not isinstance(model, str):
        return model if callable(model) else _check_means(model, num_graphs)
    name = check_choice("reward_model", model, REWARD_MODELS)
    if name == "spanning_tree" and edge_feature_dim != 1:
        raise ValueError(
            f"Expected graphs with one edge feature, the weight, for the reward `{name}`. Got "
            f'{edge_feature_dim or "none"}. Give `graphs` with `edge_attr`, or graph_model="weighted".'
        )
    return name


def draw_mean_rewards(
    model: RewardModel, graph_set: GraphSet, rng: np.random.Generator, scale: str = "raw"
) -> NDArray[np.float64]:
    """Draw the mean reward of each graph.

    Args:
        model: a name of `REWARD_MODELS`, an array of K means, or a function from a PyG `Data` to a number.
        graph_set: K graphs.
        rng: the only source of randomness (used only by the names of `RANDOM_REWARDS`).
        scale: "unit" shifts and scales the means to mean 0 and standard deviation 1 over the set. Equal means become 0.

    Returns:
        `(K,)` float64.

    Raises:
        ValueError: if the means are not K numbers from -`LARGEST_MEAN` to `LARGEST_MEAN`.
    """
    raw: ArrayLike
    if is_structural(model):
        raw = compute_rewards(model, graph_set)
    elif isinstance(model, str):
        from graph_bandit_env.rewards import reward_functions  # imports torch, not needed in other cases

        raw = reward_functions.draw(model, graph_set, rng).mean_rewards.numpy()
    elif callable(model):
        raw = [to_number("reward_model", model(graph)) for graph in graph_set.to_pyg()]
    else:
        raw = model
    means = _check_means(raw, len(graph_set))
    if scale == "raw":
        return means
    location, unit = location_and_scale(means)
    return (means - location) / unit


def draw_with_fresh(
    model: RewardModel, graph_set: GraphSet, rng: np.random.Generator, scale: str = "raw"
) -> tuple[NDArray[np.float64], FreshMeans]:
    """Draw the same means as `draw_mean_rewards`, and return them with a cheap function for fresh draws.

    Args:
        model: a name of `RANDOM_REWARDS`.
        graph_set: K graphs.
        rng: draws the first means and the fixed parts: a network, its training, the scale of a kernel.
        scale: with "unit", other draws also have mean 0 over the set, and the unit remains the standard deviation of
            the first means, so that rewards remain comparable.

    Returns:
        `(K,)` float64, and a function that draws fresh means from a generator.
    """
    from graph_bandit_env.rewards import reward_functions  # imports torch, not needed for other rewards

    drawn = reward_functions.draw(str(model), graph_set, rng)
    means, root = _check_means(drawn.mean_rewards.numpy(), len(graph_set)), drawn.root().numpy()
    if scale == "unit":
        location, unit = location_and_scale(means)
        means, root = (means - location) / unit, (root - root.mean(axis=0)) / unit
    return means, partial(draw_fresh, root)


def draw_fresh(root: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw mean rewards A xi, xi ~ N(0, I_r), for the `(K, r)` root A: `(K,)` float64, for any number of threads."""
    drawn: NDArray[np.float64] = np.vecdot(root, rng.standard_normal(root.shape[1]))  # one row at a time
    return drawn


def draw_general_rewards(
    model: RewardModel, random_graphs: RandomGraphs, rng: np.random.Generator, scale: str
) -> Rewards:
    """Draw one reward function for all later graph sets.

    Args:
        model: a name of `REWARD_MODELS`, or a function from a PyG `Data` to a number.
        random_graphs: the distribution of the graph sets.
        rng: the only source of randomness.
        scale: "unit" shifts and scales the function to mean 0 and standard deviation 1 over 100 example graphs. Graph
            sets then have a similar mean and standard deviation.

    Returns:
        The function.
    """
    raw: Rewards = partial(draw_mean_rewards, model, rng=np.random.default_rng(0))  # nothing is drawn
    if isinstance(model, str) and model in RANDOM_REWARDS:
        from graph_bandit_env.rewards import general_rewards  # imports torch, not needed in the other case

        raw = general_rewards.draw(model, random_graphs, rng)
    if scale == "raw":
        return raw
    return partial(_scaled, raw, *location_and_scale(raw(random_graphs.draw_examples(rng))))


def _scaled(raw: Rewards, location: float, unit: float, graph_set: GraphSet) -> NDArray[np.float64]:
    return (raw(graph_set) - location) / unit


def location_and_scale(means: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and standard deviation of mean rewards. The latter is infinite if all are equal."""
    location = means.mean()
    deviation = (means - location).std()
    largest = max(np.abs(means - location).max(), min(1.0, np.abs(means).max()))
    return location, deviation if deviation > 1e-12 * largest else np.inf


def _check_means(means: ArrayLike, num_graphs: int) -> NDArray[np.float64]:
    try:
        array = np.array(means, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"Expected mean rewards that are numbers. Got {type(means).__name__}: {error}") from error
    if array.shape != (num_graphs,):
        raise ValueError(f"Expected mean rewards of shape `({num_graphs},)`. Got `{array.shape}`.")
    for k in np.flatnonzero(~(np.abs(array) <= LARGEST_MEAN)):  # also true for NaN
        raise ValueError(f"Expected mean rewards from -{LARGEST_MEAN} to {LARGEST_MEAN}. Got {array[k]} for graph {k}.")
    return array


def is_structural(model: object) -> TypeGuard[StructuralRewardName]:
    """Return True if a reward model is the name of a function of `compute_rewards`."""
    return isinstance(model, str) and model in STRUCTURAL_REWARDS


def compute_rewards(name: StructuralRewardName, graph_set: GraphSet) -> NDArray[np.float64]:
    """Compute the mean reward of each graph.

        transitivity      3 (number of triangles) / (number of pairs of edges that share a node), 0 without such pairs
        spanning_tree     the sum of the weights of the edges that connect all nodes at the lowest weight

    Directions and self-loops are ignored. The weight of an edge is the lower weight of its two directions. Each
    component has a separate tree.

    Args:
        name: one of `STRUCTURAL_REWARDS`.
        graph_set: K graphs.

    Returns:
        `(K,)` float64.
    """
    import networkx as nx

    if name == "transitivity":
        return np.array([nx.transitivity(_read(graph)) for graph in graph_set], np.float64)
    trees = (nx.minimum_spanning_edges(_read(graph), data=True) for graph in graph_set)
    return np.array([sum(data["weight"] for *_, data in tree) for tree in trees], np.float64)


def _read(graph: GraphInstance) -> nx.Graph:
    import networkx as nx

    links, weights = np.asarray(graph.edge_links).tolist(), np.asarray(graph.edges)[:, 0].tolist()
    read = nx.empty_graph(len(np.asarray(graph.nodes)))
    downwards = sorted(zip(weights, links, strict=True), reverse=True)
    read.add_weighted_edges_from((u, v, weight) for weight, (u, v) in downwards)  # the last weight of an edge is kept
    return read
