"""`on_round` is given what the result says of each round, when it has been played."""

import dataclasses

import numpy as np
import pytest

import registry
from graph_bandit_lab import run_bandit


class Diverging:
    """An agent that plays graph 2, and raises as a diverged fit does: in a choice, or in an update."""

    def __init__(self, choices, updates):
        self.choices, self.updates = choices, updates

    def reset(self, observation, seed=0, graph_set=None):
        pass

    def select_action(self, observation, action_mask=None):
        self.choices -= 1
        if self.choices < 0:
            raise FloatingPointError
        return 2

    def update(self, observation, action, reward):
        self.updates -= 1
        if self.updates < 0:
            raise FloatingPointError


def play(env, agent=None, seed=5, **settings):
    records = []
    return run_bandit(env, agent or registry.make_agent("random"), seed, on_round=records.append, **settings), records


def test_records_add_up_to_the_result(small_env):
    env = small_env()
    result, records = play(env)
    rows = [dataclasses.asdict(record) for record in records]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    assert columns["round"] == list(range(1, 31))
    assert columns["seed"] == [5] * 30
    assert columns["action"] == result.actions.tolist()
    assert columns["reward"] == result.rewards.tolist()
    assert columns["regret"] == result.regret.tolist()
    assert columns["mean_reward"] == env.unwrapped.mean_rewards[result.actions].tolist()
    assert columns["best_found"] == result.best_found.tolist()
    np.testing.assert_allclose(columns["cumulative_regret"], result.cumulative_regret, rtol=1e-12)


def test_records_hold_python_numbers_and_cannot_be_changed(small_env):
    agent = registry.make_agent("random")
    choose = agent.select_action
    agent.select_action = lambda *shown: np.int64(choose(*shown))
    _, (record, *_) = play(small_env(), agent)
    assert {type(value) for value in dataclasses.asdict(record).values()} == {int, float}
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.reward = 1.0


@pytest.mark.parametrize(("choices", "updates"), [(3, 9), (9, 2)])  # before the fourth round, and after the third
def test_a_diverged_agent_leaves_a_record_of_each_round_that_was_played(small_env, choices, updates):
    result, records = play(small_env(), Diverging(choices, updates))
    assert result.status == "diverged"
    assert len(records) == len(result.actions) == 3


def test_nothing_is_best_where_the_graphs_change(small_env):
    result, records = play(small_env(resample_graphs="round"))
    assert result.best_found is None
    assert {record.best_found for record in records} == {None}
    assert None not in {record.mean_reward for record in records}


def test_a_callback_changes_no_play(small_env):
    with_callback, _ = play(small_env())
    without = run_bandit(small_env(), registry.make_agent("random"), 5)
    assert np.array_equal(with_callback.rewards, without.rewards)
