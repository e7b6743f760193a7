import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.modules import GRAPHS, Molecules, gin, molecules

import registry
from agents.contract.protocol import DivergedError
from agents.neural.covariance import PRIOR_ROUNDS
from graph_bandit_env.graphs import as_graph_set
from graph_bandit_lab.design import AgentSpec

SMALL = {"width": 16, "steps": 10, "own_variance": 0.0, "node_features": "given"}  # the network alone


def ready(name="gnn-ts", seed=0, graphs=None, **settings):
    agent = registry.make_agent(name, **{**SMALL, **settings})
    graph_set = as_graph_set(graphs or ragged_graphs())
    agent.reset(None, seed=seed, graph_set=graph_set)
    return agent


def test_the_covariance_takes_in_gradients_from_before_the_fit():
    agent = ready(covariance="diagonal", standardize=False)
    played = torch.tensor([2])
    features = agent._features().select(played)
    expected = agent.covariance.diagonal + features[0].double().square()
    agent.update(None, 2, 1.0)
    torch.testing.assert_close(agent.covariance.diagonal, expected)
    assert not torch.equal(agent._features().select(played), features)


def test_initial_gradients_stay_while_the_network_moves():
    agent = ready(gradients_at="initial")
    mean, features = agent.belief().mean, agent._features().select(torch.arange(4))
    agent.update(None, 2, 1.0)
    agent.update(None, 0, 0.0)
    assert torch.equal(agent._features().select(torch.arange(4)), features)
    assert not torch.equal(agent.belief().mean, mean)


PLAYS, REWARDS = np.array([0, 2, 2, 3]), np.array([60.0, 40.0, 38.0, 53.0])


def posterior_covariance(agent, plays):
    """Of all mean rewards in units of the noise, by the p x p inverse at these weights; and log det(U / ridge)."""
    psi = agent._features().select(torch.arange(4)).double().numpy()
    ridge = agent.settings.ridge
    precision = ridge * np.eye(psi.shape[1]) + psi[plays].T @ psi[plays]
    return psi @ np.linalg.solve(precision, psi.T), np.linalg.slogdet(precision / ridge).logabsdet, psi @ psi.T


def test_predictions_are_in_units_of_the_reward_with_the_noise_of_the_whole_likelihood():
    agent = ready(regularization=0.05)
    prior = agent.predict()  # at which the covariance is the kernel
    np.testing.assert_allclose(prior.std, np.sqrt(np.diag(posterior_covariance(agent, [])[2])), rtol=1e-5)
    assert prior.noise_std == pytest.approx(agent.settings.ridge**0.5)
    agent.update(None, PLAYS, REWARDS)
    means = np.array([60.0, 39.0, 53.0])  # of the graphs played
    location, unit, ridge = means.mean(), means.std(), agent.settings.ridge
    covariance, _, kernel = posterior_covariance(agent, PLAYS)
    targets = (REWARDS - location) / unit
    fitted = targets @ np.linalg.solve(kernel[np.ix_(PLAYS, PLAYS)] / ridge + np.eye(4), targets)
    noise = (fitted + PRIOR_ROUNDS * ridge) / (4 + PRIOR_ROUNDS)
    told = agent.predict()
    np.testing.assert_allclose(told.mean, location + unit * agent.belief().mean, rtol=1e-6)
    np.testing.assert_allclose(told.std, unit * np.sqrt(noise * np.diag(covariance)), rtol=1e-4)
    assert told.noise_std == pytest.approx(unit * noise**0.5, rel=1e-5)


def test_the_own_part_is_a_process_of_independent_graphs_on_what_the_network_leaves():
    agent, alone = (ready(own_variance=variance, exploration_scale=2.0) for variance in (0.3, 0.0))
    for one in (agent, alone):
        one.update(None, PLAYS, REWARDS)
    means = np.array([60.0, 39.0, 53.0])
    targets = (REWARDS - means.mean()) / means.std()
    noise = (2.0 / means.var() + 2 * 0.1) / (1 + 2)  # 38 and 40 are of one graph; the prior of .1 is worth two rewards
    values, spread = alone.belief().mean.numpy(), alone.belief().spread.numpy()
    incidence = np.eye(4)[PLAYS]
    gain = 0.3 * incidence.T @ np.linalg.inv(0.3 * incidence @ incidence.T + noise * np.eye(4))
    covariance = 0.3 * np.eye(4) - 0.3 * gain @ incidence
    belief = agent.belief()
    np.testing.assert_allclose(belief.mean, values + gain @ (targets - values[PLAYS]), rtol=1e-6)
    np.testing.assert_allclose(belief.spread**2, spread**2 + 4 * np.diag(covariance), rtol=1e-6)
    joint, shared = belief.joint_root(), alone.belief().joint_root()
    np.testing.assert_allclose(joint @ joint.T - shared @ shared.T, 4 * covariance, atol=1e-5)
    fantasized = agent.fantasize()(1).spread - alone.fantasize()(1).spread
    assert 0 < fantasized[1] < (belief.spread - torch.from_numpy(spread))[1]


def test_what_is_fantasized_makes_others_surer_and_changes_no_mean():
    agent = ready(exploration_scale=2.0)
    agent.update(None, PLAYS, REWARDS)
    before, fantasize = agent.belief(), agent.fantasize()
    fantasize(1)
    after = fantasize(3)
    assert torch.equal(after.mean, before.mean)
    covariance = posterior_covariance(agent, np.append(PLAYS, [1, 3]))[0]
    np.testing.assert_allclose(after.spread, 2.0 * np.sqrt(np.diag(covariance)), rtol=1e-4)
    assert torch.equal(agent.belief().spread, before.spread)


def dimension_of(agent, horizon):
    kernel = horizon * posterior_covariance(agent, [])[2] / agent.settings.ridge
    whole = np.linalg.slogdet(np.eye(4) + kernel).logabsdet
    return pytest.approx(whole / np.log1p(np.linalg.norm(kernel, 2)), rel=1e-6)


def test_insight_measures_the_covariance_before_the_play():
    agent = ready(exploration_scale=2.0, standardize=False)
    agent.select_action(None)
    assert agent.insight().effective_dimension == dimension_of(agent, 1)
    agent.update(None, PLAYS, REWARDS / 50)
    agent.select_action(None)
    insight = agent.insight()
    covariance, log_determinant, _ = posterior_covariance(agent, PLAYS)
    np.testing.assert_allclose(insight.mean, agent.belief().mean, rtol=1e-6)
    np.testing.assert_allclose(insight.spread, 2.0 * np.sqrt(np.diag(covariance)), rtol=1e-4)
    np.testing.assert_allclose(insight.variance, np.diag(covariance), rtol=1e-4)
    assert insight.log_determinant == pytest.approx(log_determinant, rel=1e-6)
    assert insight.effective_dimension == dimension_of(agent, 4)


def test_a_diverged_fit_keeps_the_last_finite_weights():
    agent = ready(penalty="constant", regularization=100.0, steps=200, standardize=False)
    before = agent.weights
    with pytest.raises(DivergedError):
        agent.update(None, 0, 1.0)
    assert all(torch.equal(a, b) for a, b in zip(agent.weights, before, strict=True))


def test_the_papers_preset_is_its_algorithm_to_the_letter_at_a_cell_of_its_grid():
    label = (
        "gnn-ts:covariance=diagonal,gradients_at=current,history=frozen,fit=epochs,epochs=30,batch_size=5,penalty=constant,"
        "penalty_center=zero,start=initial,standardize=False,exploration_scale=0.01,learning_rate=0.01,"
        "regularization=1e-4,own_variance=0,node_features=given,node_count=largest"
    )
    literal = registry.make_agent("gnn-ts", **AgentSpec.parse(label).settings)
    assert registry.make_agent("gnn-ts", preset="paper").settings == literal.settings


def test_observations_bring_their_edge_features():
    agent = registry.make_agent("gnn-ucb", network=Molecules())
    graph_set = as_graph_set(molecules())
    agent.reset(tuple(graph_set))
    other = registry.make_agent("gnn-ucb", network=Molecules())
    other.reset(None, graph_set=graph_set)
    torch.testing.assert_close(*(one.network._outputs(agent.weights) for one in (agent, other)))


def test_settings_and_states_know_the_module_by_its_class_and_name():
    agent = registry.make_agent("gnn-ts", network=gin(), network_name="three layers")
    assert agent.settings.network == "Pooled/three layers"
    other = registry.make_agent("gnn-ts", network=gin())
    for one in (agent, other):
        one.reset(None, graph_set=as_graph_set(GRAPHS))
    with pytest.raises(ValueError, match="another `network`"):
        agent.load_state_dict(other.state_dict())
