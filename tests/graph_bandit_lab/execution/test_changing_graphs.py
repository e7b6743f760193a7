"""The laboratory plays on graphs that change from round to round."""

import dataclasses

import pytest

import registry
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid
from graph_bandit_lab.design import derive_seeds
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution import InProcess
from graph_bandit_lab.execution.execute import execute

CHANGING = EnvironmentSettings(num_graphs=5, num_nodes=6, horizon=25, reward_scale="unit", resample_graphs="round")


def planned(*agents, environment=CHANGING):
    return plan([Grid((environment,), tuple(map(AgentSpec.parse, agents)))], derive_seeds(0, 2))


def outcomes(repetitions):
    found = {}
    execute(repetitions, InProcess(), lambda one, outcome: found.update({(one.label, one.seed): outcome.result}))
    return found


def test_agents_learn():
    played = outcomes(planned("gntk-ucb", "random"))
    assert {result.status for result in played.values()} == {"finished"}
    late = {key: result.regret[12:].sum() for key, result in played.items()}
    for seed in {seed for _, seed in late}:
        assert late["gntk-ucb", seed] < 0.3 * late["random", seed]


def test_the_number_of_graphs_may_vary():
    sizes = {"num_graphs": (2, 9), "num_nodes": (3, 7)}
    repetitions = planned("gntk-ucb", "wl-ts", "random", environment=dataclasses.replace(CHANGING, **sizes))
    for result in outcomes(repetitions).values():
        assert result.status == "finished"
        assert result.actions.max() < 9


def test_agents_of_ones_own_are_not_refused(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("my-own", lambda: registry.make_agent("gntk-ucb"))
    assert [repetition.label for repetition in planned("my-own")] == ["my-own"] * 2


def test_agents_that_play_on_one_set_are_refused_before_anything_is_played():
    with pytest.raises(ValueError, match=r'gntk-\*.*resample_graphs="round". Got ucb1, sb3-ppo'):
        planned("ucb1", "gntk-ts", "sb3-ppo")
