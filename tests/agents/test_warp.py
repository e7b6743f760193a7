"""Agents that learn from normal scores, because a few rewards are far from the others."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.molecules import some_molecules
from support.posterior import from_scratch

import registry
from agents.beliefs.rewards import NormalScores
from graph_bandit_env import GraphSet

MOLECULES = some_molecules(12)
GRAPHS = GraphSet.from_pyg(ragged_graphs((5, 4, 7, 6, 3, 5, 8, 2, 6, 4, 9, 5)))
REWARDS = np.random.default_rng(5).normal(size=len(GRAPHS))
SMALL = {"width": 16, "steps": 5, "own_variance": 0.0}
KNOWN = {"output_scale": 2.0}
NAMES = ("gntk-ucb", "wl-ei", "gnn-ei")


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
