"""Which molecule next: scores by brute force, models by their definitions, and players that keep to the rules."""

import types
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem, rdBase
from rdkit.Chem import rdMolDescriptors
from rdkit.DataStructs import ConvertToNumpyArray
from sklearn.ensemble import RandomForestRegressor

from benchmarks.pools.acquisitions import UpperConfidenceBound, expected_improvement, greedy, thompson_sampling
from benchmarks.pools.forest import Forest, atom_pair_bits
from benchmarks.pools.minmax import MinMax, atom_pair_counts
from benchmarks.pools.ours import AgentPlayer
from benchmarks.pools.players import ModelPlayer, make_player
from benchmarks.pools.screening import Screen, cumulative_regret, play, share_of_top, simple_regret
from benchmarks.pools.tanimoto import TanimotoProcess
from graph_bandit_env import enumerate_library
from graph_bandit_env.pools.molecule_set import from_smiles

NAMES = ["forest-greedy", "forest-ts", "forest-ucb", "tanimoto-greedy", "tanimoto-ts", "tanimoto-ucb", "tanimoto-ei"]


@pytest.fixture(scope="module")
def library():
    whole = enumerate_library("logp")
    places = np.random.default_rng(0).permutation(len(whole))[:120]
    return [whole.smiles[k] for k in places], whole.targets[places]


@pytest.fixture(scope="module")
def molecules(library):
    return from_smiles([*library[0][:59], "C"], [*library[1][:59], 0.5])  # methane has no pairs of atoms


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
    assert simple_regret(values, order).tolist() == [7.0 - one for one in best]
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


@pytest.mark.parametrize("name", [*NAMES, "random", "gnn-ts:width=8,steps=2"])
def test_players_measure_each_molecule_once_and_again_the_same(screen, name):
    order = play(screen, make_player(name), 1)
    assert len(set(order.tolist())) == len(order) == 6 + 4 * 3
    assert order.tolist() == play(screen, make_player(name), 1).tolist()
    other = play(screen, make_player(name), 2)
    assert set(order[:6].tolist()) != set(other[:6].tolist())


def test_all_players_of_a_seed_start_with_the_same(screen):
    starts = {tuple(play(screen, make_player(name), 3)[:6].tolist()) for name in ("forest-ts", "random")}
    assert len(starts) == 1


@pytest.mark.parametrize("chosen", [[0, 1, 2], [0, 0, 1, 2], [0, 1, 2, 60], [-1, 0, 1, 2], "measured"])
def test_a_choice_against_the_rules_is_refused(screen, chosen):
    def choose(measured, values, count):
        return measured if chosen == "measured" else chosen

    player = types.SimpleNamespace(begin=lambda molecules, seed: None, choose=choose)
    with pytest.raises(ValueError, match="Expected 4 different molecules that were not measured"):
        play(Screen(screen.molecules, screen.values, start=4, batch=4, rounds=1), player, 1)


def test_bits_are_those_of_molpal(molecules):
    """By the call that MolPAL makes."""
    for smiles, row in zip(molecules.smiles[:20], atom_pair_bits(molecules.smiles[:20]), strict=True):
        expected = np.zeros(2048)
        with rdBase.BlockLogs():  # it is deprecated
            found = rdMolDescriptors.GetHashedAtomPairFingerprintAsBitVect(
                Chem.MolFromSmiles(smiles), minLength=1, maxLength=3, nBits=2048
            )
        ConvertToNumpyArray(found, expected)
        assert np.array_equal(row, expected)


def test_a_forest_is_known_by_its_trees(molecules):
    measured = np.arange(30)
    model, seed = Forest(), 5
    model.begin(molecules, seed)
    mean, std = model.predict(measured, molecules.targets[measured])
    bits = atom_pair_bits(molecules.smiles)
    forest = RandomForestRegressor(max_depth=8, random_state=int(np.random.default_rng(seed).integers(2**31)))
    forest.fit(bits[measured], molecules.targets[measured])
    np.testing.assert_allclose(mean, forest.predict(bits))
    squares = np.mean([tree.predict(bits) ** 2 for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(std**2, squares - mean**2, atol=1e-9)


def test_every_pair_of_atoms_is_counted(molecules):
    atoms = molecules.num_nodes
    assert atom_pair_counts(molecules.smiles).sum(axis=1).tolist() == (atoms * (atoms - 1) // 2).tolist()


def test_similarity_is_minima_by_maxima(molecules):
    counts = atom_pair_counts(molecules.smiles)
    dense = counts.toarray()
    smaller = np.minimum(dense[:, None], dense[None]).sum(axis=-1)
    larger = np.maximum(dense[:, None], dense[None]).sum(axis=-1)
    expected = np.where(larger > 0, smaller / np.maximum(larger, 1), 1.0)
    some, kept = np.array([3, 59, 7]), np.array([7, 59, 0, 11])
    np.testing.assert_allclose(MinMax(counts).between(some, kept), expected[np.ix_(some, kept)])


def log_likelihood(kernel, noise, values):
    covariance = kernel + noise * np.eye(len(values))
    return -values @ np.linalg.solve(covariance, values) - np.linalg.slogdet(covariance)[1]


def test_the_process_is_the_closed_form_at_its_best_hyperparameters(molecules, monkeypatch):
    monkeypatch.setattr("benchmarks.pools.tanimoto.CHUNK", 7)
    everything, measured = np.arange(60), np.random.default_rng(0).permutation(60)[:40]
    noise = np.random.default_rng(1).normal(0, 1.5, 40)  # so that the best noise is none of its bounds
    values = 100 + 5 * (molecules.targets[measured] + noise)
    model = TanimotoProcess()
    model.begin(molecules, seed=0)
    mean, std = model.predict(measured, values)

    standardised = (values - values.mean()) / values.std()
    fitted = model.fit(measured, standardised).kernel_
    scale, level = fitted.k1.k1.constant_value, fitted.k2.noise_level
    similarity = MinMax(atom_pair_counts(molecules.smiles)).between(everything, everything)
    between, within = scale * similarity[:, measured], scale * similarity[np.ix_(measured, measured)]
    inverse = np.linalg.inv(within + level * np.eye(40))
    np.testing.assert_allclose(mean, values.mean() + values.std() * between @ inverse @ standardised, rtol=1e-5)
    variance = scale - np.einsum("ij,jk,ik->i", between, inverse, between)
    np.testing.assert_allclose(std, values.std() * np.sqrt(variance), rtol=1e-4)

    best = log_likelihood(within, level, standardised)
    for factor in (0.8, 1.25):
        assert log_likelihood(factor * within, level, standardised) < best
        assert log_likelihood(within, factor * level, standardised) < best


def test_acquisitions_are_what_they_are_called():
    mean, std = np.array([0.0, 1.0, 2.5, -1.0]), np.array([1.0, 0.5, 0.2, 2.0])
    generator = np.random.default_rng(0)
    assert greedy(mean, std, 1.2, generator).tolist() == mean.tolist()
    assert UpperConfidenceBound(2.0)(mean, std, 1.2, generator).tolist() == [2.0, 2.0, 2.9, 3.0]
    draws = np.array([thompson_sampling(mean, std, 1.2, generator) for _ in range(40_000)])
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), np.diag(std**2), atol=0.1)
    gains = np.maximum(draws - 1.2, 0.0).mean(axis=0)
    np.testing.assert_allclose(expected_improvement(mean, std, 1.2, generator), gains, atol=0.02)
    assert expected_improvement(np.array([3.0, 1.0]), np.zeros(2), 1.2, generator).tolist() == [1.8, 0.0]


def test_a_player_takes_the_best_of_those_that_are_left():
    mean = np.array([5.0, 1.0, 4.0, 2.0, 3.0, 3.0])
    model = types.SimpleNamespace(begin=lambda molecules, seed: None, predict=lambda *_: (mean, np.zeros(6)))
    player, thirds = ModelPlayer(model, greedy), set()
    for seed in range(20):
        player.begin(None, seed)
        first, second, third = player.choose(np.array([0]), np.array([5.0]), 3).tolist()
        thirds.add(third)
        assert (first, {second, third}) == (2, {4, 5})
    assert thirds == {4, 5}  # ties at random


class Recorder:
    """An agent that writes down what it is told, and takes the last that are allowed."""

    def __init__(self):
        self.told = []

    def reset(self, observation, seed=0, graph_set=None):
        self.told, self.graphs = [], graph_set

    def update(self, observation, action, reward):
        self.told += zip(np.asarray(action).tolist(), np.asarray(reward).tolist(), strict=True)

    def select_action(self, observation, action_mask=None):
        return int(np.flatnonzero(action_mask)[-1])


class BatchRecorder(Recorder):
    select_action = None

    def select_batch(self, observation, count, action_mask=None):
        return np.flatnonzero(action_mask)[-count:][::-1].tolist()


@pytest.mark.parametrize("kind", [Recorder, BatchRecorder])
def test_an_agent_is_told_each_result_once(screen, kind):
    agent = kind()
    for seed in (0, 1):  # the second time as the first
        order = play(screen, AgentPlayer(agent), seed)
        assert agent.graphs is screen.molecules
        assert agent.told == [(k, screen.values[k]) for k in order[:-4].tolist()]
        left = [k for k in range(59, -1, -1) if k not in order[:6]]
        assert order[6:].tolist() == left[:12]


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
