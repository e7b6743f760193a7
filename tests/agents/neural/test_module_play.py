"""Agents that play on a user's module."""

import pytest
import torch
from support.modules import GRAPHS, Molecules, Pooled, gcn, gin, molecules, small_gcn
from support.play import play
from torch import nn
from torch_geometric.nn import GCNConv, global_mean_pool

import registry
from graph_bandit_env import GraphSet


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
    told = registry.check_agent(
        lambda: registry.make_agent(name, network=lambda: small_gcn(2), network_name="a", steps=3)
    )
    assert "all checks passed" in told


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
    agent = registry.make_agent("gnn-ts", network=lambda: small_gcn(3), network_name="gcn", steps=20, **settings)
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


def test_settings_and_states_know_the_module_by_its_class_and_name():
    agent = registry.make_agent("gnn-ts", network=gin(), network_name="three layers")
    assert agent.settings.network == "Pooled/three layers"
    other = registry.make_agent("gnn-ts", network=gin())
    for one in (agent, other):
        one.reset(None, graph_set=GraphSet.from_pyg(GRAPHS))
    with pytest.raises(ValueError, match="another `network`"):
        agent.load_state_dict(other.state_dict())
