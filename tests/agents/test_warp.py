"""Agents that learn from normal scores, because a few rewards are far from the others."""

import inspect

import numpy as np
import pytest
import torch
from scipy.stats import norm
from scipy.stats import t as student
from support.graphs import ragged_graphs
from support.molecules import some_molecules
from support.posterior import from_scratch

import registry
from agents import zoo
from agents.beliefs.rewards import NormalScores
from graph_bandit_env import GraphSet

MOLECULES = some_molecules(12)
GRAPHS = GraphSet.from_pyg(ragged_graphs((5, 4, 7, 6, 3, 5, 8, 2, 6, 4, 9, 5)))
REWARDS = np.random.default_rng(5).normal(size=len(GRAPHS))
SMALL = {"width": 16, "steps": 5}
KNOWN = {"output_scale": 2.0}
NAMES = [name.replace("_", "-") for name in zoo.__all__ if "warp" in inspect.signature(getattr(zoo, name)).parameters]


def ready(name, graphs=GRAPHS, **settings):
    graphs = MOLECULES if name.startswith("molecule") else graphs
    small = SMALL if name.startswith(("gnn", "nn", "epsilon")) else {}
    agent = registry.make_agent(name, **{"warp": "normal_scores", **small, **settings})
    agent.reset(None, seed=0, graph_set=graphs)
    return agent


def play(agent, rewards):
    """Play each graph once, and return the order."""
    left, order = np.ones(len(rewards), np.int8), []
    while left.any():
        order.append(agent.select_action(None, left))
        left[order[-1]] = 0
        agent.update(None, order[-1], rewards[order[-1]])
    return order


@pytest.mark.parametrize("name", NAMES)
def test_play_depends_on_the_ranks_of_rewards_alone(name):
    plain, steep = ready(name), ready(name)
    assert play(plain, REWARDS) == play(steep, np.exp(4 * REWARDS) - 100)


def test_without_warp_it_depends_on_their_values():
    plain, steep = ready("gntk-ei", warp="none"), ready("gntk-ei", warp="none")
    for agent, rewards in ((plain, REWARDS), (steep, np.exp(4 * REWARDS) - 100)):
        agent.update(None, np.arange(8), rewards[:8])
    assert not torch.allclose(plain.belief().mean, steep.belief().mean, atol=0.1)


@pytest.mark.parametrize("at_once", [1, 5, 12])
def test_the_belief_is_the_posterior_of_the_scores_of_all_rewards_so_far(at_once):
    agent = ready("gntk-ucb", **KNOWN, exploration_scale=1.0)
    plays = np.array([0, 3, 3, 7, 1, 0, 0, 9, 5, 2, 3, 11])
    rewards = np.exp(REWARDS[plays]) + np.random.default_rng(0).normal(size=12)
    for first in range(0, 12, at_once):
        agent.update(None, plays[first : first + at_once], rewards[first : first + at_once])
    seen = np.unique(plays)
    means = np.array([rewards[plays == graph].mean() for graph in seen])
    targets = dict(zip(seen, NormalScores(agent.history.means[seen], 1.0).of(agent.history.means[seen]), strict=True))
    np.testing.assert_allclose(agent.history.means[seen], means)
    every = torch.arange(12)
    kernel = agent.posterior.kernel.columns(every, every).numpy()
    mean, covariance = from_scratch(kernel, agent.posterior.noise, plays, [targets[graph] for graph in plays])
    belief = agent.belief()
    np.testing.assert_allclose(belief.mean, mean, atol=1e-8)
    np.testing.assert_allclose(belief.spread, np.sqrt(np.diag(covariance).clip(0)), atol=1e-6)


@pytest.mark.parametrize("name", ["gntk-ucb", "wl-ts", "gnn-ucb"])
def test_predictions_are_moments_of_the_rewards_of_a_normal_belief(name):
    agent = ready(name, exploration_scale=1.0)
    agent.update(None, np.arange(8), np.exp(4 * REWARDS[:8]))
    targets = NormalScores(agent.history.means[:8], agent.history.location_and_scale()[1])
    belief, told = agent.belief(), agent.predict()
    noise = (told.noise_std / targets.unit) ** 2
    unit = noise**0.5 if name == "gnn-ucb" else 1.0  # the variance of a network is in units of that of noise
    spread = unit * belief.spread.numpy()
    draws = belief.mean.numpy() + spread * np.random.default_rng(0).normal(size=(100_000, 12))
    rewards = targets.to_rewards(torch.from_numpy(draws)).numpy()
    np.testing.assert_allclose(told.mean, rewards.mean(0), atol=0.02 * rewards.std())
    np.testing.assert_allclose(told.std, rewards.std(0), rtol=0.05, atol=0.01 * rewards.std())
    np.testing.assert_array_equal(agent.predict_means(), told.mean)


@pytest.mark.parametrize("name", ["gntk-ucb", "gnn-ts", "lin-ts", "molecule-ts"])
def test_intervals_without_warp_are_those_of_a_normal_reward(name):
    agent = registry.make_agent(name, **{"gnn-ts": SMALL, "molecule-ts": {"warp": "none"}}.get(name, {}))
    agent.reset(None, graph_set=some_molecules() if name == "molecule-ts" else GRAPHS)
    agent.update(None, [0, 1, 2], [1.0, 3.0, -2.0])
    told = agent.predict()
    spread = np.sqrt(told.std**2 + told.noise_std**2)
    np.testing.assert_allclose(told.probability_above(0.7), norm.sf(0.7, told.mean, spread))
    low, high = told.interval(0.8)
    expected = norm.interval(0.8, told.mean, spread)
    np.testing.assert_allclose([low, high], expected)


@pytest.mark.parametrize("name", ["gntk-ucb", "gnn-ucb"])
def test_under_a_warp_they_are_quantiles_of_the_rewards(name):
    agent = ready(name, exploration_scale=1.0)
    agent.update(None, np.arange(8), np.exp(4 * REWARDS[:8]))
    targets = NormalScores(agent.history.means[:8], agent.history.location_and_scale()[1])
    belief, told = agent.belief(), agent.predict()
    noise = (told.noise_std / targets.unit) ** 2
    unit = noise if name == "gnn-ucb" else 1.0
    expected = norm.interval(0.9, belief.mean.numpy(), np.sqrt(unit * belief.spread.numpy() ** 2 + noise))
    for found, likely in zip(told.interval(0.9), expected, strict=True):
        np.testing.assert_allclose(found, targets.to_rewards(torch.from_numpy(likely)), rtol=1e-9)
    assert (told.interval(0.5)[0] > told.interval(0.9)[0]).all()


def test_what_beats_the_best_of_q_rewards_is_the_last_of_q_plus_one_or_more_than_a_copy_of_the_best():
    q, rewards = 9, torch.from_numpy(np.exp(np.random.default_rng(0).normal(size=9)))
    scores = NormalScores(rewards, 1.0)
    unit = norm.ppf((np.arange(q) + 0.5) / q).std()
    mean = torch.tensor([0.0, 0.7]).double()
    for i, reward in enumerate(sorted(rewards.tolist()), start=1):
        score, bound = norm.ppf([(i - 0.5) / q, i / (q + 1)]) / unit
        for std in (1e-9, 0.3, 1.0, 1.7):
            barrier = score + (bound - score) * min(1, std)
            expected = student.sf((barrier - mean) / std, 4)
            found = scores.exceeded(reward, mean, torch.full((2,), std).double())
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        copy = scores.exceeded(reward, torch.tensor([score]).double(), torch.tensor([1e-3]).double())
        assert copy.item() == pytest.approx(0.5, abs=0.15)


def test_a_larger_value_is_exceeded_less_often_and_equal_ones_are_not_exceeded():
    rewards = torch.tensor([1.0, 2, 2, 5, 5, 5]).double()
    scores, mean, std = NormalScores(rewards, 1.0), torch.zeros(1).double(), torch.ones(1).double()
    values = [scores.exceeded(value, mean, std).item() for value in np.linspace(-3, 9, 40)]
    assert (np.diff(values) < 0).all()
    unit = norm.ppf(np.array([0.5, 2, 2, 4.5, 4.5, 4.5]) / 6).std()
    assert scores.exceeded(5.0, mean, std).item() == pytest.approx(student.sf(norm.ppf(6 / 7) / unit, 4))


@pytest.mark.parametrize("level", [0, 1, -0.1, float("nan")])
def test_a_level_that_is_not_a_probability_is_refused(level):
    with pytest.raises(ValueError, match="Expected `level` between 0 and 1"):
        ready("gntk-ucb").predict().interval(level)


@pytest.mark.parametrize("name", ["gntk-ucb", "wl-ei"])
@pytest.mark.parametrize("forget", [None, 7])
def test_where_graphs_change_the_scores_are_those_of_all_graphs_remembered(name, forget):
    agent, graphs = ready(name, forget=forget), tuple(GRAPHS)
    agent.reset(graphs, seed=0)
    other = ready(name, forget=forget)
    for t in range(12):
        shown = [t, (t + 3) % 12, (t + 5) % 12]
        agent.update(tuple(graphs[k] for k in shown), 0, float(np.exp(4 * REWARDS[t])))
        other.update(None, t, float(np.exp(4 * REWARDS[t])))
        np.testing.assert_allclose(agent.predict().mean, other.predict().mean[shown], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", ["gntk-ts", "gnn-ucb"])
def test_insight_is_in_units_of_the_reward(name):
    agent = ready(name, exploration_scale=1.0)
    agent.update(None, np.arange(8), np.exp(4 * REWARDS[:8]))
    agent.select_action(None)
    insight, belief = agent.insight(), agent.belief()
    targets = NormalScores(agent.history.means[:8], agent.history.location_and_scale()[1])
    mean, spread = targets.moments(belief.mean, belief.spread)
    np.testing.assert_allclose(insight.mean, mean)
    np.testing.assert_allclose(insight.spread, spread)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("gntk-ei", {"warp": "ranks"}, "Expected `warp` to be one of none, normal_scores"),
        ("gntk-ei", {"standardize": False}, "Expected `standardize` with `warp`"),
        ("gnn-ts", {"preset": "paper"}, "Expected `standardize` with `warp`"),
        ("wl-ei", {"noise_variance": 0.1}, "Expected `noise_variance` to be None with `warp`"),
    ],
)
def test_what_does_not_go_together_is_refused(name, settings, message):
    with pytest.raises(ValueError, match=message):
        registry.make_agent(name, **{"warp": "normal_scores", **settings})


def test_a_long_tail_hides_less_under_normal_scores():
    """Rewards are linear in the mean node, and a few graphs are broken: the others are ranked better."""
    graphs = GraphSet.from_pyg(ragged_graphs(tuple(range(3, 63)), seed=1))
    means = np.array([graph.nodes.mean(0)[0] for graph in graphs])
    broken = np.random.default_rng(0).permutation(60)[:6]
    rewards = np.where(np.isin(np.arange(60), broken), means - 30, means)
    errors = {}
    for warp in ("none", "normal_scores"):
        agent = ready("gntk-greedy", graphs, warp=warp)
        agent.update(None, np.arange(40), rewards[:40])
        late = np.setdiff1d(np.arange(40, 60), broken)
        errors[warp] = np.corrcoef(agent.predict().mean[late].argsort().argsort(), means[late].argsort().argsort())[
            0, 1
        ]
    assert errors["normal_scores"] > errors["none"]


@pytest.mark.parametrize("warp", ["none", "normal_scores"])
def test_draws_of_gains_agree_with_the_forecast_of_each_graph(warp):
    molecules = some_molecules(40)
    agent = registry.make_agent("molecule-ucb", warp=warp)
    agent.reset(None, seed=0, graph_set=molecules)
    agent.update(None, np.arange(20), molecules.targets[:20])
    best, left = float(molecules.targets[:20].max()), range(20, 40)
    gains = agent.draw_gains(left, best, 40_000, seed=1)
    assert agent.posterior.noise < 0.02  # forecasts are of a reward with noise, draws of mean rewards
    np.testing.assert_allclose((gains > 0).mean(0), agent.predict().probability_above(best)[20:], atol=0.03)
    assert np.array_equal(agent.draw_gains(left, best, 5, seed=2), agent.draw_gains(left, best, 5, seed=2))
    likely = gains[:, (gains > 0).mean(0) > 0.02] > 0
    pairs = np.corrcoef(likely.T.astype(float))[np.triu_indices(likely.shape[1], 1)]
    assert pairs.mean() > 0.02  # they are joint draws: molecules are alike


@pytest.mark.parametrize("warp", ["none", "normal_scores"])
def test_draws_of_rewards_have_the_predicted_moments_and_are_joint(warp):
    molecules = some_molecules(40)
    agent = registry.make_agent("molecule-ucb", warp=warp)
    agent.reset(None, seed=0, graph_set=molecules)
    agent.update(None, np.arange(20), molecules.targets[:20])
    index, expected = [35, 21, 28, 3], agent.predict()
    draws = agent.draw_rewards(index, 40_000, seed=1)
    np.testing.assert_allclose(draws.mean(0), expected.mean[index], atol=0.02 * expected.std.max())
    np.testing.assert_allclose(draws.std(0), expected.std[index], rtol=0.03)
    np.testing.assert_array_equal(draws[:, :1], agent.draw_rewards(index, 40_000, seed=1)[:, :1])
    joint = agent.posterior.covariance(torch.tensor(index))
    spread = joint.diagonal().sqrt()
    ranks = torch.from_numpy(draws).argsort(0).argsort(0).double().T.corrcoef()  # no warp changes ranks
    np.testing.assert_allclose(ranks, 6 / np.pi * torch.asin(joint / torch.outer(spread, spread) / 2), atol=0.03)


def test_gains_are_drawn_of_molecules_of_the_set_after_a_reset():
    agent = registry.make_agent("molecule-ucb")
    with pytest.raises(RuntimeError, match="Expected `reset` first"):
        agent.draw_gains([0], 0.0, 3, seed=0)
    with pytest.raises(RuntimeError, match="Expected `reset` first"):
        agent.draw_rewards([0], 3, seed=0)
    agent.reset(None, seed=0, graph_set=some_molecules(10))
    with pytest.raises(ValueError, match="indices from 0 to 9. Got \\[-1\\]"):
        agent.draw_gains([-1], 0.0, 3, seed=0)
