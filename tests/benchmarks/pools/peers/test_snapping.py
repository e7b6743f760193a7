"""Pools played by optimisers of numbers."""

import numpy as np
import pytest
from support.molecules import some_molecules

from benchmarks.pools.peers import make_peer
from benchmarks.pools.peers.snapping import COMPONENTS, SnappingPlayer, place
from benchmarks.pools.screening import Plan, play
from graph_bandit_env import GraphPool

POOL = some_molecules(60)


class Fixed:
    """Propose the same point each time, and keep what it was told."""

    def begin(self, dimensions, seed):
        self.told = []

    def tell(self, point, value):
        self.told.append((point, value))

    def propose(self, count):
        return np.full((count, COMPONENTS), 0.5)


def test_molecules_are_points_between_0_and_1_that_differ():
    points = place(POOL.smiles)
    assert points.shape == (60, COMPONENTS)
    assert points.min() == 0
    assert points.max() == 1
    assert len(np.unique(points.round(9), axis=0)) == 60


def test_the_nearest_molecules_are_measured_each_once():
    proposer = Fixed()
    player, points = SnappingPlayer(proposer), place(POOL.smiles)
    player.begin(POOL, 0)
    chosen = player.choose(np.array([3, 8]), np.array([0.1, 0.2]), 5)
    near = [k for k in np.argsort(((points - 0.5) ** 2).sum(1)) if k not in (3, 8)]
    assert sorted(chosen) == sorted(near[:5])
    player.choose(np.array([3, 8, *chosen]), np.arange(7.0), 5)
    assert [value for _, value in proposer.told] == [0.1, 0.2, 2.0, 3.0, 4.0, 5.0, 6.0]
    for index, (point, _) in zip((3, 8, *chosen), proposer.told, strict=True):
        assert (point == points[index]).all()


def test_graphs_that_are_no_molecules_are_refused():
    pool = GraphPool([np.ones((1, 1))], [np.empty((0, 2), np.int64)])
    with pytest.raises(ValueError, match="Expected molecules"):
        SnappingPlayer(Fixed()).begin(pool, 0)


def test_the_parzen_estimator_plays_a_pool_and_a_seed_repeats_it():
    orders = [play(POOL, Plan(10, 5, 3), make_peer("tpe"), seed) for seed in (0, 0, 1)]
    assert len(set(orders[0])) == 25
    assert (orders[0] == orders[1]).all()
    assert (orders[0] != orders[2]).any()
