"""The compiled loops against the plain forms, on random ragged graphs."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from gntk import GraphMLP, aggregate_neighbours, values_and_features
from gntk.engines import Batches, CompiledNetwork, descend

SHAPES = st.tuples(
    st.lists(st.integers(1, 11), min_size=1, max_size=6),  # nodes of each graph
    st.integers(1, 9),  # d: all remainders of blocks of four features
    st.sampled_from([2, 6, 16, 34]),  # m: with and without a whole vector
    st.integers(0, 99),  # seed
    st.booleans(),  # each graph's own N
)


def example(sizes, feature_dim, width, seed, own_count):
    batch = Batch.from_data_list(ragged_graphs(sizes=sizes, feature_dim=feature_dim, seed=seed))
    graphs = aggregate_neighbours(batch, own_count=own_count)
    weights = [w.detach() for w in GraphMLP(feature_dim, width, seed=seed, zero_start=False).weights]
    return graphs, weights


def network_of(graphs, weights):
    """The compiled network on these graphs; it starts at other weights, where it is zero."""
    width, feature_dim = weights[0].shape
    return CompiledNetwork(graphs, [weight.detach() for weight in GraphMLP(feature_dim, width).weights])


def in_column_order(features, width, feature_dim):
    hidden, last = features.split([width * feature_dim, width], dim=1)
    return torch.cat([hidden.view(-1, width, feature_dim).transpose(1, 2).flatten(1), last], dim=1)


@given(SHAPES)
def test_values_and_features_are_those_of_the_plain_form(shape):
    graphs, weights = example(*shape)
    index = torch.randperm(len(graphs))
    values, features = values_and_features(weights, graphs)
    features = in_column_order(features, *weights[0].shape)
    found_values, found_features = network_of(graphs, weights).values_and_features(weights, index)
    torch.testing.assert_close(found_values, values[index])
    torch.testing.assert_close(found_features, features[index].double(), rtol=1e-4, atol=1e-6)
    assert torch.equal(network_of(graphs, weights).features(weights, index), found_features)


@given(SHAPES)
def test_squares_are_those_of_the_features(shape):
    graphs, weights = example(*shape)
    values, features = values_and_features(weights, graphs)
    features = in_column_order(features, *weights[0].shape)
    precision = torch.rand(features.shape[1])
    found_values, squares = network_of(graphs, weights).values_and_squares(weights, precision)
    torch.testing.assert_close(found_values, values)
    torch.testing.assert_close(squares, features.double().square() @ precision.double(), rtol=1e-5, atol=1e-7)


@given(SHAPES, st.integers(1, 7))
def test_descent_is_that_of_the_plain_form(shape, batch_size):
    graphs, weights = example(*shape)
    centers = [torch.randn_like(weight) for weight in weights]
    index = torch.randint(len(graphs), (20,))  # with repeats inside a batch, and a last batch that is smaller
    batches = Batches.of_size(index, torch.randn(20, dtype=torch.float64), batch_size)
    expected = descend(weights, centers, graphs, batches, learning_rate=0.1, penalty=0.02)
    found = network_of(graphs, weights).descend(weights, centers, batches, learning_rate=0.1, penalty=0.02)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_every_value_is_exactly_zero_at_the_start():
    """The halves of the network cancel up to rounding only; some of these six are not 0 without more."""
    graphs, weights = example((5, 1, 7, 11, 4, 9), 9, 34, 0, False)
    network = network_of(graphs, weights)
    plain, _ = values_and_features(network.initial, graphs)
    assert plain.any()
    assert not network.values(network.initial).any()
    assert not network.values_and_features(network.initial, torch.arange(6))[0].any()


WRONG = (
    {"weights": [torch.ones(4, 3), torch.ones(4, 4), torch.ones(1, 4)]},
    {"weights": [torch.ones(4, 1), torch.ones(1, 4)]},
    {"index": torch.tensor([3])},
    {"index": torch.tensor([-1])},
)


@pytest.mark.parametrize("wrong", WRONG)
def test_refuses_what_would_be_read_beyond_an_array(wrong):
    graphs, weights = example((5, 1, 7), 3, 4, 0, False)
    given = {"weights": weights, "index": torch.tensor([0]), **wrong}
    network, batches = network_of(graphs, weights), Batches.of_size(given["index"], torch.ones(1), 1)
    with pytest.raises(ValueError, match="weights|graphs"):
        network.values_and_features(given["weights"], given["index"])
    with pytest.raises(ValueError, match="weights|graphs"):
        network.descend(given["weights"], given["weights"], batches, 0.1, 0.1)
    with pytest.raises(ValueError, match="precision"):
        network.values_and_squares(weights, torch.ones(15))
