"""A log that is replayed to an agent that learns."""

from dataclasses import replace

import numpy as np
import pytest

import registry
from graph_bandit_lab.logged import FixedPolicy, log_episode, replay

SKEWED = [0.4, 0.1, 0.2, 0.1, 0.1, 0.1]


class InTurn:
    """An agent that plays in turn and keeps what it is told."""

    def reset(self, observation, seed=0, graph_set=None):
        self.told, self.asked = [], 0

    def select_action(self, observation, action_mask=None):
        self.asked += 1
        return len(self.told) % len(action_mask)

    def update(self, observation, action, reward):
        self.told.append((action, reward))


def test_what_is_accepted_is_told_in_its_order_and_nothing_else(small_env):
    env, agent = small_env(horizon=2000), InTurn()
    log = log_episode(env, FixedPolicy(SKEWED), floor=0.0)
    replayed = replay(agent, log, env.unwrapped.graph_set)
    assert replayed.actions.tolist() == [k % 6 for k in range(len(replayed.actions))]
    assert (np.diff(replayed.rounds) > 0).all()
    assert agent.told == list(zip(replayed.actions.tolist(), log.rewards[replayed.rounds].tolist(), strict=True))
    assert agent.asked == len(agent.told) + 1  # a choice waits for its round
    assert replayed.value == pytest.approx(np.mean([reward for _, reward in agent.told]))


def test_each_round_is_accepted_with_the_least_probability_whatever_is_chosen(small_env):
    env = small_env(horizon=4000)
    log = log_episode(env, FixedPolicy(SKEWED), floor=0.0)

    class Only(InTurn):
        def __init__(self, graph):
            self.graph = graph

        def select_action(self, observation, action_mask=None):
            return self.graph

    for graph in (0, 1):
        assert len(replay(Only(graph), log, env.unwrapped.graph_set).rounds) == pytest.approx(400, abs=75)


def test_of_a_log_of_an_agent_that_learned_the_floor_is_accepted_also_where_more_was_played(small_env):
    env = small_env(horizon=900)
    log = log_episode(env, registry.make_agent("epsilon-greedy", epsilon=0.5, width=4, steps=1), floor=0.3)
    assert log.probabilities.min() == pytest.approx(0.7 * 0.5 / 6 + 0.05)
    assert len(replay(InTurn(), log, env.unwrapped.graph_set).rounds) == pytest.approx(45, abs=25)


def test_its_interval_is_that_of_the_noise(small_env):
    env = small_env(horizon=4000, noise_std=0.5)
    log = log_episode(env, registry.make_agent("random"), learns=False)
    result = replay(InTurn(), log, env.unwrapped.graph_set)
    assert result.std_error == pytest.approx(0.5 / np.sqrt(len(result.rounds)), rel=0.05)
    low, high = result.interval()
    assert (high - low) / 2 == pytest.approx(1.96 * result.std_error, rel=1e-3)
    assert low < env.unwrapped.mean_rewards[result.actions].mean() < high


def test_where_other_graphs_are_on_offer_the_agent_chooses_again(small_env):
    env = small_env(horizon=400, actions_per_round=3)
    log = log_episode(env, registry.make_agent("random"), learns=False)
    result = replay(registry.make_agent("gaussian-ts"), log, env.unwrapped.graph_set)
    assert log.masks[result.rounds, result.actions].all()
    assert len(result.rounds) == pytest.approx(400 / 3, abs=35)


def test_a_log_that_could_not_play_every_graph_is_refused(small_env):
    env = small_env()
    log = log_episode(env, registry.make_agent("gntk-ucb"), floor=0.0)
    with pytest.raises(ValueError, match="floor"):
        replay(registry.make_agent("random"), log, env.unwrapped.graph_set)
    with pytest.raises(ValueError, match="floor"):
        replay(registry.make_agent("random"), replace(log, learns=False), env.unwrapped.graph_set)
