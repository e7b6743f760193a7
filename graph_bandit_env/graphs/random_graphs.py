"""Distributions of graph sets: those of the paper, and graphs that only their structure or weights set apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import check_choice, check_integer, check_number, check_size
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
    sizes = np.broadcast_to(num_nodes, num_graphs).tolist()
    links = [np.array(_draw_connected(rng, size).edges, np.int32).reshape(-1, 2) for size in sizes]
    return GraphSet([np.ones((size, feature_dim)) for size in sizes], links, directed=False)


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
    sizes = np.broadcast_to(num_nodes, num_graphs).tolist()
    links, weights = [], []
    for size in sizes:
        pairs = np.unique([sorted((i, (i + step) % size)) for i in range(size) for step in (1, 2)], axis=0)
        links.append(pairs[pairs[:, 0] < pairs[:, 1]])
        drawn = rng.gamma(np.exp(rng.uniform(*SPREADS)), size=(len(links[-1]), 1))
        weights.append(drawn / drawn.mean() if size > 1 else drawn)
    return GraphSet([np.ones((size, feature_dim)) for size in sizes], links, weights, directed=False)


def _draw_connected(rng: np.random.Generator, size: int) -> nx.Graph:
    """Draw a graph of one kind, and join each of its parts to the next one by an edge between two random nodes."""
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
    graph = kinds[kind]()
    for first, second in pairwise([sorted(part) for part in nx.connected_components(graph)]):
        graph.add_edge(int(rng.choice(first)), int(rng.choice(second)))
    return graph


def _draw_blocks(size: int, degree: int, blocks: int, seed: int) -> nx.Graph:
    import networkx as nx

    sizes = [len(part) for part in np.array_split(np.arange(size), blocks)]
    inside = min(1.0, INSIDE * degree / max(size / blocks - 1, 1))
    between = min(1.0, (1 - INSIDE) * degree / (size - size / blocks))
    probabilities = np.where(np.eye(blocks, dtype=np.bool_), inside, between)
    return nx.stochastic_block_model(sizes, probabilities.tolist(), seed=seed)


GraphModelName = Literal["er", "rdpg", "mixed", "weighted"]
Size = int | tuple[int, int]
"""A number; or (least, most), from which each number is drawn with equal probability."""
GRAPH_MODELS: tuple[GraphModelName, ...] = get_args(GraphModelName)
NUM_EXAMPLES = 100  # example graphs, by which a reward function for all graphs of a distribution is fitted and scaled
MOST_FEATURES = 10**9  # numbers of all nodes of a set, 8 GB
PAIRS_PER_BLOCK = 1 << 20  # bounds the temporary adjacency matrices


@dataclass(frozen=True, kw_only=True)
class RandomGraphs:
    """A distribution of graph sets, undirected, without self-loops.

    Those of the paper have X_i ~ N(0, I_d)      [Wu & Amini 2024, Section 5]. The others have X_i = 1.

    Raises:
        ValueError: if a field is out of its range.
    """

    graph_model: GraphModelName = "er"
    """"er": each pair of nodes is joined with probability p; "rdpg": with probability 1 / (1 + exp(-<X_i, X_j>));
    "mixed": connected graphs of four kinds, as in `mixed_graphs`; "weighted": rings that differ in the
    weights of their edges, as in `weighted_lattices`."""
    num_graphs: Size = 100
    """K, the number of graphs, of each set."""
    num_nodes: Size = 50
    """N, the number of nodes, of each graph."""
    feature_dim: int = 10
    """d, the number of features of a node."""
    edge_prob: float = 0.4
    """p, the probability of an edge of "er"."""

    def __post_init__(self) -> None:
        check_choice("graph_model", self.graph_model, GRAPH_MODELS)
        for name in ("num_graphs", "num_nodes"):
            object.__setattr__(self, name, check_size(name, getattr(self, name)))
        check_integer("feature_dim", self.feature_dim, 1)
        if (numbers := largest_size(self.num_graphs) * largest_size(self.num_nodes) * self.feature_dim) > MOST_FEATURES:
            raise ValueError(
                f"Expected `num_graphs`, `num_nodes` and `feature_dim` to make at most {MOST_FEATURES:,} features of "
                f"nodes. Got {numbers:,}."
            )
        check_number("edge_prob", self.edge_prob, 0.0, 1.0)

    @property
    def largest_sizes(self) -> tuple[int, int]:
        """Return the most nodes of a graph, and the most edges it can have (both directions counted)."""
        most = largest_size(self.num_nodes)
        return most, most * (most - 1)

    @property
    def edge_feature_dim(self) -> int | None:
        """Return e, the number of features of an edge; None if edges have none."""
        return 1 if self.graph_model == "weighted" else None

    def draw_examples(self, rng: np.random.Generator) -> GraphSet:
        """Draw `NUM_EXAMPLES` graphs of this distribution, whatever K is, from a child of `rng`."""
        (child,) = rng.spawn(1)
        return dataclasses.replace(self, num_graphs=NUM_EXAMPLES).draw(child)

    def draw(self, rng: np.random.Generator) -> GraphSet:
        """Draw K graphs; `rng` is the only source of randomness."""
        (count,) = draw_sizes(self.num_graphs, 1, rng).tolist()
        sizes = count, draw_sizes(self.num_nodes, count, rng), self.feature_dim
        if self.graph_model == "er":
            return erdos_renyi(rng, *sizes, self.edge_prob)
        others = {"rdpg": random_dot_product, "mixed": mixed_graphs, "weighted": weighted_lattices}
        return others[self.graph_model](rng, *sizes)


def smallest_size(size: Size) -> int:
    """Return the least that a size can be."""
    return size[0] if isinstance(size, tuple) else size


def largest_size(size: Size) -> int:
    """Return the most that a size can be."""
    return size[1] if isinstance(size, tuple) else size


def draw_sizes(size: Size, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `(count,)` int64 sizes; nothing is drawn if there is only one."""
    if isinstance(size, tuple):
        return rng.integers(size[0], size[1], count, endpoint=True)
    return np.full(count, size, np.int64)


def erdos_renyi(
    rng: np.random.Generator, num_graphs: int, num_nodes: ArrayLike, feature_dim: int, edge_prob: float
) -> GraphSet:
    """Draw K graphs of N nodes with d features, in which each pair is joined with probability p.

        P(i ~ j) = p      [Erdos & Renyi 1959]

    Args:
        rng: the only source of randomness.
        num_graphs: K.
        num_nodes: N, of all graphs, or `(K,)`, of each.
        feature_dim: d.
        edge_prob: p, in [0, 1].

    Returns:
        K graphs: nodes `(N, d)` float32, edges `(E, 2)` in both directions. Arguments are not checked here, but in
        `RandomGraphs`.
    """
    return _draw(rng, num_graphs, num_nodes, feature_dim, lambda x: edge_prob)


def random_dot_product(rng: np.random.Generator, num_graphs: int, num_nodes: ArrayLike, feature_dim: int) -> GraphSet:
    """Draw K graphs of N nodes with d features, in which similar nodes are more likely to be joined.

        P(i ~ j) = 1 / (1 + exp(-<X_i, X_j>))      [Young & Scheinerman 2007, with the sigmoid as link]

    Args:
        rng: the only source of randomness.
        num_graphs: K.
        num_nodes: N, of all graphs, or `(K,)`, of each.
        feature_dim: d.

    Returns:
        K graphs, as in `erdos_renyi`.
    """
    return _draw(rng, num_graphs, num_nodes, feature_dim, lambda x: 1 / (1 + np.exp(-(x @ x.T))))


def _draw(
    rng: np.random.Generator,
    num_graphs: int,
    num_nodes: ArrayLike,
    feature_dim: int,
    probability: Callable[[NDArray[np.float32]], NDArray[np.float32] | float],
) -> GraphSet:
    nodes, links = [], []
    sizes = np.broadcast_to(np.asarray(num_nodes, np.int64), num_graphs)
    most = int(sizes.max())
    block = max(1, PAIRS_PER_BLOCK // most**2)
    for start in range(0, num_graphs, block):
        count = min(block, num_graphs - start)
        joined = np.zeros((count, most, most), np.bool_)
        for k, n in enumerate(sizes[start : start + count].tolist()):
            nodes.append(rng.standard_normal((n, feature_dim), dtype=np.float32))
            joined[k, :n, :n] = rng.random((n, n), dtype=np.float32) < probability(nodes[-1])
        joined &= np.tri(most, k=-1, dtype=np.bool_).T
        graph, *ends = np.nonzero(joined | joined.transpose(0, 2, 1))
        pairs = np.stack(ends, axis=1).astype(np.int32)
        links.extend(np.split(pairs, np.searchsorted(graph, np.arange(1, count))))
    return GraphSet.from_symmetric(nodes, links)
