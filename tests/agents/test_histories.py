"""Agents that let earlier rewards count less, because they drift, or learn from normal scores, because some are far."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.molecules import some_molecules
from support.posterior import from_scratch

import registry
from agents.beliefs import PhasedElimination, compose
from agents.beliefs.rewards import NormalScores
from agents.process import LinearSettings, linear
from graph_bandit_env.graphs import as_graph_set

GRAPHS = as_graph_set(ragged_graphs((5, 4, 7, 6, 3, 5, 8, 2, 6, 4, 9, 5)))
EVERY = torch.arange(len(GRAPHS))
RNG = np.random.default_rng(5)
PLAYS, REWARDS = RNG.integers(0, 7, 40), RNG.normal(size=40)
FORGETS = (12, 0.85)
KNOWN = {"output_scale": 2.0, "noise_variance": 0.1}
WARPED = {"warp": "normal_scores", "exploration_scale": 1.0}


def ready(name, **settings):
    small = {"width": 16, "steps": 5, "own_variance": 0.0} if name.startswith("gnn") else {}
    agent = registry.make_agent(name, **small, **settings)
    agent.reset(None, seed=0, graph_set=GRAPHS)
    return agent


def tell(agent, plays, rewards, at_once=1):
    for first in range(0, len(plays), at_once):
        agent.update(None, plays[first : first + at_once], rewards[first : first + at_once])


def expected(kernel, forget, noise, plays, targets, fantasized=()):
    """By one solve with a row for each reward that counts, in order: noise variance n / w, and 1 / w for no reward."""
    ages = np.arange(len(plays))[::-1]
    weights = (ages < forget).astype(float) if isinstance(forget, int) else forget**ages
    weights = np.append(weights, np.ones(len(fantasized)))
    counted, plays = weights > 0, np.append(plays, np.array(fantasized, dtype=int))
    targets = np.append(targets, np.zeros(len(fantasized)))
    return from_scratch(kernel, noise / weights[counted], plays[counted], targets[counted])


def expected_of(agent, plays, rewards, fantasized=()):
    kernel, targets = agent.posterior.kernel.columns(EVERY, EVERY).numpy(), agent.targets
    scaled = (rewards - targets.location) / targets.unit
    return expected(kernel, agent.settings.forget, 0.1 / targets.unit**2, plays, scaled, fantasized)


@pytest.mark.parametrize("name", ["gntk-ts", "lin-ts"])
@pytest.mark.parametrize("forget", FORGETS)
@pytest.mark.parametrize(("count", "at_once"), [(2, 1), (21, 1), (21, 7)])
def test_the_belief_is_the_posterior_with_more_noise_for_earlier_rewards(name, forget, count, at_once):
    agent = ready(name, forget=forget, **KNOWN)
    tell(agent, PLAYS[:count], REWARDS[:count], at_once)
    mean, covariance = expected_of(agent, PLAYS[:count], REWARDS[:count])
    told, root = agent.predict(), agent.belief().joint_root()
    np.testing.assert_allclose(told.mean, agent.targets.location + agent.targets.unit * mean, atol=1e-8)
    np.testing.assert_allclose(told.std, agent.targets.unit * np.sqrt(np.diag(covariance).clip(0)), atol=1e-6)
    np.testing.assert_allclose(root @ root.T, covariance, atol=1e-8)
    assert told.noise_std == pytest.approx(0.1**0.5)


@pytest.mark.parametrize("name", ["gntk-ts", "lin-ts"])
@pytest.mark.parametrize("forget", FORGETS)
def test_fantasized_rewards_make_graphs_surer_and_age_none_that_was_told(name, forget):
    agent = ready(name, forget=forget, **KNOWN)
    tell(agent, PLAYS, REWARDS)
    before, fantasize = agent.belief(), agent.fantasize()
    fantasize(7)
    after = fantasize(2)
    torch.testing.assert_close(after.mean, before.mean, rtol=0, atol=1e-8)
    covariance = expected_of(agent, PLAYS, REWARDS, fantasized=[7, 2])[1]
    np.testing.assert_allclose(after.spread**2, np.diag(covariance).clip(0), atol=1e-8)
    assert len(set(agent.select_batch(None, 4, pending=[1]))) == 4


@pytest.mark.parametrize("forget", FORGETS)
def test_where_graphs_change_rewards_keep_their_age(forget):
    """Rounds show four of the graphs each; the agent knows those that it has played."""
    agent, graphs = ready("gntk-ucb", forget=forget, **KNOWN, standardize=False), tuple(GRAPHS)
    kernel = agent.posterior.kernel.columns(EVERY, EVERY).numpy()
    for t in range(20):
        of_round = [PLAYS[t], (PLAYS[t] + 3) % 8, (PLAYS[t] + 5) % 8, 6]
        agent.update(tuple(graphs[k] for k in of_round), 0, REWARDS[t])
        mean, covariance = expected(kernel, forget, 0.1, PLAYS[: t + 1], REWARDS[: t + 1])
        np.testing.assert_allclose(agent.predict().mean, mean[of_round], atol=1e-8)
        np.testing.assert_allclose(agent.predict().std, np.sqrt(np.diag(covariance)[of_round].clip(0)), atol=1e-6)


def test_a_rule_that_eliminates_graphs_may_not_forget():
    lin_pe = compose("lin-pe", linear, LinearSettings, PhasedElimination)
    for make in (lambda **settings: registry.make_agent("gntk-pe", **settings), lin_pe):
        assert make(forget=None).settings.forget is None
        with pytest.raises(ValueError, match="`forget`"):
            make(forget=0.9)


@pytest.mark.parametrize("name", ["gntk-ucb", "wl-ei", "gnn-ei"])
def test_play_depends_on_the_ranks_of_rewards_alone(name):
    plain, steep = ready(name, warp="normal_scores"), ready(name, warp="normal_scores")
    left = np.ones(len(GRAPHS), np.int8)
    while left.any():
        action = plain.select_action(None, left)
        assert steep.select_action(None, left) == action
        left[action] = 0
        plain.update(None, action, REWARDS[action])
        steep.update(None, action, np.exp(4 * REWARDS[action]) - 100)


@pytest.mark.parametrize("at_once", [1, 5, 12])
def test_the_belief_is_the_posterior_of_the_scores_of_all_rewards_so_far(at_once):
    agent = ready("gntk-ucb", output_scale=2.0, **WARPED)
    plays = np.array([0, 3, 3, 7, 1, 0, 0, 9, 5, 2, 3, 11])
    rewards = np.exp(REWARDS[plays]) + np.random.default_rng(0).normal(size=12)
    tell(agent, plays, rewards, at_once)
    seen = np.unique(plays)
    means = np.array([rewards[plays == graph].mean() for graph in seen])
    np.testing.assert_allclose(agent.history.means[seen], means)
    targets = dict(zip(seen, NormalScores(agent.history.means[seen], 1.0).of(agent.history.means[seen]), strict=True))
    kernel = agent.posterior.kernel.columns(EVERY, EVERY).numpy()
    mean, covariance = from_scratch(kernel, agent.posterior.noise, plays, [targets[graph] for graph in plays])
    np.testing.assert_allclose(agent.belief().mean, mean, atol=1e-8)
    np.testing.assert_allclose(agent.belief().spread, np.sqrt(np.diag(covariance).clip(0)), atol=1e-6)


@pytest.mark.parametrize("name", ["gntk-ucb", "wl-ts", "gnn-ucb"])
def test_predictions_are_moments_of_the_rewards_of_a_normal_belief(name):
    agent = ready(name, **WARPED)
    agent.update(None, np.arange(8), np.exp(4 * REWARDS[:8]))
    targets = NormalScores(agent.history.means[:8], agent.history.location_and_scale()[1])
    belief, told = agent.belief(), agent.predict()
    unit = told.noise_std / targets.unit if name == "gnn-ucb" else 1.0  # a network's variance is in units of noise
    draws = belief.mean.numpy() + unit * belief.spread.numpy() * np.random.default_rng(0).normal(size=(100_000, 12))
    rewards = targets.to_rewards(torch.from_numpy(draws)).numpy()
    np.testing.assert_allclose(told.mean, rewards.mean(0), atol=0.02 * rewards.std())
    np.testing.assert_allclose(told.std, rewards.std(0), rtol=0.05, atol=0.01 * rewards.std())
    np.testing.assert_array_equal(agent.predict_means(), told.mean)


@pytest.mark.parametrize("warp", ["none", "normal_scores"])
def test_draws_of_rewards_have_the_predicted_moments_and_are_joint(warp):
    molecules, index = some_molecules(40), [35, 21, 28, 3]
    agent = registry.make_agent("molecule-ucb", warp=warp)
    agent.reset(None, seed=0, graph_set=molecules)
    agent.update(None, np.arange(20), molecules.targets[:20])
    expected, draws = agent.predict(), agent.draw_rewards(index, 40_000, seed=1)
    np.testing.assert_allclose(draws.mean(0), expected.mean[index], atol=0.02 * expected.std.max())
    np.testing.assert_allclose(draws.std(0), expected.std[index], rtol=0.03)
    np.testing.assert_array_equal(draws[:, :1], agent.draw_rewards(index, 40_000, seed=1)[:, :1])
    joint = agent.posterior.covariance(torch.tensor(index))
    spread = joint.diagonal().sqrt()
    ranks = torch.from_numpy(draws).argsort(0).argsort(0).double().T.corrcoef()  # no warp changes ranks
    np.testing.assert_allclose(ranks, 6 / np.pi * torch.asin(joint / torch.outer(spread, spread) / 2), atol=0.03)
