"""Agents that let earlier rewards count less, or no longer, because mean rewards drift."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.posterior import from_scratch

import registry
from agents.beliefs import PhasedElimination, compose
from agents.process import LinearSettings, linear
from graph_bandit_env import GraphSet

GRAPHS = GraphSet.from_pyg(ragged_graphs((5, 4, 7, 6, 3, 5, 8, 2)))
KNOWN = {"output_scale": 2.0, "noise_variance": 0.1}
RNG = np.random.default_rng(5)
PLAYS, REWARDS = RNG.integers(0, 7, 40), RNG.normal(size=40)
NAMES = ("gntk-ts", "lin-ts")
FORGETS = (12, 0.85)


def ready(name, forget, **settings):
    agent = registry.make_agent(name, forget=forget, **settings)
    agent.reset(None, seed=0, graph_set=GRAPHS)
    return agent


def tell(agent, plays, rewards, at_once=1):
    for first in range(0, len(plays), at_once):
        agent.update(None, plays[first : first + at_once], rewards[first : first + at_once])


def kernel_of(agent):
    """The prior covariance of all graphs, in units of the targets."""
    every = torch.arange(len(GRAPHS))
    return agent.posterior.kernel.columns(every, every).numpy()


def weights_of(forget, count):
    ages = np.arange(count)[::-1]
    return (ages < forget).astype(float) if isinstance(forget, int) else forget**ages


def expected(agent, plays, rewards, imagined=()):
    """By one solve with a row for each reward that counts, in order: noise variance n / w, and 1 / w for no reward."""
    weights = np.append(weights_of(agent.settings.forget, len(plays)), np.ones(len(imagined)))
    told = weights > 0
    noise, targets = (
        0.1 / agent.targets.unit**2,
        (np.append(rewards, np.zeros(len(imagined))) - agent.targets.location) / agent.targets.unit,
    )
    actions = np.append(plays, np.array(imagined, dtype=int))
    return from_scratch(kernel_of(agent), noise / weights[told], actions[told], targets[told])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("forget", FORGETS)
@pytest.mark.parametrize("at_once", [1, 7])
def test_the_belief_is_the_posterior_with_more_noise_for_earlier_rewards(name, forget, at_once):
    agent = ready(name, forget, **KNOWN)
    for count in (2, 21):
        agent.reset(None, seed=0, graph_set=GRAPHS)
        tell(agent, PLAYS[:count], REWARDS[:count], at_once)
        mean, covariance = expected(agent, PLAYS[:count], REWARDS[:count])
        told = agent.predict()
        np.testing.assert_allclose(told.mean, agent.targets.location + agent.targets.unit * mean, atol=1e-8)
        np.testing.assert_allclose(told.std, agent.targets.unit * np.sqrt(np.diag(covariance).clip(0)), atol=1e-6)
        np.testing.assert_allclose(agent.belief().joint_root() @ agent.belief().joint_root().T, covariance, atol=1e-8)
        assert told.noise_std == pytest.approx(0.1**0.5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("forget", FORGETS)
def test_imagined_rewards_make_graphs_surer_and_age_none_that_was_told(name, forget):
    agent = ready(name, forget, **KNOWN)
    tell(agent, PLAYS, REWARDS)
    before, imagine = agent.belief(), agent.imagine()
    imagine(7)
    after = imagine(2)
    torch.testing.assert_close(after.mean, before.mean, rtol=0, atol=1e-8)
    covariance = expected(agent, PLAYS, REWARDS, imagined=[7, 2])[1]
    np.testing.assert_allclose(after.spread**2, np.diag(covariance).clip(0), atol=1e-8)
    assert len(set(agent.select_batch(None, 4, pending=[1]))) == 4


@pytest.mark.parametrize("forget", FORGETS)
def test_where_graphs_change_rewards_keep_their_age(forget):
    """Rounds show four of the graphs each; the agent knows those that it has played."""
    agent = registry.make_agent("gntk-ucb", forget=forget, **KNOWN, standardize=False)
    agent.reset(tuple(GRAPHS), seed=0)
    kernel, graphs = kernel_of(agent), tuple(GRAPHS)
    for t in range(20):
        of_round = [PLAYS[t], (PLAYS[t] + 3) % 8, (PLAYS[t] + 5) % 8, 6]
        observation = tuple(graphs[k] for k in of_round)
        agent.update(observation, 0, REWARDS[t])
        weights = weights_of(forget, t + 1)
        told = weights > 0
        mean, covariance = from_scratch(kernel, 0.1 / weights[told], PLAYS[: t + 1][told], REWARDS[: t + 1][told])
        np.testing.assert_allclose(agent.predict().mean, mean[of_round], atol=1e-8)
        np.testing.assert_allclose(agent.predict().std, np.sqrt(np.diag(covariance)[of_round].clip(0)), atol=1e-6)


def test_a_rule_that_eliminates_graphs_may_not_forget():
    lin_pe = compose("lin-pe", linear, LinearSettings, PhasedElimination)
    for make in (lambda **settings: registry.make_agent("gntk-pe", **settings), lin_pe):
        assert make(forget=None).settings.forget is None
        with pytest.raises(ValueError, match="`forget`"):
            make(forget=0.9)
