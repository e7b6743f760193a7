import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.play import play

import registry
from agents.contract.protocol import DivergedError
from agents.neural import agent as neural_agent
from agents.neural.covariance import PRIOR_ROUNDS, DiagonalCovariance, FrozenCovariance, RefreshedCovariance
from gntk import values_and_features
from graph_bandit_env import GraphSet
from graph_bandit_lab import run_bandit

SMALL = {"width": 16, "steps": 10}
GRAPHS = ragged_graphs()


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
        ({"covariance": "exact", "history": "frozen", "gradients_at": "initial"}, RefreshedCovariance),
    ],
)
def test_settings_choose_the_covariance(settings, kind):
    assert type(ready(**settings).covariance) is kind


@pytest.mark.parametrize("covariance", ["diagonal", "refreshed", "frozen"])
def test_believes_zero_with_the_prior_spread_at_the_start(covariance):
    form = {"covariance": "diagonal"} if covariance == "diagonal" else {"history": covariance}
    agent = ready(exploration_scale=2.0, regularization=0.01, **form)
    belief = agent.belief()
    assert belief.mean.abs().max() <= 1e-6
    features = values_and_features(agent.network.initial, agent.network.graphs)[1].double()
    prior = features @ features.T / (16 * 0.01)  # ridge = m lambda
    # Features are float32: each is a sum over 7 nodes of products with sums over 4 features, in either order.
    error = (7 + 4 + 2) * torch.finfo(torch.float32).eps
    torch.testing.assert_close(belief.spread, 2.0 * prior.diagonal().sqrt(), rtol=error, atol=0)
    covariance = belief.joint_root() @ belief.joint_root().T
    torch.testing.assert_close(covariance, 4.0 * prior, rtol=0, atol=2 * error * 4.0 * prior.max().item())


def test_another_seed_gives_another_network_and_other_play():
    first, second = ready(seed=1), ready(seed=2)
    assert not torch.equal(first.network.initial[0], second.network.initial[0])
    second.network.start_at(first.network.initial)
    second.weights = second.network.initial
    assert [first.select_action(None) for _ in range(20)] != [second.select_action(None) for _ in range(20)]


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


def test_old_measurements_can_be_told_first_and_all_at_once():
    agent = ready(steps=300)
    agent.update(None, np.array([0, 2, 3]), np.array([0.0, 5.0, 1.0]))
    belief = agent.belief()
    assert belief.mean[[0, 2, 3]].argmax() == 1
    assert agent.history.counts.tolist() == [1, 0, 1, 1]
    assert agent.covariance.counts.tolist() == [1, 0, 1, 1]
    assert belief.spread.isfinite().all()


def test_belief_does_not_depend_on_the_units_of_the_reward():
    plain, scaled = ready(), ready()
    for action, reward in [(0, 1.0), (2, 3.0), (3, 2.0)]:
        plain.update(None, action, reward)
        scaled.update(None, action, 1000 * reward - 7)
    torch.testing.assert_close(plain.belief().mean, scaled.belief().mean)


PLAYS, REWARDS = np.array([0, 2, 2, 3]), np.array([60.0, 40.0, 38.0, 53.0])


def posterior_covariance(agent, plays):
    """Of all mean rewards in units of the noise, by the p x p inverse at these weights; and log det(U / ridge)."""
    psi = agent._features().select(torch.arange(4)).double().numpy()
    ridge = agent.settings.ridge
    precision = ridge * np.eye(psi.shape[1]) + psi[plays].T @ psi[plays]
    return psi @ np.linalg.solve(precision, psi.T), np.linalg.slogdet(precision / ridge).logabsdet, psi @ psi.T


def test_predictions_are_in_units_of_the_reward_with_the_noise_of_the_whole_likelihood():
    agent = ready(regularization=0.05)
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


def test_before_any_reward_the_covariance_of_predictions_is_the_kernel():
    agent = ready(regularization=0.05)
    kernel = posterior_covariance(agent, [])[2]
    np.testing.assert_allclose(agent.predict().std, np.sqrt(np.diag(kernel)), rtol=1e-5)
    assert agent.predict().noise_std == pytest.approx(agent.settings.ridge**0.5)


def test_what_is_imagined_makes_others_surer_and_changes_no_mean():
    agent = ready(exploration_scale=2.0)
    agent.update(None, PLAYS, REWARDS)
    before, imagine = agent.belief(), agent.imagine()
    imagine(1)
    after = imagine(3)
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


def test_the_graph_forgotten_is_that_whose_rewards_tell_least():
    """By the variance of its mean reward given those of the others, in units of the noise."""
    agent, plays = ready(memory=3, graphs=ragged_graphs((5, 4, 7, 6))), np.array([0, *[2] * 9, 3, 3, 1])
    agent.update(None, plays, np.zeros(len(plays)))
    told = [posterior_covariance(agent, plays[plays != g])[0][g, g] * (plays == g).sum() for g in range(4)]
    assert set(agent.worth_keeping().tolist()) == {*range(4)} - {int(np.argmin(told))}


@pytest.mark.parametrize("start", [{}, {"gradients_at": "initial"}])
def test_features_are_computed_once_for_each_theta(start, monkeypatch):
    agent, computed = ready(**start), []
    features_at = neural_agent.features_at
    monkeypatch.setattr(neural_agent, "features_at", lambda *given: computed.append(1) or features_at(*given))
    for action in (0, 1, 2):
        agent.select_action(None)
        agent.predict()
        agent.update(None, action, 1.0 + action)
    agent.select_action(None)
    assert len(computed) == (1 if start else 4)


def test_permuting_the_graphs_permutes_the_belief():
    graphs, order = ragged_graphs(sizes=(5, 4, 7, 6)), [2, 0, 3, 1]
    agent, permuted = ready(graphs=graphs), ready(graphs=[graphs[k] for k in order])
    torch.testing.assert_close(permuted.belief().spread, agent.belief().spread[order])


@pytest.mark.parametrize("encode_padding", ["largest", "own"])
def test_padding_with_isolated_nodes_matters_only_to_own_counts(encode_padding):
    graphs = ragged_graphs(sizes=(5, 4, 7, 7))
    padded = [graph.clone() for graph in graphs]
    padded[1].x = torch.cat([padded[1].x, torch.ones(3, 4)])
    beliefs = [ready(graphs=g, node_count=encode_padding).belief().spread for g in (graphs, padded)]
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
        {"gradients_at": "initial"},
        {"gradients_at": "initial", "covariance": "diagonal"},
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
    assert torch.equal(agent.belief().mean, twin.belief().mean)
    assert torch.equal(agent.belief().spread, twin.belief().spread)


def test_a_state_is_a_copy_that_later_rounds_do_not_change():
    agent = ready(covariance="diagonal")
    state = agent.state_dict()
    agent.update(None, 0, 1.0)
    assert state["history"]["counts"].sum() == 0
    assert (state["covariance"]["diagonal"] == agent.settings.ridge).all()


@pytest.mark.parametrize("name", ["initial", "weights"])
def test_a_state_that_is_changed_changes_no_agent(name):
    agent = ready()
    for weight in agent.state_dict()[name]:
        weight.zero_()
    assert all(weight.any() for weight in agent.state_dict()[name])


OTHERS = {
    "width": {"width": 8},
    "covariance": {"covariance": "diagonal"},
    "same graphs": {"graphs": ragged_graphs(seed=5)},
}


@pytest.mark.parametrize(("message", "other"), OTHERS.items())
def test_refuses_the_state_of_another_agent_and_keeps_its_own(message, other):
    agent = ready()
    agent.update(None, 0, 1.0)
    before = agent.state_dict()
    for state in (ready(**other).state_dict(), {}, {**before, "identity": ready(**other).state_dict()["identity"]}):
        with pytest.raises(ValueError, match=message if state else "made by `state_dict`. Got one without identity"):
            agent.load_state_dict(state)
    assert torch.equal(agent.weights[0], before["weights"][0])
    assert torch.equal(agent.covariance.counts, before["covariance"]["counts"])


def test_a_network_that_explodes_without_infinite_weights_is_diverged_too():
    agent = ready(depth=3, steps=1, learning_rate=1000.0, standardize=False)

    def go_on():  # the end comes either in a fit or in what is believed of it
        for round_ in range(50):
            agent.update(None, round_ % 4, float(round_))
            agent.belief()

    with pytest.raises(DivergedError):
        go_on()


def test_a_spread_that_is_not_finite_is_a_divergence():
    agent = ready(covariance="diagonal")
    agent.covariance.diagonal.fill_(torch.nan)
    with pytest.raises(DivergedError, match="not finite"):
        agent.belief()


def test_covariances_too_large_to_factor_are_a_divergence(monkeypatch):
    agent = ready()

    def fail(features, among):
        raise torch.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(agent.covariance, "variance", fail)
    with pytest.raises(DivergedError, match="too large"):
        agent.select_action(None)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_does_not_depend_on_the_default_type(dtype):
    torch.set_default_dtype(dtype)
    try:
        agent = ready(history="frozen", graphs=[graph.clone() for graph in GRAPHS])
        agent.update(None, [0, 2], [1.0, 2.0])
        assert agent.select_action(None) in range(4)
    finally:
        torch.set_default_dtype(torch.float32)


def test_the_papers_preset_beats_random_play(small_env):
    environment = {"num_graphs": 20, "num_nodes": 20, "feature_dim": 10, "horizon": 60, "observe": "indices"}
    regret = {}
    for name, settings in (("gnn-ts", {"preset": "paper", "epochs": 10}), ("random", {})):
        env = small_env(**environment)
        regret[name] = run_bandit(env, registry.make_agent(name, **settings), seed=9000).regret.sum()
    assert regret["gnn-ts"] < 0.8 * regret["random"]


@pytest.mark.parametrize("depth", [2, 3])
def test_one_rewarded_graph_leaves_all_graphs_tied(depth):
    """Rounding errors of the zero start once decided here, and greedy play never left its first graph."""
    agent = ready("gnn-greedy", depth=depth)
    for reward in (3.0, 3.5):
        agent.update(None, 1, reward)
    assert (agent.belief().mean == 0).all()
    assert len({agent.select_action(None) for _ in range(40)}) == 4


def test_learns_which_graph_is_best(small_env):
    env = small_env(horizon=60)
    actions, _ = play(env, registry.make_agent("gnn-ts", width=64), 60)
    means = env.unwrapped.mean_rewards
    assert (means[actions[-15:]] >= np.sort(means)[-2]).mean() > 0.8
