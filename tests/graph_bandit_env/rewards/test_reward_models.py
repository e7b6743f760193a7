import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gntk import aggregate_neighbours
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import RandomGraphs
from graph_bandit_env.rewards.reward_models import compute_rewards, draw_mean_rewards, draw_with_fresh

GRAPHS = RandomGraphs(num_graphs=12, num_nodes=8, feature_dim=3).draw(np.random.default_rng(0))


@pytest.mark.parametrize("model", ["linear", "gp_gntk"])
def test_unit_scale_has_mean_zero_and_deviation_one_and_keeps_the_order(model):
    raw, unit = (draw_mean_rewards(model, GRAPHS, np.random.default_rng(1), s) for s in ("raw", "unit"))
    assert unit.mean() == pytest.approx(0, abs=1e-12)
    assert unit.std() == pytest.approx(1)
    assert np.array_equal(raw.argsort(), unit.argsort())


@pytest.mark.parametrize("unit", [1e-80, 1.0, 1e90, 0.0])
def test_unit_scale_does_not_depend_on_the_unit_of_the_means(unit):
    means = draw_mean_rewards(unit * np.arange(12), GRAPHS, np.random.default_rng(0), "unit")
    assert means == pytest.approx((unit > 0) * (np.arange(12) - 5.5) / np.arange(12).std())  # equal means become 0


def test_fresh_linear_means_have_a_normal_vector_of_their_own():
    nodes = aggregate_neighbours(GRAPHS.to_batch()).nodes.double().numpy().reshape(12, 8, 3).mean(axis=1)
    _, fresh = draw_with_fresh("linear", GRAPHS, np.random.default_rng(3))
    np.testing.assert_allclose(fresh(np.random.default_rng(7)), nodes @ np.random.default_rng(7).standard_normal(3))


@pytest.mark.parametrize("model", ["linear", "gp_gntk"])
def test_in_units_each_draw_has_mean_0_and_the_unit_is_that_of_the_first(model):
    raw, _ = draw_with_fresh(model, GRAPHS, np.random.default_rng(3))
    (_, plain), (_, unit) = (
        draw_with_fresh(model, GRAPHS, np.random.default_rng(3), scale) for scale in ("raw", "unit")
    )
    a, b = plain(np.random.default_rng(8)), unit(np.random.default_rng(8))
    assert b.mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(b, (a - a.mean()) / raw.std(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("wrap", [float, np.float32, torch.tensor, lambda v: torch.tensor(v).sum()])
def test_a_function_sees_each_graph_as_pyg_data(wrap):
    means = draw_mean_rewards(lambda graph: wrap(graph.num_edges), GRAPHS, np.random.default_rng(0))
    assert means.tolist() == [len(graph.edge_links) for graph in GRAPHS]


TRIANGLE_WITH_TAIL = [[0, 1], [1, 2], [2, 0], [2, 3]]


def make(size, links, weights=None):
    weights = None if weights is None else [np.array(weights, float)[:, None]]
    return GraphSet([np.ones((size, 1))], [np.array(links).reshape(-1, 2)], weights, directed=False)


@pytest.mark.parametrize(
    ("size", "links", "expected"),
    [
        (4, TRIANGLE_WITH_TAIL, 3 / 5),  # a triangle; pairs at node 2: 3, at 0 and 1: one each
        (4, [*TRIANGLE_WITH_TAIL, [1, 1]], 3 / 5),  # a self-loop changes nothing
        (3, [[0, 1], [1, 2], [2, 0]], 1),
        (5, [[0, 1], [0, 2], [0, 3]], 0),
        (1, [], 0),
    ],
)
def test_transitivity_is_the_share_of_pairs_of_edges_that_a_third_one_closes(size, links, expected):
    assert compute_rewards("transitivity", make(size, links)).tolist() == pytest.approx([expected])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-4, 9), min_size=10, max_size=10))
def test_the_spanning_tree_is_the_lightest_of_all(weights):
    pairs = list(itertools.combinations(range(5), 2))
    trees = (tree for tree in itertools.combinations(range(10), 4) if nx.is_tree(nx.Graph([pairs[k] for k in tree])))
    lightest = min(sum(weights[k] for k in tree) for tree in trees)
    assert compute_rewards("spanning_tree", make(5, pairs, weights)).tolist() == [lightest]


def test_each_part_has_a_tree_and_the_lower_weight_of_two_directions_counts():
    links = [[0, 1], [1, 0], [2, 3], [3, 4], [4, 2], [2, 2]]
    assert compute_rewards("spanning_tree", make(6, links, [5, 2, 1, 3, 4, 0])).tolist() == [2 + 1 + 3]
    assert compute_rewards("spanning_tree", make(2, [])).tolist() == [0]
