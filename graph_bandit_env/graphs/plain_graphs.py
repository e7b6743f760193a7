"""Random graphs without node features: what sets them apart is their structure, or the weights of their edges."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    import networkx as nx

DEGREE = 4  # mean degree of mixed graphs; even, since a ring has neighbours on both sides
INSIDE = 0.85  # share of the edges of a stochastic block model that join nodes of one block
SPREADS = (-1.0, 2.0)  # logarithm of the shape of weights: from a coefficient of variation of 1.6 down to 0.4


def mixed_graphs(rng: np.random.Generator, num_graphs: int, num_nodes: ArrayLike, feature_dim: int) -> GraphSet:
    """Draw K connected graphs of four kinds, whose nodes are all alike.

    Each graph is of one of four kinds: Erdos-Renyi, small world [Watts & Strogatz 1998], preferential attachment
    [Barabasi & Albert 1999], two to four blocks [Holland et al. 1983]. The mean degree of each kind is about 4, so that
    neither N nor the number of edges tells the kind. Parts that are not connected are joined by an edge.

    Args:
        rng: the only source of randomness.
        num_graphs: K.
        num_nodes: N, of all graphs, or `(K,)`, of each.
        feature_dim: d.

    Returns:
        K graphs: nodes `(N, d)` float32, all 1; edges `(E, 2)` in both directions.
    """
    sizes = np.broadcast_to(np.asarray(num_nodes, np.int64), num_graphs).tolist()
    graphs = [_connect(_draw_kind(rng, size), rng) for size in sizes]
    links = [_links_of(graph) for graph in graphs]
    return GraphSet.from_symmetric([np.ones((size, feature_dim), np.float32) for size in sizes], links)


def weighted_lattices(rng: np.random.Generator, num_graphs: int, num_nodes: ArrayLike, feature_dim: int) -> GraphSet:
    """Draw K rings that differ in the weights of their edges alone.

    Each node is joined to the two nearest ones on either side. Weights are drawn from a gamma distribution, whose shape
    is another one in each graph, and divided by their mean: graphs of equal size have equal sums of weights.

        w_e = v_e / mean(v),   v_e ~ Gamma(s),   log s ~ U(-1, 2)

    Args:
        rng: the only source of randomness.
        num_graphs: K.
        num_nodes: N, of all graphs, or `(K,)`, of each.
        feature_dim: d.

    Returns:
        K graphs: nodes `(N, d)` float32, all 1; edges `(E, 2)` in both directions, with their weight, `(E, 1)` float32.
    """
    sizes = np.broadcast_to(np.asarray(num_nodes, np.int64), num_graphs).tolist()
    nodes, links, weights = [], [], []
    for size in sizes:
        pairs = np.unique([sorted((i, (i + step) % size)) for i in range(size) for step in (1, 2)], axis=0)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        drawn = rng.gamma(np.exp(rng.uniform(*SPREADS)), size=len(pairs))
        both, row = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0, return_index=True)
        nodes.append(np.ones((size, feature_dim), np.float32))
        links.append(both.astype(np.int32))
        weights.append(np.tile(drawn / drawn.mean() if size > 1 else drawn, 2)[row, None].astype(np.float32))
    return GraphSet.from_symmetric(nodes, links, weights)


def _draw_kind(rng: np.random.Generator, size: int) -> nx.Graph:
    """Draw a graph of one kind, which need not be connected."""
    import networkx as nx

    degree = min(DEGREE, (size - 1) // 2 * 2)
    kind, share, seed = int(rng.integers(4)), rng.random(), int(rng.integers(2**31))
    if degree < 2:  # one or two nodes
        return nx.path_graph(size)
    kinds: tuple[Callable[[], nx.Graph], ...] = (
        lambda: nx.gnp_random_graph(size, degree / (size - 1), seed=seed),
        lambda: nx.watts_strogatz_graph(size, degree, share, seed=seed),
        lambda: nx.barabasi_albert_graph(size, degree // 2, seed=seed),
        lambda: _draw_blocks(size, degree, 2 + int(3 * share), seed),
    )
    return kinds[kind]()


def _draw_blocks(size: int, degree: int, blocks: int, seed: int) -> nx.Graph:
    import networkx as nx

    sizes = [len(part) for part in np.array_split(np.arange(size), blocks)]
    inside = min(1.0, INSIDE * degree / max(size / blocks - 1, 1))
    between = min(1.0, (1 - INSIDE) * degree / (size - size / blocks))
    probabilities = np.where(np.eye(blocks, dtype=np.bool_), inside, between)
    return nx.stochastic_block_model(sizes, probabilities.tolist(), seed=seed)


def _connect(graph: nx.Graph, rng: np.random.Generator) -> nx.Graph:
    """Join each part of a graph to the next one by an edge between two random nodes."""
    import networkx as nx

    parts = [sorted(part) for part in nx.connected_components(graph)]
    for first, second in pairwise(parts):
        graph.add_edge(int(rng.choice(first)), int(rng.choice(second)))
    return graph


def _links_of(graph: nx.Graph) -> NDArray[np.int32]:
    """Return each edge in both directions, sorted."""
    both = [pair for u, v in graph.edges for pair in ((u, v), (v, u))]
    return np.array(sorted(both), np.int32).reshape(-1, 2)
