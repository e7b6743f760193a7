"""Any PyG module as the network, held against one backward pass per graph."""

import copy

import pytest
import torch
from support.modules import CASES, GRAPHS, gcn
from torch import nn
from torch_geometric.data import Batch

from gntk.engines import Batches, ModuleNetwork


@pytest.fixture(params=CASES)
def case(request):
    make, graphs = CASES[request.param]
    torch.manual_seed(0)
    return make(), graphs


def network_of(module, graphs, **settings):
    return ModuleNetwork(module, Batch.from_data_list(graphs), **settings)


def one_backward_per_graph(module, graphs, parameters):
    """Return the K x p gradients of the module's outputs, and the outputs."""
    rows, values = [], []
    for graph in graphs:
        value = module(Batch.from_data_list([graph])).squeeze()
        gradients = torch.autograd.grad(value, parameters, allow_unused=True)
        pairs = zip(parameters, gradients, strict=True)
        rows.append(torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for p, g in pairs]))
        values.append(value.detach())
    return torch.stack(rows), torch.stack(values)


def moved(network):
    torch.manual_seed(1)
    return [weight + 0.1 * torch.randn_like(weight) for weight in network.initial]


def module_at(module, weights):
    module = copy.deepcopy(module).eval()
    with torch.no_grad():
        for parameter, weight in zip(module.parameters(), weights, strict=True):
            parameter.copy_(weight)
    return module


def test_features_are_the_scaled_gradients_of_one_backward_per_graph(case):
    module, graphs = case
    network = network_of(module, graphs)
    start = module.eval()
    at_start, values_at_start = one_backward_per_graph(start, graphs, list(start.parameters()))
    scale = at_start.square().sum(1).mean().sqrt()
    weights = moved(network)
    there = module_at(module, weights)
    gradients, values = one_backward_per_graph(there, graphs, list(there.parameters()))
    found_values, features = network.values_and_features(weights, torch.arange(len(graphs)))
    torch.testing.assert_close(features, gradients / scale, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found_values, values - values_at_start, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network.values(weights), found_values, rtol=1e-4, atol=1e-5)


def test_the_last_layer_alone_is_the_neural_linear_variant(case):
    module, graphs = case
    network = network_of(module, graphs, gradient="last_layer")
    whole = network_of(module, graphs).values_and_features(network.initial, torch.arange(len(graphs)))[1]
    features = network.values_and_features(network.initial, torch.arange(len(graphs)))[1]
    assert features.shape == (len(graphs), 9)  # weight and bias of the head
    torch.testing.assert_close(features, whole[:, -9:])


def test_it_starts_at_zero_with_a_kernel_of_mean_diagonal_one(case):
    network = network_of(*case)
    values, features = network.values_and_features(network.initial, torch.arange(network.num_graphs))
    assert network.values(network.initial).abs().max() == 0
    assert values.abs().max() <= 1e-5
    assert features.square().sum(1).mean().item() == pytest.approx(1, rel=1e-5)


def test_squares_are_those_of_the_features(case, monkeypatch):
    network = network_of(*case)
    monkeypatch.setattr("gntk.engines.features.BLOCK_BYTES", 8 * 3 * network.num_features)  # three graphs at a time
    precision = torch.rand(network.num_features)
    values, squares = network.values_and_squares(network.initial, precision)
    features = network.values_and_features(network.initial, torch.arange(network.num_graphs))[1]
    torch.testing.assert_close(squares, features.double().square() @ precision.double())
    assert len(values) == network.num_graphs


def test_descent_is_plain_gradient_descent_in_units_of_the_scaled_weights(case):
    """One step on a single graph moves s theta by -eta ((f - y) psi + c s (theta - theta_c))."""
    network = network_of(*case)
    weights, centers = moved(network), [torch.randn_like(weight) for weight in network.initial]
    index, target = torch.tensor([2]), torch.tensor([0.7])
    value, feature = network.values_and_features(weights, index)
    found = network.descend(weights, centers, Batches.of_size(index, target, 1), learning_rate=0.1, penalty=0.3)
    flat, flat_centers, flat_found = (torch.cat([w.flatten() for w in ws]) for ws in (weights, centers, found))
    s = network._scale
    expected = s * flat - 0.1 * ((value - 0.7) * feature[0] + 0.3 * s * (flat - flat_centers))
    torch.testing.assert_close(s * flat_found, expected, rtol=1e-4, atol=1e-4)


def test_frozen_parameters_stay_frozen():
    torch.manual_seed(0)
    module = gcn()
    module.layers[0].requires_grad_(False)
    network = network_of(module, GRAPHS)
    assert network.num_features == sum(p.numel() for p in module.parameters() if p.requires_grad)
    before = network.constants()
    one = Batches.of_size(torch.tensor([0]), torch.ones(1), 1)
    assert not torch.equal(network.descend(network.initial, network.initial, one, 0.1, 0)[-2], network.initial[-2])
    assert all(torch.equal(value, before[name]) for name, value in network.constants().items())


class Constant(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.weight, self.make = nn.Parameter(torch.ones(1)), make

    def forward(self, batch):
        return self.make(self.weight, batch.num_graphs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda weight, k: weight.expand(k, 1), "for each graph, `.*Got `(11, 1)`"),
        (lambda weight, k: weight.expand(k).long(), "floating point"),
        (lambda weight, k: None, "Got `NoneType`"),
        (lambda weight, k: weight.expand(k) * float("nan"), "finite"),
    ],
)
def test_refuses_a_module_that_does_not_return_a_number_for_each_graph(make, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        network_of(Constant(make), GRAPHS)


class Pooled(nn.Module):
    """The first feature of the first node of each graph, less its share of the mean over the batch."""

    def __init__(self, share):
        super().__init__()
        self.weight, self.share = nn.Parameter(torch.ones(1)), share

    def forward(self, batch):
        values = batch.x[batch.ptr[:-1], 0] * self.weight
        return values - self.share * values.mean()


def test_refuses_a_module_whose_predictions_depend_on_the_rest_of_the_batch():
    with pytest.raises(ValueError, match="batch normalisation"):
        network_of(Pooled(0.5), GRAPHS)
    assert network_of(Pooled(0.0), GRAPHS).num_graphs == len(GRAPHS)


def test_a_function_makes_the_module_from_the_seed_and_leaves_the_global_generator_alone():
    state = torch.get_rng_state()
    first, again, other = (network_of(gcn, GRAPHS, seed=seed).initial for seed in (1, 1, 2))
    assert all(map(torch.equal, first, again))
    assert not all(map(torch.equal, first, other))
    assert torch.equal(torch.get_rng_state(), state)


def test_the_module_given_is_not_changed():
    module = Pooled(0.0).train()
    network = network_of(module, GRAPHS)
    network.descend(network.initial, network.initial, Batches.of_size(torch.tensor([0]), torch.ones(1), 1), 0.1, 0.1)
    assert module.training
    assert not network.module.training
    assert module.weight.item() == 1
    assert module.weight.grad is None
