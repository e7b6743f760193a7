"""The laboratory plays on graphs that change from round to round."""

import dataclasses

import numpy as np
import pytest

import registry
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Processes
from graph_bandit_lab.design import derive_seeds
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution import InProcess
from graph_bandit_lab.execution.execute import execute

CHANGING = EnvironmentSettings(num_graphs=5, num_nodes=6, horizon=25, reward_scale="unit", resample_graphs="round")


def planned(*agents, environment=CHANGING):
    return plan([Grid((environment,), tuple(map(AgentSpec.parse, agents)))], derive_seeds(0, 2))


def outcomes(workers, repetitions):
    found = {}
    execute(repetitions, workers, lambda one, outcome: found.update({(one.label, one.seed): outcome.result}))
    return found


def test_repetitions_are_the_same_in_every_kind_of_worker_and_agents_learn():
    repetitions = planned("gntk-ucb", "gnn-ucb:width=16,steps=5", "random")
    here, there = outcomes(InProcess(), repetitions), outcomes(Processes(2), repetitions)
    assert here.keys() == there.keys()
    for key, result in here.items():
        assert result.status == "finished"
        np.testing.assert_array_equal(result.actions, there[key].actions)
        np.testing.assert_array_equal(result.regret, there[key].regret)
    late = {key: result.regret[12:].sum() for key, result in here.items()}
    for seed in {seed for _, seed in late}:
        assert late["gntk-ucb", seed] < 0.3 * late["random", seed]


def test_the_number_of_graphs_may_vary():
    sizes = {"num_graphs": (2, 9), "num_nodes": (3, 7)}
    repetitions = planned("gntk-ucb", "wl-ts", "random", environment=dataclasses.replace(CHANGING, **sizes))
    for result in outcomes(InProcess(), repetitions).values():
        assert result.status == "finished"
        assert result.actions.max() < 9


def test_agents_of_ones_own_are_not_refused(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("my-own", lambda: registry.make_agent("gntk-ucb"))
    assert [repetition.label for repetition in planned("my-own")] == ["my-own"] * 2


def test_agents_that_play_on_one_set_are_refused_before_anything_is_played():
    with pytest.raises(ValueError, match=r'gntk-\*.*resample_graphs="round". Got ucb1, sb3-ppo'):
        planned("ucb1", "gntk-ts", "sb3-ppo")
