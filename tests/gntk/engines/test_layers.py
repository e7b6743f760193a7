import pytest
import torch
from torch import nn

from gntk.engines import linear_tangent_features


class TwoLevels(nn.Module):
    """A layer on rows, a sum over the rows of each graph, a layer on graphs."""

    def __init__(self):
        super().__init__()
        self.of_rows, self.of_graphs = nn.Linear(3, 4), nn.Linear(4, 1, bias=False)

    def forward(self, rows, owners, num_graphs):
        pooled = torch.zeros(num_graphs, 4).index_add(0, owners, torch.tanh(self.of_rows(rows)))
        return self.of_graphs(pooled).squeeze(1)


OWNERS = torch.tensor([0, 0, 0, 1, 3, 3])  # graph 2 has no rows


@pytest.fixture
def case():
    torch.manual_seed(0)
    return TwoLevels(), torch.randn(len(OWNERS), 3)


def layers_of(model):
    return [(model.of_rows, OWNERS), (model.of_graphs, torch.arange(4))]


def test_features_are_the_gradients_of_each_graph(case):
    model, rows = case
    values, features = linear_tangent_features(lambda: model(rows, OWNERS, 4), layers_of(model), 4)
    expected = model(rows, OWNERS, 4)
    torch.testing.assert_close(values, expected.detach())
    for graph in range(4):
        gradients = torch.autograd.grad(expected[graph], list(model.parameters()), retain_graph=True)
        torch.testing.assert_close(features[graph], torch.cat([gradient.flatten() for gradient in gradients]))


def test_a_layer_without_influence_or_without_rows_has_no_gradient(case):
    model, rows = case
    unused, empty, nobody = nn.Linear(3, 2), nn.Linear(3, 4), torch.zeros(0).long()

    def evaluate():
        unused(rows)
        return model(rows, OWNERS, 4) + empty(rows[:0]).sum()

    layers = [*layers_of(model), (unused, OWNERS), (empty, nobody)]
    values, features = linear_tangent_features(evaluate, layers, 4)
    assert features.shape == (4, 20 + 8 + 16)
    assert not features[:, 20:].any()
    assert not values.requires_grad


def test_leaves_no_hook_and_no_gradient_behind(case):
    model, rows = case
    with torch.no_grad():
        _, features = linear_tangent_features(lambda: model(rows, OWNERS, 4), layers_of(model), 4)
    assert not features.requires_grad
    assert not model.of_rows._forward_hooks
    assert all(parameter.grad is None for parameter in model.parameters())


def test_refuses_a_layer_that_is_called_on_other_rows(case):
    model, rows = case
    with pytest.raises(ValueError, match="layer 0 .* to be called once, on 6 rows. Got \\[3\\]"):
        linear_tangent_features(lambda: model(rows[:3], OWNERS[:3], 4), layers_of(model), 4)


def test_refuses_a_layer_that_is_called_twice(case):
    model, rows = case
    with pytest.raises(ValueError, match="called once"):
        linear_tangent_features(lambda: model(rows, OWNERS, 4) + model(rows, OWNERS, 4), layers_of(model), 4)
