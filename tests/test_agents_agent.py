import numpy as np
import pytest
import torch
from conftest import play, ragged_graphs
from torch_geometric.data import Batch

import registry
from agents.neural.covariance import DiagonalCovariance, FrozenCovariance, RefreshedCovariance
from agents.protocol import DivergedError
from gntk import GraphMLP, tangent_features
from graph_bandit_env import GraphSet

SMALL = {"width": 16, "steps": 10}


def ready(name="gnn-ts", seed=0, graphs=None, **settings):
    agent = registry.make_agent(name, **{**SMALL, **settings})
    graph_set = GraphSet.from_pyg(graphs or ragged_graphs())
    agent.reset(None, seed=seed, graph_set=graph_set)
    return agent


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"covariance": "diagonal"}, DiagonalCovariance),
        ({"covariance": "exact", "history": "frozen"}, FrozenCovariance),
        ({"covariance": "exact", "history": "refreshed"}, RefreshedCovariance),
        ({"covariance": "exact", "history": "frozen", "gradients": "initial"}, RefreshedCovariance),
    ],
)
def test_settings_choose_the_covariance(settings, kind):
    assert type(ready(**settings).covariance) is kind


def test_believes_zero_with_the_prior_spread_at_the_start():
    agent = ready(exploration_scale=2.0, regularization=0.01)
    mean, spread = agent.belief()
    assert mean.abs().max() <= 1e-6
    model = GraphMLP(4, 16)
    with torch.no_grad():
        for parameter, weight in zip(model.parameters(), agent.initial, strict=True):
            parameter.copy_(weight)
    features = tangent_features(model, Batch.from_data_list(ragged_graphs())).double()
    prior = 2.0 * (features.square().sum(1) / agent.settings.ridge).sqrt()
    torch.testing.assert_close(spread, prior)


def test_the_covariance_takes_in_gradients_from_before_the_fit():
    agent = ready(covariance="diagonal", standardize=False)
    _, features = agent._values_and_features()
    expected = agent.covariance.diagonal + features[2].double().square()
    agent.update(None, 2, 1.0)
    torch.testing.assert_close(agent.covariance.diagonal, expected)
    assert not torch.equal(agent._values_and_features()[1], features)


def test_initial_gradients_stay_while_the_network_moves():
    agent = ready(gradients="initial")
    values, features = agent._values_and_features()
    agent.update(None, 2, 1.0)
    agent.update(None, 0, 0.0)
    moved, fixed = agent._values_and_features()
    assert torch.equal(fixed, features)
    assert not torch.equal(moved, values)


def test_old_measurements_can_be_told_first_and_all_at_once():
    agent = ready(steps=300)
    agent.update(None, np.array([0, 2, 3]), np.array([0.0, 5.0, 1.0]))
    mean, spread = agent.belief()
    assert mean[[0, 2, 3]].argmax() == 1
    assert agent.history.counts.tolist() == [1, 0, 1, 1]
    assert agent.covariance.counts.tolist() == [1, 0, 1, 1]
    assert spread.isfinite().all()


def test_belief_does_not_depend_on_the_units_of_the_reward():
    plain, scaled = ready(), ready()
    for action, reward in [(0, 1.0), (2, 3.0), (3, 2.0)]:
        plain.update(None, action, reward)
        scaled.update(None, action, 1000 * reward - 7)
    torch.testing.assert_close(plain.belief()[0], scaled.belief()[0])


def test_permuting_the_graphs_permutes_the_belief():
    graphs, order = ragged_graphs(sizes=(5, 4, 7, 6)), [2, 0, 3, 1]
    agent, permuted = ready(graphs=graphs), ready(graphs=[graphs[k] for k in order])
    torch.testing.assert_close(permuted.belief()[1], agent.belief()[1][order])


@pytest.mark.parametrize("encode_padding", ["largest", "own"])
def test_padding_with_isolated_nodes_matters_only_to_own_counts(encode_padding):
    graphs = ragged_graphs(sizes=(5, 4, 7, 7))
    padded = [graph.clone() for graph in graphs]
    padded[1].x = torch.cat([padded[1].x, torch.ones(3, 4)])
    beliefs = [ready(graphs=g, node_count=encode_padding).belief()[1] for g in (graphs, padded)]
    assert torch.allclose(*beliefs) == (encode_padding == "largest")


def test_a_diverged_fit_keeps_the_last_finite_weights():
    agent = ready(penalty="constant", regularization=100.0, steps=200, standardize=False)
    before = agent.weights
    with pytest.raises(DivergedError):
        agent.update(None, 0, 1.0)
    assert all(torch.equal(a, b) for a, b in zip(agent.weights, before, strict=True))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"covariance": "diagonal"},
        {"history": "frozen"},
        {"gradients": "initial"},
        {"gradients": "initial", "covariance": "diagonal"},
        {"fit": "epochs", "epochs": 2},
        {"start": "initial"},
        {"depth": 3},
    ],
)
def test_resuming_equals_going_on_bit_for_bit_even_from_another_seed(settings):
    agent, twin = ready(**settings), ready(seed=99, **settings)
    for _ in range(6):
        action = agent.select_action(None)
        agent.update(None, action, float(action))
    twin.load_state_dict(agent.state_dict())
    for _ in range(6):
        actions = [one.select_action(None) for one in (agent, twin)]
        assert actions[0] == actions[1]
        for one in (agent, twin):
            one.update(None, actions[0], float(actions[0]))
    assert all(torch.equal(a, b) for a, b in zip(agent.weights, twin.weights, strict=True))


def test_state_survives_being_saved_to_a_file(tmp_path):
    agent, twin = ready(), ready()
    agent.update(None, 0, 1.0)
    torch.save(agent.state_dict(), tmp_path / "state.pt")
    twin.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    torch.testing.assert_close(agent.belief(), twin.belief(), rtol=0, atol=0)


def test_a_state_is_a_copy_that_later_rounds_do_not_change():
    agent = ready(covariance="diagonal")
    state = agent.state_dict()
    agent.update(None, 0, 1.0)
    assert state["history"]["counts"].sum() == 0
    assert (state["covariance"]["diagonal"] == agent.settings.ridge).all()


@pytest.mark.parametrize("other", [{"width": 8}, {"depth": 3}, {"graphs": ragged_graphs(sizes=(2, 3))}])
def test_refuses_the_state_of_another_network_or_graph_set(other):
    agent = ready()
    agent.update(None, 0, 1.0)
    before = agent.state_dict()
    with pytest.raises(ValueError, match="Expected a state with weights"):
        agent.load_state_dict(ready(**other).state_dict())
    assert torch.equal(agent.weights[0], before["weights"][0])


def test_learns_which_graph_is_best(small_env):
    env = small_env(horizon=60)
    actions, _ = play(env, registry.make_agent("gnn-ts", width=64), 60)
    means = env.unwrapped.mean_rewards
    assert (means[actions[-15:]] >= np.sort(means)[-2]).mean() > 0.8
