import pytest
import torch
from torch_geometric.data import Batch, Data

from gntk import GraphMLP, aggregate_neighbours, empirical, empirical_kernel, select_graphs, tangent_features


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_predicts_zero_for_every_graph_at_the_start(batch, depth):
    assert GraphMLP(4, width=512, depth=depth)(batch).abs().max() <= 1e-6


@pytest.mark.parametrize("depth", [2, 3])
def test_follows_the_formula_of_the_paper(graphs, batch, depth):
    model = GraphMLP(4, width=6, depth=depth, seed=1, zero_start=False)
    aggregated = aggregate_neighbours(batch)
    expected = []
    for nodes in aggregated.nodes.split([g.num_nodes for g in graphs]):
        total = 0.0
        for h in nodes:
            f = model.weights[0] @ h
            for weight in list(model.weights)[1:]:
                f = weight @ torch.relu(f) / 6**0.5
            total += f.item()
        expected.append(total / 7)
    assert model(batch).tolist() == pytest.approx(expected, abs=1e-6)


def test_parameters_are_the_matrices_of_the_contract():
    model = GraphMLP(3, width=8, depth=4)
    assert [tuple(p.shape) for p in model.parameters()] == [(8, 3), (8, 8), (8, 8), (1, 8)]
    assert all(p.requires_grad for p in model.parameters())
    for hidden in list(model.parameters())[1:-1]:
        assert not hidden[:4, 4:].any()
        assert not hidden[4:, :4].any()


def test_equal_seeds_give_equal_weights_and_leave_the_global_generator_alone():
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first, again, other = (GraphMLP(3, 4, seed=s).weights[0] for s in (7, 7, 8))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_mini_batch_is_pooled_like_the_whole_set(batch):
    model, graphs = GraphMLP(4, 8, zero_start=False), aggregate_neighbours(batch)
    torch.testing.assert_close(model(select_graphs(graphs, torch.tensor([1, 3]))), model(graphs)[[1, 3]])


def test_padding_with_isolated_nodes_changes_nothing(graphs):
    padded = [Data(x=torch.cat([g.x, torch.randn(7 - g.num_nodes, 4)]), edge_index=g.edge_index) for g in graphs]
    model = GraphMLP(4, 8, depth=3, zero_start=False)
    torch.testing.assert_close(model(Batch.from_data_list(padded)), model(Batch.from_data_list(graphs)))


@pytest.mark.parametrize(("model_type", "graph_type"), [("double", torch.float32), ("float", torch.float64)])
def test_graphs_are_read_in_the_type_of_the_weights(graphs, model_type, graph_type):
    batch = Batch.from_data_list([Data(x=g.x.to(graph_type), edge_index=g.edge_index) for g in graphs])
    model = getattr(GraphMLP(4, 8), model_type)()
    assert model(batch).dtype == tangent_features(model, batch).dtype == model.weights[0].dtype


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"feature_dim": 0}, "`feature_dim`"),
        ({"width": 7}, "width"),
        ({"width": 0}, "`width`"),
        ({"depth": 1}, "depth"),
    ],
)
def test_refuses_sizes_out_of_range(keywords, message):
    with pytest.raises(ValueError, match=message):
        GraphMLP(**{"feature_dim": 4, **keywords})


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
