"""Kinds of graphs are drawn by their seed, with mean rewards of their own."""

import numpy as np
import pytest

from graph_bandit_env.files import digest, read_pool
from graph_bandit_env.pools.kinds import KINDS

EQUAL = {"constant", "duplicates"}  # the rewards of the latter are a reward model's
NEEDLES = {"one optimal": 0.0, "outlier": 1.0}  # mean reward of the best graph, and the largest of all others


@pytest.mark.parametrize("name", [*KINDS, "reactions"])
def test_a_seed_draws_graphs_and_means_again_and_another_one_draws_others(name):
    first, again, other = (read_pool(name, num_graphs=24, seed=seed) for seed in (3, 3, 4))
    assert digest(first) == digest(again) != digest(other)
    assert (len(first), len(read_pool(name, num_graphs=1))) == (24, 1)
    assert np.isfinite(first.targets).all()
    assert (np.ptp(first.targets) > 0) == (name not in EQUAL)
    assert first.directed == (name == "directed acyclic")
    assert not read_pool(name, directed=False).directed


def test_duplicates_are_three_of_each():
    nodes = [graph.nodes.tobytes() for graph in read_pool("duplicates", num_graphs=8)]
    assert [nodes.index(each) for each in nodes] == [0, 0, 0, 3, 3, 3, 6, 6]


@pytest.mark.parametrize("name", NEEDLES)
def test_one_graph_is_far_better_than_all_others(name):
    *others, best = np.sort(read_pool(name, num_graphs=50, seed=1).targets)
    assert best == 3
    assert max(others) <= NEEDLES[name]
