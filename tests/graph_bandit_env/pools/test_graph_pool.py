import gymnasium as gym
import numpy as np
import pytest
import torch

from graph_bandit_env import GraphPool, GraphSet

NODES = [np.ones((n, 2)) for n in (1, 2, 3)]
LINKS = [[], [[0, 1], [1, 0]], [[0, 1], [1, 0], [1, 2], [2, 1]]]


def test_a_pool_is_a_graph_set_with_names_and_targets():
    pool = GraphPool(NODES, LINKS, ids=["a", "b", "c"], targets=[1, float("nan"), 3])
    assert isinstance(pool, GraphSet)
    assert pool.num_nodes.tolist() == [1, 2, 3]
    assert pool[2].edge_links.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert pool.ids == ("a", "b", "c")
    assert pool.targets.dtype == np.float64
    assert pool.known.tolist() == [True, False, True]
    assert repr(pool) == "GraphPool(3 graphs, 1 to 3 nodes, 2 features, 2 measured)"


def test_without_names_and_targets_graphs_are_numbered_and_not_measured():
    pool = GraphPool(NODES, LINKS)
    assert pool.ids == ("0", "1", "2")
    assert not pool.known.any()


def test_a_pool_can_leave_its_targets_behind():
    pool = GraphPool(NODES, LINKS, ids=["a", "b", "c"], targets=[1, float("nan"), 3])
    bare = pool.without_targets()
    assert not bare.known.any()
    assert bare.ids == pool.ids
    assert bare[2].edge_links.tolist() == pool[2].edge_links.tolist()
    assert pool.known.tolist() == [True, False, True]


def test_edges_may_have_features():
    pool = GraphPool(NODES[1:2], LINKS[1:2], [[[7.0], [7.0]]], targets=[1.0])
    assert pool[0].edges.tolist() == [[7.0], [7.0]]


@pytest.mark.parametrize("targets", [np.arange(3), torch.arange(3.0), (0, 1, 2)])
def test_targets_cannot_be_changed_from_outside(targets):
    pool = GraphPool(NODES, LINKS, targets=targets)
    if not isinstance(targets, tuple):
        targets[0] = 9
    assert pool.targets.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        pool.targets[0] = 9


def test_it_goes_into_the_environment_as_it_is():
    pool = GraphPool(NODES, LINKS, targets=[1.0, 2.0, 3.0])
    env = gym.make("GraphActionBandit-v0", graphs=pool, reward_model=pool.targets, noise_std=0.0, horizon=3)
    env.reset(seed=0)
    assert env.unwrapped.graph_set is pool
    assert env.step(1)[1] == 2.0


def test_readers_of_a_pool_return_plain_graph_sets(graphs):
    assert type(GraphPool.from_pyg(graphs)) is GraphSet
    assert type(GraphPool.from_symmetric(NODES[:1], [np.zeros((0, 2), np.int32)])) is GraphSet


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"ids": ["a", "b"]}, ValueError, "an identifier for each of 3 graphs. Got 2"),
        ({"ids": ["a", "b", "a"]}, ValueError, "Graphs 0 and 2 are both `a`"),
        ({"ids": ["a", "", "c"]}, ValueError, "not empty. Got an empty one for graph 1"),
        ({"ids": ["a", 7, "c"]}, TypeError, "to be texts. Got 7 for graph 1. Use `str`"),
        ({"ids": "abc"}, TypeError, "a list of texts. Got the text 'abc'"),
        ({"targets": [1.0]}, ValueError, r"`targets` of shape `\(3,\)`. Got `\(1,\)`"),
        ({"targets": np.zeros((3, 1))}, ValueError, r"Got `\(3, 1\)`"),
        ({"targets": [1.0, float("-inf"), 2.0]}, ValueError, "NaN where nothing was measured. Got -inf for graph 1"),
        ({"targets": [1.0, None, 2.0]}, TypeError, "to be numbers, NaN where nothing was measured. Got object"),
        ({"target": [1.0, 2.0, 3.0]}, TypeError, "unexpected keyword"),
    ],
)
def test_mistakes_are_told(arguments, error, message):
    with pytest.raises(error, match=message):
        GraphPool(NODES, LINKS, **arguments)


def test_graphs_are_checked_as_those_of_a_graph_set():
    with pytest.raises(ValueError, match="Graph 1: expected edges between nodes 0 to 1"):
        GraphPool(NODES, [[], [[0, 5]], []])
