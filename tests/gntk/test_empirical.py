import pytest
import torch

from gntk import GraphMLP, aggregate_neighbours, empirical, empirical_kernel, tangent_features


def trained_model(depth, width=16, seed=2):
    """A model away from its start, where mirrored halves would hide mistakes."""
    model = GraphMLP(4, width, depth, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.3 * torch.randn(weight.shape, generator=generator)
    return model


def autograd_features(model, batch):
    parameters = list(model.parameters())
    rows = [torch.autograd.grad(value, parameters, retain_graph=True) for value in model(batch)]
    return torch.stack([torch.cat([gradient.flatten() for gradient in row]) for row in rows])


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_tangent_features_equal_autograd_on_ragged_graphs_with_isolated_nodes(batch, depth):
    for model in (GraphMLP(4, 64, depth), trained_model(depth)):
        expected, actual = autograd_features(model, batch), tangent_features(model, batch)
        assert actual.shape == (4, 4 * model.width + (depth - 2) * model.width**2 + model.width)
        assert (actual - expected).norm() <= 1e-5 * expected.norm()


@pytest.mark.parametrize("depth", [2, 3])
def test_values_come_with_the_features(batch, depth):
    model = trained_model(depth)
    graphs = aggregate_neighbours(batch)
    values, _ = empirical.values_and_features([weight.detach() for weight in model.weights], graphs)
    torch.testing.assert_close(values, model(batch).detach())


@pytest.mark.parametrize("depth", [2, 3])
def test_weighted_gradient_equals_autograd_of_the_squared_loss(batch, depth):
    model, targets = trained_model(depth), torch.tensor([1.0, -2.0, 0.5, 0.0])
    loss = (model(batch) - targets).square().sum() / 2
    expected = torch.autograd.grad(loss, list(model.parameters()))
    weights = [weight.detach() for weight in model.weights]
    residuals, actual = empirical.weighted_gradient(weights, aggregate_neighbours(batch), targets)
    torch.testing.assert_close(residuals, (model(batch) - targets).detach())
    torch.testing.assert_close(tuple(actual), expected)


def test_kernel_is_the_gram_matrix_in_double_precision(batch):
    model = trained_model(3)
    features = tangent_features(model, batch).double()
    kernel = empirical_kernel(model, batch)
    assert kernel.dtype == torch.float64
    torch.testing.assert_close(kernel, features @ features.T, rtol=1e-14, atol=0)


def test_gram_adds_up_over_blocks_of_columns(monkeypatch):
    left, right = torch.randn(3, 10), torch.randn(2, 10)
    monkeypatch.setattr(empirical, "COLUMNS_PER_BLOCK", 4)
    torch.testing.assert_close(empirical.gram(left, right), left.double() @ right.double().T)
