"""Columns of numbers by a network: what each may have seen."""

import numpy as np
import pytest
from support.molecules import some_molecules

from benchmarks.pools.models import networks
from benchmarks.pools.players import make_forecaster, make_player
from benchmarks.pools.screening import Screen, play

MEASURED = np.arange(20)


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    monkeypatch.setattr(networks, "STEPS", 8)
    monkeypatch.setattr(networks, "PASSES", 1)


@pytest.fixture(scope="module")
def molecules():
    return some_molecules(40)


def test_no_network_has_seen_the_result_of_a_molecule_that_it_describes(molecules):
    values = molecules.targets[:20].copy()
    before = networks.cross_fitted(molecules, MEASURED, values, 0)[:, 0]
    values[7] += 3.0
    changed = networks.cross_fitted(molecules, MEASURED, values, 0)[:, 0] != before
    folds = np.random.default_rng(0).permutation(20) % networks.FOLDS
    assert not changed[MEASURED][folds == folds[7]].any()
    assert changed[20:].all()
    assert changed[MEASURED][folds != folds[7]].all()


def test_an_embedding_of_the_pool_depends_on_no_result(molecules):
    one = networks.pretrained(molecules, MEASURED, molecules.targets[:20], 0)
    assert one.shape == (40, 56)
    assert len(np.unique(one, axis=0)) == len(np.unique(networks.atom_pair_bits(molecules.smiles), axis=0))
    assert np.array_equal(networks.pretrained(molecules, MEASURED, -molecules.targets[:20], 0), one)
    assert not np.array_equal(networks.pretrained(molecules, MEASURED, molecules.targets[:20], 1), one)


@pytest.mark.parametrize("name", ["pretrained-ucb", "crossfitted-ei"])
def test_the_agent_is_given_the_columns_and_all_results(molecules, name):
    screen = Screen(molecules, molecules.targets, start=6, batch=3, rounds=2)
    played = play(screen, make_player(name), 1)
    assert len(set(played.order.tolist())) == 12
    assert play(screen, make_player(name), 1).order.tolist() == played.order.tolist()
    assert len(played.forecasts) == 6
    forecaster = make_forecaster(name)
    forecaster.begin(molecules, 0)
    forecaster.predict(MEASURED, molecules.targets[:20])
    assert "own columns" in forecaster._agent.shares()
    assert len(forecaster._agent.history) == 20
