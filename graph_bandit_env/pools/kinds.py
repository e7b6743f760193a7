"""Kinds of graphs for testing agents, each with its mean rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.checks import check_integer
from graph_bandit_env.pools.actions import Slot, SlotSet, every_action
from graph_bandit_env.pools.graph_pool import GraphPool

Floats = NDArray[np.float64]


def draw_kind(name: str, num_graphs: int, seed: int) -> GraphPool:
    """Draw graphs of a kind, with their mean rewards as the values of the pool.

    Args:
        name: one of `KINDS`, or "reactions": actions of four slots.
        num_graphs: K.
        seed: seed of graphs and means.

    Raises:
        KeyError: if there is no such kind.
        ValueError: if K is not at least 1.
    """
    rng = np.random.default_rng([seed, *name.encode()])
    shared = rng.standard_normal(5)
    if name == "reactions":
        return _reactions(check_integer("num_graphs", num_graphs, 1), rng, shared)
    drawn = [KINDS[name](rng, shared) for _ in range(check_integer("num_graphs", num_graphs, 1))]
    if name == "duplicates":  # three of each
        drawn = [drawn[k // 3] for k in range(num_graphs)]
    graphs, nodes, values, *edge_features = zip(*drawn, strict=True)
    means = np.array(values, np.float64)
    if name in ("outlier", "one optimal"):
        means[rng.integers(num_graphs)] = 3.0
    links = [np.array(graph.edges, np.int64).reshape(-1, 2) for graph in graphs]
    # Rounded for the same digest on every type of CPU.
    edges = edge_features[0] if edge_features else None
    return GraphPool(nodes, links, edges, targets=means.round(6), directed=graphs[0].is_directed())


def _degrees(graph: nx.Graph) -> Floats:
    return np.array([[degree] for _, degree in graph.degree], np.float64)


def _bipartite(rng: np.random.Generator, _: Floats) -> tuple[Any, ...]:
    """Draw a bipartite graph with the side as feature. Two thirds, with sides of almost equal size, are optimal."""
    left, right = rng.integers(3, 9, 2).tolist()
    graph = nx.bipartite.random_graph(left, right, 0.5, rng)
    return graph, [[side, 1] for side in [0] * left + [1] * right], 1 if abs(left - right) <= 2 else -abs(left - right)


def _sizes(rng: np.random.Generator, _: Floats) -> tuple[Any, ...]:
    """Draw a graph of 5 to 300 nodes with the degree as feature. The optimum has 40 nodes."""
    size = int(np.exp(rng.uniform(np.log(5), np.log(300))))
    graph = nx.gnm_random_graph(size, 2 * size, rng)
    return graph, _degrees(graph), -abs(np.log(size / 40))


def _acyclic(rng: np.random.Generator, _: Floats) -> tuple[Any, ...]:
    """Draw a directed acyclic graph with random labels. The mean is the length of the longest path."""
    size = int(rng.integers(6, 16))
    graph = nx.from_numpy_array(np.triu(rng.random((size, size)) < 0.3, 1), create_using=nx.DiGraph)
    return graph, np.eye(3)[rng.integers(3, size=size)], nx.dag_longest_path_length(graph, weight="")


def _edge_features(rng: np.random.Generator, shared: Floats) -> tuple[Any, ...]:
    """Draw a graph with four edge features. The mean is linear in their average."""
    graph = nx.gnp_random_graph(int(rng.integers(6, 15)), 0.4, rng)
    features = rng.standard_normal((graph.size(), 4)) + rng.standard_normal(4)
    mean = (features.sum(axis=0) * shared[:4]).sum() / max(graph.size(), 1)
    return graph, rng.standard_normal((len(graph), 3)), mean, features


def _parts(count: int, sizes: tuple[int, int], rng: np.random.Generator, shared: Floats) -> tuple[Any, ...]:
    """Draw a graph of several components. The mean is linear in the average node."""
    graph = nx.disjoint_union_all([nx.gnp_random_graph(int(rng.integers(*sizes)), 0.6, rng) for _ in range(count)])
    nodes = rng.standard_normal((len(graph), 5)) + rng.standard_normal(5)
    return graph, nodes, (nodes.mean(axis=0) * shared).sum()


def _cloud(rng: np.random.Generator, _: Floats) -> tuple[Any, ...]:
    """Draw points with their coordinates and edges between the nearer half of pairs. The mean is the mean distance."""
    points = rng.standard_normal((int(rng.integers(8, 20)), 3)) * np.exp(rng.standard_normal(3) / 2)
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    return nx.from_numpy_array(np.triu(distances < np.median(distances), 1)), points, distances.mean()


def _small_world(encode: Callable[[Floats], Any], rng: np.random.Generator, _: Floats) -> tuple[Any, ...]:
    """Draw a Watts-Strogatz graph with encoded degrees as features. The mean is its transitivity."""
    graph = nx.watts_strogatz_graph(20, 4, rng.random(), rng)
    return graph, encode(_degrees(graph)), nx.transitivity(graph)


def _star_or_path(rng: np.random.Generator, _: Floats) -> tuple[Any, ...]:
    """Draw a star or a path. The mean is the square root of the sum of all distances."""
    size = int(rng.integers(3, 30))
    graph = nx.star_graph(size - 1) if rng.random() < 0.5 else nx.path_graph(size)
    return graph, np.ones((size, 1)), np.sqrt(nx.wiener_index(graph))


def _unexplained(spread: float, rng: np.random.Generator, _: Floats) -> tuple[Any, ...]:
    """Draw an Erdos-Renyi graph and an independent mean."""
    return nx.gnp_random_graph(20, 0.4, rng), rng.standard_normal((20, 10)), spread * rng.standard_normal()


def _reactions(count: int, rng: np.random.Generator, shared: Floats) -> SlotSet:
    """Draw actions of a substrate, a ligand, a solvent and a temperature, from 1,440 combinations.

    The mean is a sum over slots plus an interaction of substrate and ligand: each substrate prefers other ligands.
    """
    slots, effects = list[Slot](), list[Floats]()
    for name, size in (("substrate", 8), ("ligand", 15)):
        drawn = [_parts(1, (4, 9), rng, shared) for _ in range(size)]
        links = [np.array(graph.edges, np.int64).reshape(-1, 2) for graph, *_ in drawn]
        pool = GraphPool([nodes for _, nodes, _ in drawn], links, directed=False)
        slots.append(Slot(name, "structure", pool.ids, pool))
        effects.append(np.array([value for *_, value in drawn]))
    slots += [Slot("solvent", "category", tuple("abcd")), Slot("temperature", "number", (20.0, 60.0, 100.0))]
    effects += [rng.standard_normal(4), -np.square(rng.uniform(-1, 1, 3))]
    every = every_action(slots)
    some = every.take(np.sort(rng.choice(len(every), min(count, len(every)), replace=False)))
    parts = [effect[places] / effect.std() for effect, places in zip(effects, some.places.T, strict=True)]
    means = parts[1] / 2 + parts[0] * parts[1] + parts[2] + parts[3] / 2
    return SlotSet(slots, some.places, targets=means.round(6))


KINDS: Mapping[str, Callable[[np.random.Generator, Floats], tuple[Any, ...]]] = {
    "bipartite": _bipartite,
    "sizes": _sizes,
    "single nodes": partial(_parts, 1, (1, 2)),
    "directed acyclic": _acyclic,
    "edge features": _edge_features,
    "disconnected": partial(_parts, 4, (2, 7)),
    "point clouds": _cloud,
    "small world": partial(_small_world, np.ones_like),
    "small world degree": partial(_small_world, np.asarray),
    "small world one-hot": partial(_small_world, lambda degrees: np.eye(20)[degrees[:, 0].astype(int)]),
    "stars and paths": _star_or_path,
    "outlier": partial(_unexplained, 0.1),
    **dict.fromkeys(("duplicates", "one optimal", "constant"), partial(_unexplained, 0.0)),
}
"""Functions that draw a graph of each kind, from a generator and five weights shared by all graphs of a draw. They
return the graph, node features, the mean reward and optional edge features."""
