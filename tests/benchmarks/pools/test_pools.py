"""The benchmark on pools: scores by brute force, players that keep to the rules, and plays that are kept."""

import csv
import dataclasses
import gzip
import types
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from support.molecules import some_molecules

from agents.contract import Prediction
from benchmarks import parallel
from benchmarks.pools import __main__ as command_line
from benchmarks.pools import campaign
from benchmarks.pools.data import catalogue, sources
from benchmarks.pools.models.acquisitions import greedy
from benchmarks.pools.players import AgentPlayer, ModelPlayer, make_player
from benchmarks.pools.screening import Screen, cumulative_regret, play, share_of_top, simple_regret
from graph_bandit_env import from_smiles
from graph_bandit_lab.execution import InProcess

NAMES = ["forest-greedy", "forest-ts", "forest-ucb", "tanimoto-greedy", "tanimoto-ts", "tanimoto-ucb", "tanimoto-ei"]


@pytest.fixture(scope="module")
def library():
    molecules = some_molecules(120)
    places = np.random.default_rng(0).permutation(len(molecules))
    return [molecules.smiles[k] for k in places], molecules.targets[places]


@pytest.fixture(scope="module")
def molecules(library):
    return from_smiles(library[0][:60], library[1][:60])


@pytest.fixture(scope="module")
def screen(molecules):
    return Screen(molecules, molecules.targets, start=6, batch=4, rounds=3)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.data())
def test_the_share_of_the_top_is_that_of_a_multiset(values, data):
    order = data.draw(st.permutations(range(len(values))))[: data.draw(st.integers(0, len(values)))]
    n = data.draw(st.integers(1, len(values)))
    common = Counter(sorted(values)[-n:]) & Counter(values[k] for k in order)
    assert share_of_top(values, order, n) == common.total() / n


def test_regret_is_against_the_best_of_the_pool():
    values, order = np.array([1.0, 7.0, 3.0, 5.0]), [0, 2, 3, 1]
    best = [max(values[k] for k in order[: t + 1]) for t in range(4)]
    assert simple_regret(values, order).tolist() == [7.0 - value for value in best]
    assert cumulative_regret(values, order, start=1).tolist() == [4.0, 6.0, 6.0]


@pytest.mark.parametrize("n", [0, 4])
def test_the_top_is_some_of_the_pool(n):
    with pytest.raises(ValueError, match=f"Expected `n` from 1 to 3. Got {n}"):
        share_of_top([1.0, 2.0, 3.0], [0], n)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": 0}, "at least 1"),
        ({"rounds": 14}, "at most 60 measurements"),
        ({"values": np.full(60, np.nan)}, "0 are finite"),
    ],
)
def test_a_screen_that_cannot_be_measured_is_refused(molecules, changes, message):
    with pytest.raises(ValueError, match=message):
        Screen(**{"molecules": molecules, "values": molecules.targets, "start": 6, "batch": 4, "rounds": 3, **changes})


@pytest.mark.filterwarnings("ignore:.*does not read edge features:agents.contract.BlindAgentWarning")
@pytest.mark.parametrize("name", [*NAMES, "random", "gnn-ts:width=8,steps=2"])
def test_players_measure_each_molecule_once_and_again_the_same(screen, name):
    order = play(screen, make_player(name), 1).order
    assert len(set(order.tolist())) == len(order) == 6 + 4 * 3
    assert order.tolist() == play(screen, make_player(name), 1).order.tolist()
    other = play(screen, make_player(name), 2).order
    assert set(order[:6].tolist()) != set(other[:6].tolist())


def test_all_players_of_a_seed_start_with_the_same(screen):
    starts = {tuple(play(screen, make_player(name), 3).order[:6].tolist()) for name in ("forest-ts", "random")}
    assert len(starts) == 1


@pytest.mark.parametrize("chosen", [[0, 1, 2], [0, 0, 1, 2], [0, 1, 2, 60], [-1, 0, 1, 2], "measured"])
def test_a_choice_against_the_rules_is_refused(screen, chosen):
    def choose(measured, values, count):
        return measured if chosen == "measured" else chosen

    player = types.SimpleNamespace(begin=lambda molecules, seed: None, choose=choose)
    with pytest.raises(ValueError, match="Expected 4 different molecules that were not measured"):
        play(Screen(screen.molecules, screen.values, start=4, batch=4, rounds=1), player, 1)


def test_a_player_takes_the_best_of_those_that_are_left():
    prediction = Prediction(np.array([5.0, 1.0, 4.0, 2.0, 3.0, 3.0]), np.zeros(6), noise_std=0.0)
    model = types.SimpleNamespace(begin=lambda molecules, seed: None, predict=lambda *_: prediction)
    player, thirds = ModelPlayer(model, greedy), set()
    for seed in range(20):
        player.begin(None, seed)
        first, second, third = player.choose(np.array([0]), np.array([5.0]), 3).tolist()
        thirds.add(third)
        assert (first, {second, third}) == (2, {4, 5})
    assert thirds == {4, 5}  # ties at random


class Recorder:
    """An agent that writes down what it is told, and takes the last that are allowed."""

    settings = None

    def __init__(self):
        self.told = []

    def reset(self, observation, seed=0, graph_set=None):
        self.told, self.graphs = [], graph_set

    def update(self, observation, action, reward):
        self.told += zip(np.asarray(action).tolist(), np.asarray(reward).tolist(), strict=True)

    def select_action(self, observation, action_mask=None):
        return int(np.flatnonzero(action_mask)[-1])


class BatchRecorder(Recorder):
    """A `BatchAgent`, which must not be asked for single actions."""

    state_dict = load_state_dict = predict = lambda self, *arguments: None  # it forecasts nothing

    def select_action(self, observation, action_mask=None):
        pytest.fail("asked for a single action")

    def select_batch(self, observation, count, action_mask=None):
        return np.flatnonzero(action_mask)[-count:][::-1].tolist()


@pytest.mark.parametrize("kind", [Recorder, BatchRecorder])
def test_an_agent_is_told_each_result_once(screen, kind):
    agent = kind()
    for seed in (0, 1):  # the second time as the first
        order = play(screen, AgentPlayer(agent), seed).order
        assert agent.graphs is screen.molecules
        assert agent.told == [(k, screen.values[k]) for k in order[:-4].tolist()]
        left = [k for k in range(59, -1, -1) if k not in order[:6]]
        assert order[6:].tolist() == left[:12]


def test_forecasts_are_those_before_the_results_of_a_round(screen):
    """Each choice is forecast by the prediction behind it, against the best of all earlier rounds."""

    def forecast():
        return Prediction(np.arange(60) / 60, np.full(60, 0.3), noise_std=0.4)

    def choose(measured, values, count):
        return np.setdiff1d(np.arange(60), measured)[:count]

    player = types.SimpleNamespace(begin=lambda molecules, seed: None, choose=choose, forecast=forecast)
    played = play(screen, player, 1)
    assert [forecast.round for forecast in played.forecasts] == [1] * 4 + [2] * 4 + [3] * 4
    assert [forecast.molecule for forecast in played.forecasts] == played.order[6:].tolist()
    for number, molecule, probability, beat in played.forecasts:
        best = screen.values[played.order[: 6 + 4 * (number - 1)]].max()
        assert probability == pytest.approx(norm.sf(best, molecule / 60, 0.5))
        assert beat == (screen.values[molecule] > best)


@pytest.mark.filterwarnings("ignore:.*does not read edge features:agents.contract.BlindAgentWarning")
@pytest.mark.parametrize("name", ["molecule-ts", "gnn-ts:width=8,steps=2"])
def test_an_agent_that_is_asked_for_forecasts_plays_the_same(screen, name, monkeypatch):
    asked = play(screen, make_player(name), 1)
    assert len(asked.forecasts) == 4 * 3
    monkeypatch.setattr(AgentPlayer, "forecast", lambda self: None)
    assert play(screen, make_player(name), 1).order.tolist() == asked.order.tolist()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tanimoto-pi", "`tanimoto-` with greedy, ts, ei or ucb"),
        ("forest-greedy:scale=1", "no settings but `scale` of ucb"),
        ("tanimoto-ucb:scale=-1", "`scale` to be finite and >= 0"),
        ("gnn-tts", "Did you mean `gnn-ts`"),
    ],
)
def test_unknown_players_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        make_player(name)


@pytest.fixture
def pools(library, tmp_path, monkeypatch):
    """A folder with both tables, played in this process."""
    smiles, values = library
    with (tmp_path / "docking_pool.csv.gz").open("wb") as file:
        lines = ["smiles,score", *(f"{text},{-value}" for text, value in zip(smiles, values, strict=True))]
        file.write(gzip.compress("\n".join(lines).encode()))
    with (tmp_path / "photoswitches.csv").open("w", newline="") as file:
        cells = [["SMILES", catalogue.WAVELENGTH], *([s, v] for s, v in zip(smiles[:59], values, strict=False))]
        csv.writer(file).writerows([*cells, ["CCO", ""]])
    monkeypatch.setattr(catalogue, "DRAWN", 110)
    monkeypatch.setattr(parallel, "Processes", lambda count: InProcess())
    return tmp_path


def test_a_command_plays_what_is_missing_and_prints_pairs(pools, capsys, monkeypatch):
    out = pools / "new" / "plays.csv"
    command = ["docking", "--data", str(pools), "--seeds", "2", "--out", str(out), "--markdown", "--players"]
    assert command_line.main([*command, "random"]) == 0
    with out.open("a") as file:
        file.write('"docking, draw 1",tanimoto-gr')  # as if it had been killed there
    assert command_line.main([*command, "random", "tanimoto-greedy"]) == 0
    assert out.read_text().count("\n") == 1 + 2 * 2
    shown = capsys.readouterr().out
    monkeypatch.setattr(campaign, "play_one", lambda *task: 1 / 0)
    assert command_line.main([*command, "random", "tanimoto-greedy"]) == 0
    table = capsys.readouterr().out
    assert shown.endswith(table)
    assert "| less random [95 % interval] | seeds |" in table
    assert command_line.main([*command, "random", "--draw", "2"]) == 1  # which would have to be played


def test_a_replay_plays_many_pools_and_keeps_their_forecasts(pools, library, capsys, monkeypatch):
    (pools / "rbo").mkdir()
    for number, name in enumerate(("QED", "LogP")):
        table = pd.DataFrame({"smiles": library[0], "target": library[1] * (-1) ** number})
        table.to_csv(pools / "rbo" / f"zinc_{name}.csv.gz", index=False)
    monkeypatch.setitem(command_line.PLANS, "zinc", dataclasses.replace(sources.PLANS["zinc"], rounds=2))
    out = pools / "plays.csv"
    command = ["replay", "--plan", "zinc", "--pools", "zinc_QED", "zinc_LogP", "--data", str(pools), "--seeds", "2"]
    command += ["--out", str(out), "--by-pool", "--players"]
    assert command_line.main([*command, "tanimoto-ei"]) == 0
    assert command_line.main([*command, "tanimoto-ei", "random"]) == 0
    shown = capsys.readouterr().out
    assert "2 pools, computed: % of the way, with 95 % intervals over pools" in shown
    assert "By pool, computed: % optimum found, with 95 % intervals over starts" in shown
    assert len(pd.read_csv(out)) == 2 * 2 * 2
    forecasts = pd.read_csv(pools / "plays.forecasts.csv")
    assert len(forecasts) == 2 * 2 * 2 * 5  # pools, seeds, rounds and a batch of five; random play forecasts nothing
    assert set(forecasts["player"]) == {"tanimoto-ei"}
    assert (forecasts["probability"].between(0, 1)).all()
    monkeypatch.setattr(campaign, "play_one", lambda *task: 1 / 0)
    assert command_line.main([*command, "tanimoto-ei", "random"]) == 0  # nothing is played again
    out.rename(pools / "old.csv")
    pd.read_csv(pools / "old.csv").assign(player="molecule-ei").to_csv(out, index=False)
    capsys.readouterr()
    assert command_line.main([*command, "molecule-ei", "--earlier", str(pools / "old.csv")]) == 0
    assert "old/tanimoto-ei  " in capsys.readouterr().out
    (pools / "old.csv").write_text("screen,player\n")
    assert command_line.main([*command, "molecule-ei", "--earlier", str(pools / "old.csv")]) == 1
    assert "old.csv to have the columns screen, player, seed" in capsys.readouterr().err


def test_one_player_that_fails_stops_no_other(pools, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.pools.players.AgentPlayer.choose", lambda *_: [1 / 0])
    command = ["photoswitches", "--data", str(pools), "--seeds", "1", "--rounds", "2", "--workers", "2"]
    out = pools / "plays.csv"
    assert command_line.main([*command, "--out", str(out), "--players", "random", "tanimoto-ei"]) == 1
    shown = capsys.readouterr()
    assert "random, seed 0 failed: ZeroDivisionError" in shown.err
    assert "tanimoto-ei" in shown.out
    assert command_line.main(["docking", "--data", str(pools), "--out", str(out)]) == 1
    assert "to have the columns screen, player, seed, seconds, % of the top 100" in capsys.readouterr().err


def test_both_pools_are_read_as_they_are_measured(pools):
    docking = sources.DockingScores(pools, draw=1).read()
    assert (len(docking.values), docking.start, docking.batch, docking.rounds) == (110, 1, 1, 5)
    photoswitches = sources.Photoswitches(pools, rounds=4)
    screen = photoswitches.read()
    assert (len(screen.values), screen.start, screen.batch, screen.rounds) == (59, 3, 1, 4)
    order = np.argsort(screen.values)[:7]
    mean, last, total = photoswitches.score(screen, order)
    short = screen.values.max() - screen.values[order]
    assert (mean, last) == pytest.approx((short[3:].mean(), short[-1]))
    assert total == pytest.approx(short[3:].sum())
