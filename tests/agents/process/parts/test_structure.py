import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from agents.process.parts.structure import measure_structure

GRAPHS = [
    nx.karate_club_graph(),
    nx.gnp_random_graph(17, 0.3, seed=1),
    nx.path_graph(6),
    nx.star_graph(5),
    nx.disjoint_union(nx.cycle_graph(5), nx.complete_graph(4)),
    nx.empty_graph(3),
    nx.empty_graph(1),
]


def batch_of(graphs):
    links = [np.array([*graph.edges, *((b, a) for a, b in graph.edges)], np.int64).reshape(-1, 2) for graph in graphs]
    return Batch.from_data_list(
        [
            Data(x=torch.ones(len(graph), 1), edge_index=torch.from_numpy(edges.T.copy()))
            for graph, edges in zip(graphs, links, strict=True)
        ]
    )


def column(number):
    return measure_structure(batch_of(GRAPHS))[:, number]


def mean_distance(graph):
    lengths = [d for _, to in nx.all_pairs_shortest_path_length(graph) for d in to.values() if d > 0]
    return np.mean(lengths) if lengths else 0.0


@pytest.mark.parametrize(
    ("number", "of_networkx"),
    [
        (0, lambda graph: np.log(len(graph))),
        (1, lambda graph: np.log1p(graph.size())),
        (2, lambda graph: np.mean([d for _, d in graph.degree])),
        (4, lambda graph: max(d for _, d in graph.degree)),
        (6, lambda graph: np.mean([d == 1 for _, d in graph.degree])),
        (10, lambda graph: np.mean([d >= 5 for _, d in graph.degree])),
        (12, nx.number_connected_components),
        (13, nx.transitivity),
        (14, nx.average_clustering),
        (16, lambda graph: np.log1p(sum(nx.triangles(graph).values()) / 3)),
        (18, mean_distance),
        (21, lambda graph: nx.adjacency_spectrum(graph).real.max()),
        (31, lambda graph: 2 * graph.size() / len(graph)),  # the trace of A^2 counts each edge twice
    ],
)
def test_numbers_are_those_of_networkx(number, of_networkx):
    plain = [nx.Graph(list(graph.edges)) for graph in GRAPHS]  # karate club has weights
    for copy, graph in zip(plain, GRAPHS, strict=True):
        copy.add_nodes_from(graph.nodes)
    np.testing.assert_allclose(column(number), [of_networkx(graph) for graph in plain], atol=1e-9)


def test_the_correlation_of_degrees_is_that_of_networkx():
    karate, random, _, star, *_ = GRAPHS
    expected = [nx.degree_assortativity_coefficient(graph) for graph in (karate, random, star)]
    np.testing.assert_allclose(column(11)[[0, 1, 3]], expected, atol=1e-9)


def test_what_takes_long_is_left_out_of_large_graphs(monkeypatch):
    monkeypatch.setattr("agents.process.parts.structure.MOST_NODES", 10)
    numbers = measure_structure(batch_of(GRAPHS))
    assert np.isnan(numbers[:2, 13:]).all()
    assert np.isfinite(numbers[:2, :13]).all()
    assert np.isfinite(numbers[2:]).all()
