import numpy as np
import torch
from torch_geometric.data import Batch, Data

from agents.process.parts.nodes import measure_means, measure_sums

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(4, 3))
ARROWS = [(0, 1), (1, 2), (1, 3), (3, 2)]


def one(links):
    edges = torch.tensor(links, dtype=torch.int64).T
    return Batch.from_data_list([Data(x=torch.from_numpy(X), edge_index=edges)])


def unit(v):
    return v / np.linalg.norm(v) if np.linalg.norm(v) else v


def aggregated(links):
    """The mean over nodes of the direction of the sum over nodes from which an edge leads to it."""
    return np.mean([unit(sum((X[a] for a, b in links if b == node), np.zeros(3))) for node in range(4)], axis=0)


def test_means_are_of_nodes_and_of_aggregated_neighbours():
    both = ARROWS + [(b, a) for a, b in ARROWS]
    np.testing.assert_allclose(measure_means(one(both), directed=False)[0], np.r_[X.mean(0), aggregated(both)])


def test_with_directions_neighbours_on_either_side_count_apart():
    back = [(b, a) for a, b in ARROWS]
    expected = np.r_[X.mean(0), aggregated(ARROWS), aggregated(back)]
    np.testing.assert_allclose(measure_means(one(ARROWS), directed=True)[0], expected)
    leaving, arriving = np.array([1, 2, 0, 1]), np.array([0, 1, 2, 1])
    sums = np.r_[X.sum(0), leaving @ X, arriving @ X]
    np.testing.assert_allclose(measure_sums(one(ARROWS), directed=True)[0], sums)


def test_sums_are_of_nodes_and_of_all_neighbours_of_all_nodes():
    both = ARROWS + [(b, a) for a, b in ARROWS]
    np.testing.assert_allclose(measure_sums(one(both), directed=False)[0], np.r_[X.sum(0), sum(X[a] for a, _ in both)])
