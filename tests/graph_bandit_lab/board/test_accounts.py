"""Stored actions earn the stored rewards and regret, or the row is named; no agent is needed to find out."""

from dataclasses import replace

import numpy as np
import pytest
from support.entries import little_rules, play, send

import registry
from graph_bandit_lab.board import read_entry
from graph_bandit_lab.board.accounts import find_false_accounts


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    return little_rules(tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="module")
def plays(rules, tmp_path_factory):
    """Repetitions by agent, task and seed."""
    entry = read_entry(send(play(tmp_path_factory.mktemp("sent") / "mine", "random", "lin-ucb")))
    return {(one.label, rules.tasks[one.key.environment_key].name, one.seed): one for one in entry.plays}


@pytest.fixture
def fault_of(rules, plays):
    """Change a repetition, and return what is wrong with it."""

    def find(task="few", label="random", **changes):
        honest = plays[label, task, rules.sweep.seeds[1]]
        arrays = {name: change(getattr(honest, name).copy()) for name, change in changes.items()}
        false = find_false_accounts([*plays.values(), replace(honest, **arrays)], rules)
        assert false.keys() <= {honest.identity}
        return false.get(honest.identity, "")

    return find


def put(index, value):
    def change(array):
        array[index] = value
        return array

    return change


def test_what_was_played_is_in_order(rules, plays):
    assert find_false_accounts([*plays.values()], rules) == {}


def test_no_agent_is_made_but_the_one_that_is_never_asked(rules, plays, monkeypatch):
    made = []
    make = registry.make_agent
    monkeypatch.setattr(registry, "make_agent", lambda name, **settings: made.append(name) or make(name, **settings))
    find_false_accounts([*plays.values()], rules)
    assert set(made) == {"random"}


def test_a_reward_that_the_action_does_not_earn_is_found(fault_of, rules, plays):
    true = plays["random", "few", rules.sweep.seeds[1]].rewards[3]
    said = fault_of(rewards=put(3, true + 0.1))
    assert said == f"rewards {true + 0.1:.4f} in round 4, where its actions earn {true:.4f}"


@pytest.mark.parametrize("task", ["few", "once", "changing"])
def test_regret_that_the_actions_do_not_have_is_found(fault_of, task):
    assert fault_of(task, regret=lambda regret: regret * 0).startswith("regret 0.0000 in round ")


def test_less_regret_in_each_round_is_found_although_each_is_within_rounding(fault_of):
    assert "regret that differ from what its actions earn by 0.00" in fault_of(regret=lambda regret: regret - 0.009)


def test_rounding_is_not_a_fault(fault_of):
    assert fault_of(rewards=lambda rewards: rewards + 1e-4, regret=lambda regret: regret - 1e-4) == ""


def test_nan_is_a_fault(fault_of):
    assert fault_of(rewards=put(0, np.nan)).startswith("rewards nan in round 1")


def test_another_action_is_found(fault_of):
    assert fault_of(actions=lambda actions: (actions + 1) % 5)


@pytest.mark.parametrize("action", [-1, 5, 10**12])
def test_a_graph_that_is_not_there_is_found(fault_of, action):
    assert fault_of(actions=put(2, action)) == f"graph {action} in round 3, which is not on offer there"


def test_a_graph_that_is_used_up_is_found(fault_of, rules, plays):
    first = plays["random", "once", rules.sweep.seeds[1]].actions[0]
    assert fault_of("once", actions=put(5, first)) == f"graph {first} in round 6, which is not on offer there"


def test_random_rounds_play_the_same_graphs_for_every_agent(fault_of, rules, plays):
    actions = plays["lin-ucb", "once", rules.sweep.seeds[1]].actions
    np.testing.assert_array_equal(actions[:3], plays["random", "once", rules.sweep.seeds[1]].actions[:3])
    said = fault_of("once", "lin-ucb", actions=put(1, actions[4]))
    assert said == f"graph {actions[4]} in round 2, in which graph {actions[1]} is played by every agent"


def test_an_episode_that_is_too_long_or_too_short_is_found(fault_of):
    arrays = ("actions", "rewards", "regret")
    longer = dict.fromkeys(arrays, lambda array: np.append(array, array[:1]))
    assert fault_of(**longer) == "13 rounds of an episode of 12"
    assert fault_of(**dict.fromkeys(arrays, lambda array: array[:-1])) == "11 rounds of an episode that goes on"
