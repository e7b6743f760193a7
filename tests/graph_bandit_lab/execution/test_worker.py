"""The time of a repetition is that of its play; what a process does once is not in it, and changes no play."""

import time

import numpy as np
import pytest

import registry
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution import worker
from graph_bandit_lab.execution.worker import play

SECONDS = 0.3  # what the first round of a slow starter takes


class SlowStarter:
    """Plays at random; the first update in a process takes long, as one that compiles does."""

    compiled = False
    resets = 0

    def __init__(self):
        agent = registry.make_agent("random")
        for name in ("select_action", "state_dict", "load_state_dict", "settings"):
            setattr(self, name, getattr(agent, name))
        self._reset, self._update = agent.reset, agent.update

    def reset(self, *arguments, **keywords):
        SlowStarter.resets += 1
        self._reset(*arguments, **keywords)

    def update(self, *arguments):
        if not SlowStarter.compiled:
            time.sleep(SECONDS)
            SlowStarter.compiled = True
        self._update(*arguments)


class Broken(SlowStarter):
    """Raises in its first update."""

    def update(self, *arguments):
        raise self.error


@pytest.fixture(autouse=True)
def cold(monkeypatch):
    """A process in which nothing has been played."""
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    monkeypatch.setattr(worker, "_warm", set())
    monkeypatch.setattr(SlowStarter, "compiled", False)
    monkeypatch.setattr(SlowStarter, "resets", 0)
    registry.register_agent("slow-starter", SlowStarter)
    registry.register_agent("broken", Broken)


def repetitions(*agents, seeds=(1, 2), **environment):
    settings = EnvironmentSettings(**{"num_graphs": 5, "num_nodes": 6, "horizon": 8, **environment})
    return plan([Grid((settings,), tuple(map(AgentSpec.parse, agents)))], seeds)


def test_the_first_repetition_of_a_process_takes_no_longer_than_the_next():
    first, second = map(play, repetitions("slow-starter"))
    assert SlowStarter.compiled
    for outcome in (first, second):
        assert 0 < outcome.result.seconds <= outcome.wall_time < SECONDS


def test_without_a_warm_up_the_first_repetition_would_take_longer(monkeypatch):
    monkeypatch.setattr(worker, "warm_up", lambda repetition: None)
    first, second = map(play, repetitions("slow-starter"))
    assert first.result.seconds >= SECONDS > second.wall_time


def test_each_kind_of_agent_and_environment_is_warmed_up_once_whatever_sizes_and_rates():
    for repetition in [
        *repetitions("slow-starter"),
        *repetitions("slow-starter", num_graphs=7, num_nodes=9, horizon=5, noise_std=0.5),
    ]:
        play(repetition)
    assert SlowStarter.resets == 1 + 4
    play(*repetitions("slow-starter", seeds=(1,), reward_model="gp_gntk"))
    assert SlowStarter.resets == 2 + 5


AGENTS = ("gnn-ts:width=8,steps=2", "gnn-pe:width=8,preset=paper,epochs=2", "gntk-ts", "epsilon-greedy", "random")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"reward_model": "gp_gntk", "actions_per_round": 2},
        {"reward_model": "gp_representation", "graph_model": "rdpg"},
        {"replacement": False, "horizon": 5},
        {"num_graphs": 2, "num_nodes": 1, "common_noise": True},
    ],
)
def test_a_warm_up_changes_no_bit_of_any_play(environment, monkeypatch):
    some = repetitions(*AGENTS, seeds=(3,), **environment)
    warm = [play(repetition) for repetition in some]
    assert len(worker._warm) == len(AGENTS)
    monkeypatch.setattr(worker, "warm_up", lambda repetition: None)
    for outcome, repetition in zip(warm, some, strict=True):
        cold = play(repetition)
        assert cold.result.status == outcome.result.status == "finished", cold.error
        for name in ("actions", "rewards", "regret"):
            assert np.array_equal(getattr(cold.result, name), getattr(outcome.result, name))


def test_what_a_warm_up_raises_is_reported_where_the_agent_plays(monkeypatch, caplog):
    monkeypatch.setattr(Broken, "error", SystemExit("broken"), raising=False)
    (repetition,) = repetitions("broken", seeds=(1,))
    worker.warm_up(repetition)
    assert "SystemExit: broken" in play(repetition).error
    assert not caplog.records


def test_ctrl_c_ends_a_warm_up(monkeypatch):
    monkeypatch.setattr(Broken, "error", KeyboardInterrupt(), raising=False)
    with pytest.raises(KeyboardInterrupt):
        worker.warm_up(*repetitions("broken", seeds=(1,)))
