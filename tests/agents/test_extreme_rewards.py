"""Rewards that cannot be standardised in float64 are refused; all others are learnt from without a NaN."""

import numpy as np
import pytest
from support.graphs import ragged_graphs

import registry
from agents import LARGEST_REWARD
from agents.contract import BatchAgent
from graph_bandit_env import GraphSet
from graph_bandit_lab.design import AgentSpec

LABELS = (
    "gnn-ts:width=8,steps=2",
    "gntk-ei:warp=normal_scores",
    "lin-ts:forget=0.5",
    "wl-ucb",
    "gp-ucb",
    "ucb1",
    "exp3",
)


def ready(label):
    spec = AgentSpec.parse(label)
    agent = registry.make_agent(spec.name, **spec.settings)
    agent.reset(None, seed=0, graph_set=GraphSet.from_pyg(ragged_graphs()))
    return agent


@pytest.mark.parametrize("reward", [1.1 * LARGEST_REWARD, 10**400])
@pytest.mark.parametrize("name", ["gntk-ts"])
def test_rewards_whose_squares_overflow_are_refused_and_change_nothing(name, reward):
    agent, twin = ready(name), ready(name)
    for player in (agent, twin):
        player.update(None, [0, 1], [0.5, 1.0])
    with pytest.raises(ValueError, match="rewards"):
        agent.update(None, [2, 3], [0.0, reward])
    assert agent.select_action(None) == twin.select_action(None)


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize(
    "rewards",
    [
        [LARGEST_REWARD, -LARGEST_REWARD, LARGEST_REWARD, LARGEST_REWARD],
        [LARGEST_REWARD, LARGEST_REWARD * (1 - 1e-15), LARGEST_REWARD * (1 - 1e-13), LARGEST_REWARD],
        [1e-200, 3e-200, -1e-200, 1e-200],
    ],
    ids=["largest", "nearly equal", "tiny"],
)
def test_learns_from_extreme_rewards_without_a_nan(name, rewards):
    agent = ready(name)
    for _ in range(1):
        for action, reward in zip((0, 1, 0, 2), rewards, strict=True):
            agent.update(None, action, reward)
            assert agent.select_action(None) in range(4)
        if isinstance(agent, BatchAgent):
            prediction = agent.predict()
            assert np.isfinite([*prediction.mean, *prediction.std, prediction.noise_std]).all()
