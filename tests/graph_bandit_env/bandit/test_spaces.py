import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Graph, GraphInstance

from graph_bandit_env.bandit.spaces import graph_set_space

TYPES = [np.float32, np.float32, np.float32, np.float64, np.float16, np.int8, np.int64, np.bool_, np.complex64, "S1"]


def test_equal_spaces_hold_graphs_of_the_same_features():
    space = graph_set_space(2, 3)
    assert space == pickle.loads(pickle.dumps(space)) != graph_set_space(2, 4)


def test_gymnasiums_checker_looks_at_no_node_or_edge_by_itself(monkeypatch):
    monkeypatch.setattr(Box, "contains", None)
    env = gym.make("GraphActionBandit-v0", num_graphs=3)
    env.reset(seed=0)
    env.step(0)


def any_rows(rng, width):
    """Rows of features, some of another shape, type or kind, or with numbers that a space may refuse."""
    shape = (rng.integers(4), width) if rng.random() < 0.9 else tuple(rng.integers(3, size=rng.integers(1, 4)))
    rows = rng.random(shape)
    if rows.size and rng.random() < 0.3:
        rows.flat[rng.integers(rows.size)] = rng.choice([np.nan, np.inf, -np.inf, -1e-3, 2.0, 1.0, 0.0])
    with np.errstate(invalid="ignore"):
        rows = rows.astype(rng.choice(np.array(TYPES, object)))
    kinds = [lambda: None, lambda: rows.tolist(), lambda: list(rows), lambda: rows.astype(object), lambda: rows.T]
    return rng.choice(np.array(kinds, object))() if rng.random() < 0.2 else rows


def any_links(rng, edges):
    links = rng.integers(-1 if rng.random() < 0.1 else 0, 4, size=(len(edges) if edges is not None else 1, 2))
    links = links.astype(rng.choice(["i8", "i8", "i4", "u1", "f8", "?"]))
    kinds = [lambda: None, lambda: links.tolist(), lambda: links[:, :1], lambda: links[:-1], lambda: links.ravel()]
    return rng.choice(np.array(kinds, object))() if rng.random() < 0.2 else links


@pytest.mark.filterwarnings("ignore")  # of casts
@pytest.mark.parametrize("edge_feature_dim", [None, 2])
def test_accepts_and_refuses_what_gymnasium_does(edge_feature_dim):
    (space, *_), answers = graph_set_space(1, 2, edge_feature_dim).spaces, []
    theirs = Graph(space.node_space, space.edge_space)
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        edges = any_rows(rng, edge_feature_dim or 1)
        graph = GraphInstance(any_rows(rng, 2), edges, any_links(rng, edges))
        graph = tuple(graph) if rng.random() < 0.01 else graph
        answers.append(said(theirs, graph))
        assert said(space, graph) == answers[-1], graph
    assert {*answers} == {True, False}


def said(space, graph):
    try:
        return bool(space.contains(graph))
    except (TypeError, ValueError, AttributeError) as error:  # nodes that cannot be iterated over, for example
        return type(error)
