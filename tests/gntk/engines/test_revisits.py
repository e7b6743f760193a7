"""Descent that keeps what visits have in common, against the plain form."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from gntk import GraphMLP, aggregate_neighbours
from gntk.engines import Batches, CompiledNetwork, compiled, descend


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    monkeypatch.setattr(compiled, "MANY_BATCHES", 0)
    monkeypatch.setattr(compiled, "MANY_VISITS", 0)


def example(sizes, feature_dim, width, seed):
    graphs = aggregate_neighbours(
        Batch.from_data_list(ragged_graphs(sizes=sizes, feature_dim=feature_dim, seed=seed)), own_count=True
    )
    weights = [w.detach() for w in GraphMLP(feature_dim, width, seed=seed, zero_start=False).weights]
    return graphs, weights, CompiledNetwork(graphs, [w.detach() for w in GraphMLP(feature_dim, width).weights])


@given(
    st.lists(st.integers(1, 11), min_size=1, max_size=6),
    st.integers(1, 9),
    st.sampled_from([2, 6, 16, 34]),
    st.integers(0, 99),
    st.sampled_from([0.0, 0.02, 1.0, 30.0]),  # the last makes each step overshoot its center
    st.booleans(),
)
def test_descent_is_that_of_the_plain_form(sizes, feature_dim, width, seed, penalty, centered):
    graphs, weights, network = example(sizes, feature_dim, width, seed)
    centers = [torch.zeros_like(w) if centered else torch.randn_like(w) for w in weights]
    index = torch.randint(len(graphs), (60,))  # with repeats inside a batch, and graphs that are never seen
    batches = Batches.of_size(index, torch.randn(60, dtype=torch.float64), 3)
    expected = descend(weights, centers, graphs, batches, learning_rate=0.05, penalty=penalty)
    found = network.descend(weights, centers, batches, learning_rate=0.05, penalty=penalty)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("learning_rate", [0.01, 0.1, 1.0])
def test_units_that_change_sides_are_computed_again(learning_rate, monkeypatch):
    """Over 900 steps nearly every unit changes a sign; a sum that was kept too long would show in the weights."""
    graphs, weights, network = example((11, 7, 9, 10), 6, 64, 0)
    centers = [torch.zeros_like(w) for w in weights]
    index = torch.randint(len(graphs), (2700,), generator=torch.Generator().manual_seed(0))
    batches = Batches.of_size(index, 3 * torch.arange(4.0)[index].double().sin(), 3)
    found = network.descend(weights, centers, batches, learning_rate, penalty=0.01)
    monkeypatch.setattr(compiled, "MANY_BATCHES", 10**9)
    torch.testing.assert_close(
        found, network.descend(weights, centers, batches, learning_rate, penalty=0.01), rtol=1e-3, atol=1e-4
    )
    signs = [(graphs.nodes @ w[0].T > 0) for w in (weights, found)]
    assert (signs[0] != signs[1]).any(0).float().mean() > 0.25
