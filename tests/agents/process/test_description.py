import networkx as nx
import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch, Data

from agents.process.description import Description, read_graphs
from agents.process.settings import GraphProcessSettings


def described(graphs, **settings):
    ways = read_graphs(Batch.from_data_list(graphs), GraphProcessSettings(**settings))
    return Description.of(ways, len(graphs))


def names(description):
    return set(dict.fromkeys(part.name for part in description.parts))


def unlabelled(seeds, size=8):
    graphs = [nx.gnp_random_graph(size, 0.4, seed=seed) for seed in seeds]
    links = [torch.tensor([*graph.edges, *((b, a) for a, b in graph.edges)]).T for graph in graphs]
    return [Data(x=torch.ones(size, 1), edge_index=edges) for edges in links]


def weighted(graphs):
    generator = torch.Generator().manual_seed(0)
    return [
        Data(x=graph.x, edge_index=graph.edge_index, edge_attr=torch.rand(graph.num_edges, 1, generator=generator))
        for graph in graphs
    ]


def test_parts_that_apply_are_those_that_tell_graphs_apart():
    ragged = described(ragged_graphs())
    assert names(ragged) == {
        *("network", "network of means", "subtrees", "node features", "sums of node features", "structure"),
        "the graph itself",
    }
    alike = described(unlabelled(range(6)))  # of equal sizes, with one feature that is 1
    assert "network" not in names(alike)
    assert "structure" in names(alike)
    assert "edge features" in names(described(weighted(unlabelled(range(6)))))
    arrows = [Data(x=torch.eye(3), edge_index=torch.tensor(links)) for links in ([[0, 1], [1, 2]], [[0, 2], [1, 1]])]
    assert "directions" in names(described(arrows))


@pytest.mark.parametrize("graphs", [ragged_graphs(), unlabelled(range(6)), weighted(unlabelled(range(6)))])
def test_weights_are_shares_of_the_typical_variance(graphs):
    description, every = described(graphs), torch.arange(len(graphs))
    assert sum(part.weight * part.typical for part in description.parts) == pytest.approx(1)
    kernels = description.kernels.columns(every, every).transpose(0, 1).numpy()
    for part, kernel in zip(description.parts, kernels, strict=True):
        draws = np.random.default_rng(0).multivariate_normal(np.zeros(len(graphs)), kernel, 50_000)
        assert draws.var(axis=1).mean() == pytest.approx(part.typical, rel=0.05)


def test_equal_graphs_are_told_apart_by_their_own_rewards_even_if_no_part_does():
    description = described(unlabelled([1, 1]), itself_weight=0.0)
    assert "the graph itself" in names(description)
    assert "subtrees" in names(description)  # other graphs may come
    every = torch.arange(2)
    torch.testing.assert_close(description.kernels.columns(every, every)[:, -1], torch.eye(2, dtype=torch.float64))
    assert sum(part.weight * part.typical for part in description.parts) == pytest.approx(1)


def test_new_graphs_are_compared_like_those_of_reset():
    """Graphs that are described at once, or met later, have the same kernels where the scales are those of reset."""
    graphs = ragged_graphs(sizes=(5, 4, 7, 3, 6, 5, 2), seed=1)
    description, stay = described(graphs[:4]), torch.tensor([3, 1])
    description.kernels.columns(torch.tensor([1, 2]), torch.arange(4))  # are kept
    met = description.exchange(stay, graphs[4:])
    fresh = description.exchange(torch.zeros(0, dtype=torch.int64), [graphs[3], graphs[1], *graphs[4:]])
    every = torch.arange(5)
    found, tolerance = met.kernels.columns(every, every), {"atol": 1e-12, "rtol": 1e-12}
    torch.testing.assert_close(found, fresh.kernels.columns(every, every), **tolerance)
    torch.testing.assert_close(found[:2, :, :2], description.kernels.columns(stay, stay), **tolerance)
    torch.testing.assert_close(met.kernels.diagonals, found.diagonal(dim1=0, dim2=2), **tolerance)
