"""Any PyG module as the network, held against one backward pass per graph."""

import copy

import pytest
import torch
from conftest import play, ragged_graphs
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, GINConv, GINEConv, global_add_pool, global_mean_pool

import registry
from agents.neural.module import ModuleNetwork
from agents.neural.settings import NeuralSettings
from gntk import Batches
from graph_bandit_env import GraphSet


class Pooled(nn.Module):
    """Layers on nodes, a pooling, and a linear head."""

    def __init__(self, layers, width, pool=global_mean_pool):
        super().__init__()
        self.layers, self.head, self.pool = nn.ModuleList(layers), nn.Linear(width, 1), pool

    def forward(self, batch):
        x = batch.x
        for layer in self.layers:
            x = layer(x, batch.edge_index).relu()
        return self.head(self.pool(x, batch.batch)).squeeze(-1)


def gin():
    perceptrons = [nn.Sequential(nn.Linear(d, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8)) for d in (4, 8, 8)]
    return Pooled([GINConv(perceptron) for perceptron in perceptrons], 8, global_add_pool)


def gcn():
    return Pooled([GCNConv(4, 8), nn_dropout_gcn()], 8)


def nn_dropout_gcn():
    class WithDropout(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = GCNConv(8, 8)

        def forward(self, x, edge_index):
            return nn.functional.dropout(self.conv(x, edge_index), 0.5, self.training)

    return WithDropout()


def gat():
    return Pooled([GATConv(4, 4, heads=2), GATConv(8, 8)], 8)


class Molecules(nn.Module):
    """A 3-layer GIN with embeddings of categorical node and edge features."""

    def __init__(self):
        super().__init__()
        self.nodes, self.edges = nn.Embedding(5, 8), nn.Embedding(3, 8)
        self.layers = nn.ModuleList([GINEConv(nn.Linear(8, 8)) for _ in range(3)])
        self.head = nn.Linear(8, 1)

    def forward(self, batch):
        x, edges = self.nodes(batch.x[:, 0].long()), self.edges(batch.edge_attr[:, 0].long())
        for layer in self.layers:
            x = layer(x, batch.edge_index, edges).relu()
        return self.head(global_add_pool(x, batch.batch)).squeeze(-1)


def molecules():
    graphs = ragged_graphs(sizes=(6, 1, 9, 4, 5, 7, 3, 8, 6, 5))
    generator = torch.Generator().manual_seed(0)
    for graph in graphs:
        graph.x = torch.randint(5, (graph.num_nodes, 1), generator=generator)
        graph.edge_attr = torch.randint(3, (graph.num_edges, 1), generator=generator)
    return graphs


GRAPHS = ragged_graphs(sizes=(5, 1, 7, 3, 6, 2, 9, 4, 4, 5, 8))  # more than one block of gradients
CASES = {"gin": (gin, GRAPHS), "gcn": (gcn, GRAPHS), "gat": (gat, GRAPHS), "molecules": (Molecules, molecules())}


@pytest.fixture(params=CASES)
def case(request):
    make, graphs = CASES[request.param]
    torch.manual_seed(0)
    return make(), graphs


def network_of(module, graphs, **settings):
    return ModuleNetwork(module, Batch.from_data_list(graphs), NeuralSettings(**settings), seed=0)


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
    monkeypatch.setattr("agents.neural.engines.BLOCK_BYTES", 8 * 3 * network.num_features)  # three graphs at a time
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


def test_a_small_forward_block_changes_nothing(case, monkeypatch):
    network = network_of(*case)
    whole = network.values(moved(network))
    monkeypatch.setattr("agents.neural.module.NODES_AT_A_TIME", 6)
    torch.testing.assert_close(network.values(moved(network)), whole, rtol=1e-4, atol=1e-5)


def test_the_users_module_stays_as_it_is():
    torch.manual_seed(0)
    module = gin()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    agent = registry.make_agent("gnn-ts", network=module, steps=3)
    agent.reset(None, graph_set=GraphSet.from_pyg(GRAPHS))
    agent.update(None, [0, 1], [1.0, 2.0])
    assert module.training
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert all(parameter.grad is None for parameter in module.parameters())


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


class HalfFrozen(nn.Module):
    """A frozen random layer, as of features that were trained elsewhere."""

    def __init__(self, width=8):
        super().__init__()
        self.frozen, self.head = nn.Linear(4, width).requires_grad_(False), nn.Linear(width, 1)

    def forward(self, batch):
        return self.head(global_mean_pool(self.frozen(batch.x).relu(), batch.batch)).squeeze(-1)


def ready(module, seed=0, **settings):
    agent = registry.make_agent("gnn-ts", network=module, steps=3, **settings)
    agent.reset(None, seed=seed, graph_set=GraphSet.from_pyg(GRAPHS))
    return agent


def test_a_state_brings_what_no_fit_moves():
    agent, twin = ready(HalfFrozen), ready(HalfFrozen, seed=1)
    agent.update(None, [0, 1, 2], [1.0, 2.0, 0.0])
    twin.load_state_dict(agent.state_dict())
    assert torch.equal(agent.belief().spread, twin.belief().spread)
    assert torch.equal(agent.belief().mean, twin.belief().mean)


def test_a_state_of_a_module_of_another_shape_is_refused_and_nothing_changes():
    agent, wider = ready(HalfFrozen(), network_name="a"), ready(HalfFrozen(16), network_name="a")
    with pytest.raises(ValueError, match="the same graphs"):
        agent.load_state_dict(wider.state_dict())
    agent.update(None, 0, 1.0)
    assert agent.select_action(None) in range(len(GRAPHS))


@pytest.mark.parametrize("context", [torch.no_grad, torch.enable_grad])
def test_agents_on_a_module_play_where_gradients_are_off(context):
    with context():
        agent = ready(gcn)
        agent.update(None, agent.select_action(None), 1.0)
        assert agent.select_action(None) in range(len(GRAPHS))


def test_one_rewarded_graph_leaves_all_graphs_tied():
    torch.manual_seed(0)
    agent = registry.make_agent("gnn-greedy", network=gin(), steps=3)
    agent.reset(None, graph_set=GraphSet.from_pyg(GRAPHS[:9]))  # the last block of gradients holds one graph
    agent.update(None, [1, 1], [3.0, 3.5])
    assert (agent.belief().mean == 0).all()


class BatchDependent(HalfFrozen):
    def forward(self, batch):
        values = super().forward(batch)
        return values - values.mean()


def test_refuses_a_module_that_looks_at_the_rest_of_its_batch():
    with pytest.raises(ValueError, match="does not depend on the other graphs of its batch"):
        ready(BatchDependent)


def test_refuses_a_module_without_shapes():
    with pytest.raises(ValueError, match="parameters have shapes"):
        ready(Pooled([GCNConv(-1, 8)], 8), network_name="lazy")


@pytest.mark.parametrize("name", ["nn-ts", "nn-ucb", "nn-pe"])
def test_the_baselines_on_nodes_take_no_network(name):
    with pytest.raises(ValueError, match="Expected no `network`"):
        registry.make_agent(name, network="gin")
    assert registry.make_agent(name, network="paper").settings.network == "paper"


@pytest.mark.parametrize("name", ["gnn-ts", "gnn-ucb", "gnn-pe", "gnn-greedy", "epsilon-greedy"])
def test_agents_on_a_module_conform(name):
    registry.check_agent(lambda: registry.make_agent(name, network=lambda: small_gcn(2), network_name="a", steps=3))


def small_gcn(feature_dim):
    return Pooled([GCNConv(feature_dim, 8)], 8)


def test_a_function_draws_other_weights_for_another_seed_and_the_same_for_the_same():
    def start(seed):
        agent = registry.make_agent("gnn-ts", network=gcn)
        agent.reset(None, seed=seed, graph_set=GraphSet.from_pyg(GRAPHS))
        return agent.weights[-2]

    assert torch.equal(start(1), start(1))
    assert not torch.equal(start(1), start(2))


@pytest.mark.parametrize("settings", [{}, {"gradient": "last_layer"}, {"covariance": "diagonal"}])
def test_a_module_learns_which_graphs_are_good(small_env, settings):
    env = small_env(num_graphs=12, num_nodes=10, horizon=60, reward_scale="unit")
    agent = registry.make_agent("gnn-ts", network=lambda: small_gcn(3), network_name="gcn", **settings)
    actions, _ = play(env, agent, 60)
    means = env.unwrapped.mean_rewards
    assert means[actions[-20:]].mean() > means.mean() + 0.5 * means.std()


def test_observations_bring_their_edge_features():
    agent = registry.make_agent("gnn-ucb", network=Molecules())
    graph_set = GraphSet.from_pyg(molecules())
    agent.reset(tuple(graph_set))
    other = registry.make_agent("gnn-ucb", network=Molecules())
    other.reset(None, graph_set=graph_set)
    torch.testing.assert_close(*(one.network._outputs(agent.weights) for one in (agent, other)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"network": "GIN/mine"}, "pass the module itself"),
        ({"network": 3}, "torch module `Batch -> "),
        ({"network": lambda: gin()}, "Expected `network_name`"),
        ({"network": gin, "width": 8, "depth": 3}, "Expected no width, depth with `network`"),
        ({"network_name": "mine"}, "without a `network_name`"),
    ],
)
def test_refuses_what_is_no_network(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        registry.make_agent("gnn-ts", **settings)


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


def test_refuses_a_module_with_nothing_to_train_and_a_function_that_makes_none():
    with pytest.raises(ValueError, match="trainable parameters. Got none"):
        network_of(nn.Identity(), GRAPHS)
    with pytest.raises(TypeError, match="Got int"):
        network_of(lambda: 3, GRAPHS)


def test_settings_and_states_know_the_module_by_its_class_and_name():
    agent = registry.make_agent("gnn-ts", network=gin(), network_name="three layers")
    assert agent.settings.network == "Pooled/three layers"
    other = registry.make_agent("gnn-ts", network=gin())
    for one in (agent, other):
        one.reset(None, graph_set=GraphSet.from_pyg(GRAPHS))
    with pytest.raises(ValueError, match="another `network`"):
        agent.load_state_dict(other.state_dict())


def test_a_graph_without_edges_is_a_graph():
    graphs = [Data(x=torch.ones(1, 4), edge_index=torch.zeros(2, 0, dtype=torch.int64)) for _ in range(3)]
    network = network_of(gcn(), graphs)
    assert network.values_and_features(network.initial, torch.arange(3))[1].isfinite().all()
