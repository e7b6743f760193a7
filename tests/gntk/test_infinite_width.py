import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from gntk import (
    AggregatedGraphs,
    GraphMLP,
    aggregate_neighbours,
    empirical_kernel,
    infinite_width_kernel,
    select_graphs,
)

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def monte_carlo_node_kernel(h, g, samples=400_000):
    """k_MLP at L = 2 as its defining expectation: no arc cosine in sight."""
    w = np.random.default_rng(0).normal(size=(samples, len(h)))
    a, b = w @ h, w @ g
    return np.mean(np.maximum(a, 0) * np.maximum(b, 0)) + h @ g * np.mean((a > 0) & (b > 0))


def test_shallow_kernel_is_its_defining_expectation():
    h, g = np.array([0.6, 0.8, 0.0]), np.array([0.5, -1.0, 2.0])
    nodes = AggregatedGraphs(torch.tensor(np.stack([h, g])), torch.arange(3), torch.ones(2).double())
    actual = infinite_width_kernel(nodes)[0, 1].item()
    assert actual == pytest.approx(monte_carlo_node_kernel(h, g), rel=0.01)


def plain_node_kernel(h, g, depth):
    """The recursion of Jacot et al.: variances and covariances of each layer, of one pair of nodes."""
    sigma, theta, hh, gg = h @ g, h @ g, h @ h, g @ g
    for _ in range(depth - 1):
        scale = np.sqrt(hh * gg)
        angle = np.arccos(np.clip(sigma / scale, -1, 1)) if scale else 0.0
        sigma = scale * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / (2 * np.pi)
        theta = sigma + theta * (np.pi - angle) / (2 * np.pi)
        hh, gg = hh / 2, gg / 2
    return theta


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_equals_the_recursion_of_jacot_et_al_pair_by_pair(batch, depth):
    graphs = aggregate_neighbours(batch).to(torch.float64)
    sets = [nodes.numpy() for nodes in graphs.nodes.split(graphs.sizes.tolist())]
    expected = [[sum(plain_node_kernel(h, g, depth) for h in a for g in b) / 49 for b in sets] for a in sets]
    np.testing.assert_allclose(infinite_width_kernel(graphs, depth), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("zero_start", [True, False])
def test_wide_networks_converge_to_it(depth, zero_start):
    graphs = aggregate_neighbours(Batch.from_data_list(ragged_graphs(seed=3)))
    limit = infinite_width_kernel(graphs, depth)

    def mean_error(width):
        seeds = range(12)
        models = (GraphMLP(4, width, depth, seed=seed, zero_start=zero_start) for seed in seeds)
        return np.mean([(empirical_kernel(model, graphs) - limit).norm() for model in models]) / limit.norm()

    narrow, wide = mean_error(32), mean_error(512)
    assert wide < 0.15
    assert wide < 0.45 * narrow  # m^(-1/2) would give 0.25; a wrong limit stays where it is


@pytest.mark.parametrize("device", DEVICES)
def test_on_any_device_it_is_the_same(batch, device):
    graphs = aggregate_neighbours(batch)
    there = graphs.to(torch.float64, torch.device(device))
    for others in (None, select_graphs(graphs, torch.tensor([2, 0]))):
        kernel = infinite_width_kernel(there, 3, others=others)
        assert kernel.device == there.nodes.device
        torch.testing.assert_close(kernel.cpu(), infinite_width_kernel(graphs, 3, others=others), rtol=1e-8, atol=1e-9)


def test_is_symmetric_positive_and_zero_where_all_nodes_are_isolated(batch):
    kernel = infinite_width_kernel(batch, 3)
    assert torch.equal(kernel, kernel.T)
    assert torch.linalg.eigvalsh(kernel).min() > -1e-12
    assert not kernel[1].any()  # one node, so isolated


def test_others_have_their_own_divisors(batch):
    graphs, others = aggregate_neighbours(batch, num_nodes=14), aggregate_neighbours(batch, own_count=True)
    sizes, whole = torch.tensor([5.0, 1.0, 7.0, 3.0]).double(), infinite_width_kernel(batch)
    torch.testing.assert_close(infinite_width_kernel(graphs, others=others), whole * 7 * 7 / 14 / sizes)
    torch.testing.assert_close(infinite_width_kernel(batch, num_nodes=14, others=batch), whole / 4)


def test_refuses_others_with_other_features(batch):
    others = Batch.from_data_list(ragged_graphs(feature_dim=3))
    with pytest.raises(ValueError, match="others"):
        infinite_width_kernel(batch, others=others)
