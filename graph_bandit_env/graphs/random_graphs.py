"""Distributions of graph sets: those of the paper, and graphs that differ only in structure or edge weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from graph_bandit_env.checks import check_choice, check_integer, check_number, check_size
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.packed_graphs import PackedGraphs

if TYPE_CHECKING:
    import networkx as nx


DEGREE = 4  # mean degree of mixed graphs, even because a ring has neighbours on both sides
INSIDE = 0.85  # share of edges within blocks in a stochastic block model
SPREADS = (-1.0, 2.0)  # logarithm of the shape of weights: from a coefficient of variation of 1.6 down to 0.4


def mixed_graphs(rng: np.random.Generator, sizes: Sequence[int], feature_dim: int) -> GraphSet:
    """Draw K connected graphs of four kinds with constant node features.

    The kinds are Erdos-Renyi, small world [Watts & Strogatz 1998], preferential attachment
    [Barabasi & Albert 1999] and two to four blocks [Holland et al. 1983]. The mean degree of each kind is about 4, so
    that N and the number of edges do not reveal the kind. Components are joined by an edge.

    Args:
        rng: the only source of randomness.
        sizes: the number of nodes of each graph.
        feature_dim: d.

    Returns:
        K graphs: nodes `(N, d)` float32, all 1; edges `(E, 2)` in both directions.
    """
    links = [np.array(_draw_connected(rng, size).edges, np.int32).reshape(-1, 2) for size in sizes]
    return GraphSet([np.ones((size, feature_dim)) for size in sizes], links, directed=False)


def weighted_lattices(rng: np.random.Generator, sizes: Sequence[int], feature_dim: int) -> GraphSet:
    """Draw K rings that differ only in their edge weights.

    Each node is joined to the two nearest ones on either side. Weights are drawn from a gamma distribution with a
    random shape per graph and divided by their mean, so graphs of equal size have equal sums of weights.

        w_e = v_e / mean(v),   v_e ~ Gamma(s),   log s ~ U(-1, 2)

    Args:
        rng: the only source of randomness.
        sizes: the number of nodes of each graph.
        feature_dim: d.

    Returns:
        K graphs: nodes `(N, d)` float32, all 1; edges `(E, 2)` in both directions, with their weight, `(E, 1)` float32.
    """
    links, weights = [], []
    for size in sizes:
        pairs = np.unique([sorted((i, (i + step) % size)) for i in range(size) for step in (1, 2)], axis=0)
        links.append(pairs[pairs[:, 0] < pairs[:, 1]])
        drawn = rng.gamma(np.exp(rng.uniform(*SPREADS)), size=(len(links[-1]), 1))
        weights.append(drawn / drawn.mean() if size > 1 else drawn)
    return GraphSet([np.ones((size, feature_dim)) for size in sizes], links, weights, directed=False)


def _draw_connected(rng: np.random.Generator, size: int) -> nx.Graph:
    """Draw a graph of a random kind, and join each component to the next by an edge between random nodes."""
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
"""A number, or (least, most) for uniform draws."""
NUM_EXAMPLES = 100  # example graphs for fitting and scaling a reward function of a distribution
MOST_FEATURES = 10**9  # maximum number of features of all nodes of a set, 8 GB


@dataclass(frozen=True, kw_only=True)
class RandomGraphs:
    """A distribution of sets of undirected graphs without self-loops.

    Graphs of the paper have X_i ~ N(0, I_d)      [Wu & Amini 2024, Section 5]. The others have X_i = 1.

    Raises:
        ValueError: if a field is out of its range.
    """

    graph_model: GraphModelName = "er"
    """"er" joins each pair of nodes with probability p, "rdpg" with probability 1 / (1 + exp(-<X_i, X_j>)). "mixed"
    draws connected graphs of four kinds, as in `mixed_graphs`, and "weighted" rings that differ in their edge weights,
    as in `weighted_lattices`."""
    num_graphs: Size = 100
    """K, the number of graphs of each set."""
    num_nodes: Size = 50
    """N, the number of nodes of each graph."""
    feature_dim: int = 10
    """d, the number of features of a node."""
    edge_prob: float = 0.4
    """p, the edge probability of "er"."""

    def __post_init__(self) -> None:
        check_choice("graph_model", self.graph_model, get_args(GraphModelName))
        for name in ("num_graphs", "num_nodes"):
            object.__setattr__(self, name, check_size(name, getattr(self, name)))
        check_integer("feature_dim", self.feature_dim, 1)
        numbers = size_range(self.num_graphs)[1] * size_range(self.num_nodes)[1] * self.feature_dim
        if numbers > MOST_FEATURES:
            raise ValueError(
                f"Expected `num_graphs`, `num_nodes` and `feature_dim` to make at most {MOST_FEATURES:,} features of "
                f"nodes. Got {numbers:,}."
            )
        check_number("edge_prob", self.edge_prob, 0.0, 1.0)

    @property
    def largest_sizes(self) -> tuple[int, int]:
        """Return the maximum numbers of nodes and edges of a graph (both directions counted)."""
        _, most = size_range(self.num_nodes)
        return most, most * (most - 1)

    @property
    def edge_feature_dim(self) -> int | None:
        """Return e, the number of features of an edge, or None if edges have no features."""
        return 1 if self.graph_model == "weighted" else None

    def draw_examples(self, rng: np.random.Generator) -> GraphSet:
        """Draw `NUM_EXAMPLES` graphs of this distribution, regardless of K, from a child of `rng`."""
        (child,) = rng.spawn(1)
        return dataclasses.replace(self, num_graphs=NUM_EXAMPLES).draw(child)

    def draw(self, rng: np.random.Generator) -> GraphSet:
        """Draw K graphs. `rng` is the only source of randomness."""
        count = rng.integers(*size_range(self.num_graphs), endpoint=True)
        sizes = rng.integers(*size_range(self.num_nodes), count, endpoint=True).tolist()
        if self.graph_model == "mixed":
            return mixed_graphs(rng, sizes, self.feature_dim)
        if self.graph_model == "weighted":
            return weighted_lattices(rng, sizes, self.feature_dim)
        return independent_edges(rng, sizes, self.feature_dim, self.edge_prob if self.graph_model == "er" else None)


def size_range(size: Size) -> tuple[int, int]:
    """Return the minimum and maximum of a size."""
    return size if isinstance(size, tuple) else (size, size)


def independent_edges(
    rng: np.random.Generator, sizes: Sequence[int], feature_dim: int, edge_prob: float | None
) -> GraphSet:
    """Draw K graphs with independent edges, with a common or a pairwise probability.

        P(i ~ j) = p                                [Erdos & Renyi 1959]
        P(i ~ j) = 1 / (1 + exp(-<X_i, X_j>))       [Young & Scheinerman 2007, with the sigmoid as link]

    Args:
        rng: the only source of randomness.
        sizes: the number of nodes of each graph.
        feature_dim: d.
        edge_prob: p, in [0, 1]. None for the second distribution.

    Returns:
        K graphs: nodes `(N, d)` float32, edges `(E, 2)` in both directions.
    """
    nodes, links = [], []
    for size in sizes:
        nodes.append(rng.standard_normal((size, feature_dim), dtype=np.float32))
        drawn = rng.random((size, size), dtype=np.float32)
        joined = drawn < (1 / (1 + np.exp(-(nodes[-1] @ nodes[-1].T))) if edge_prob is None else edge_prob)
        joined &= np.tri(size, k=-1, dtype=np.bool_).T
        links.append(np.argwhere(joined | joined.T).astype(np.int32, order="C"))
    return GraphSet.from_packed(PackedGraphs.of(nodes, links))
