"""Players keep to the rules, are told each result once, and know of censored results only what they should."""

import types

import numpy as np
import pytest
from support.molecules import some_molecules

from agents.contract import Prediction
from benchmarks.pools.players import (
    CENSORINGS,
    SCORES,
    AgentPlayer,
    ModelPlayer,
    expected_improvement,
    make_forecaster,
    make_player,
    needs_molecules,
)
from benchmarks.pools.screening import Plan, play

MOLECULES = some_molecules(60)
VALUES = np.asarray(MOLECULES.targets)
PLAN = Plan(start=6, batch=4, rounds=3)
NAMES = ["forest-greedy", "forest-ucb", "tanimoto-greedy", "tanimoto-ucb", "tanimoto-ei"]


@pytest.mark.filterwarnings("ignore:.*does not read edge features:agents.contract.BlindAgentWarning")
@pytest.mark.parametrize("name", [*NAMES, "random", "gnn-ts:width=8,steps=2"])
def test_players_measure_each_molecule_once_and_again_the_same(name):
    order = play(MOLECULES, PLAN, make_player(name), 1)
    assert len(set(order.tolist())) == len(order) == 6 + 4 * 3
    assert order.tolist() == play(MOLECULES, PLAN, make_player(name), 1).tolist()
    other = play(MOLECULES, PLAN, make_player(name), 2)
    assert set(order[:6].tolist()) != set(other[:6].tolist())


def test_all_players_of_a_seed_start_with_the_same():
    starts = {tuple(play(MOLECULES, PLAN, make_player(name), 3)[:6].tolist()) for name in ("forest-greedy", "random")}
    assert len(starts) == 1


def test_a_player_takes_the_best_of_those_that_are_left():
    prediction = Prediction(np.array([5.0, 1.0, 4.0, 2.0, 3.0, 3.0]), np.zeros(6), noise_std=0.0)
    model = types.SimpleNamespace(begin=lambda graphs, seed: None, predict=lambda *_: prediction)
    player, thirds = ModelPlayer(model, SCORES["greedy"]), set()
    for seed in range(20):
        player.begin(None, seed)
        first, second, third = player.choose(np.array([0]), np.array([5.0]), 3).tolist()
        thirds.add(third)
        assert (first, {second, third}) == (2, {4, 5})
    assert thirds == {4, 5}  # ties at random


def test_scores_are_what_they_are_called():
    mean, std = np.array([0.0, 1.0, 2.5, -1.0]), np.array([1.0, 0.5, 0.2, 2.0])
    assert SCORES["greedy"](mean, std, 1.2).tolist() == mean.tolist()
    assert SCORES["ucb"](mean, std, 1.2).tolist() == [0.5, 1.25, 2.6, 0.0]
    gains = np.maximum(np.random.default_rng(0).normal(mean, std, (40_000, 4)) - 1.2, 0.0).mean(axis=0)
    np.testing.assert_allclose(SCORES["ei"](mean, std, 1.2), gains, atol=0.02)
    assert expected_improvement(np.array([3.0, 1.0]), np.zeros(2), 1.2).tolist() == [1.8, 0.0]


class Recorder:
    """An agent that writes down what it is told, and takes the last that are allowed."""

    settings = None

    def reset(self, observation, seed=0, graph_set=None):
        self.told, self.graphs = [], graph_set

    def update(self, observation, action, reward):
        self.told += zip(np.asarray(action).tolist(), np.asarray(reward).tolist(), strict=True)

    def select_action(self, observation, action_mask=None):
        return int(np.flatnonzero(action_mask)[-1])


class BatchRecorder(Recorder):
    """A `BatchAgent`, which must not be asked for single actions."""

    state_dict = load_state_dict = predict = lambda self, *arguments: None

    def select_action(self, observation, action_mask=None):
        pytest.fail("asked for a single action")

    def select_batch(self, observation, count, action_mask=None):
        return np.flatnonzero(action_mask)[-count:][::-1].tolist()


@pytest.mark.parametrize("kind", [Recorder, BatchRecorder])
def test_an_agent_is_told_each_result_once(kind):
    agent = kind()
    for seed in (0, 1):  # the second time as the first
        order = play(MOLECULES, PLAN, AgentPlayer(agent), seed)
        assert agent.graphs is MOLECULES
        assert agent.told == [(k, VALUES[k]) for k in order[:-4].tolist()]
        left = [k for k in range(59, -1, -1) if k not in order[:6]]
        assert order[6:].tolist() == left[:12]


@pytest.mark.parametrize("name", CENSORINGS)
def test_no_result_beyond_the_number_is_told(name, monkeypatch):
    player, told, bounds = make_player(f"{name}-ucb"), {}, {}
    update, update_bounds = player._agent.update, player._agent.update_bounds

    def see(observation, actions, rewards):
        told.update(zip(actions.tolist(), rewards.tolist(), strict=True))
        update(observation, actions, rewards)

    def see_bounds(observation, actions, values, above):
        assert above is name.startswith("strong")
        bounds.update(zip(actions.tolist(), values.tolist(), strict=True))
        update_bounds(observation, actions, values, above)

    monkeypatch.setattr(player._agent, "update", see)
    monkeypatch.setattr(player._agent, "update_bounds", see_bounds)
    order = play(MOLECULES, Plan(start=8, batch=4, rounds=3), player, 1)[:16]
    strong = name.startswith("strong")
    limit = np.quantile(VALUES, 0.7 if strong else 0.3)
    beyond = {k for k in order.tolist() if (VALUES[k] > limit if strong else VALUES[k] < limit)}
    assert beyond
    exact = {k: VALUES[k] for k in order.tolist() if k not in beyond}
    assert bounds == (dict.fromkeys(beyond, limit) if name.endswith("bounds") else {})
    assert told == exact | (dict.fromkeys(beyond, limit) if name.endswith("numbers") else {})


def test_such_players_need_molecules_and_take_settings_of_their_agent():
    assert needs_molecules("weak_bounds-ei")
    assert make_player("strong_dropped-ei:short_list=7")._agent.settings.short_list == 7


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tanimoto-pi", "`tanimoto-` with greedy, ucb, ei"),
        ("forest-greedy:scale=1", "without settings"),
        ("gnn-tts", "Did you mean `gnn-ts`"),
        ("weak_guessed-ucb", "Unknown agent"),
    ],
)
def test_unknown_players_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        make_player(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("random", "Expected forest, tanimoto or an agent that predicts. Got `random`"),
        ("tanimoto-ucb", "Unknown agent"),
    ],
)
def test_a_player_that_predicts_nothing_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        make_forecaster(name)
