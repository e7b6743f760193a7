import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

from agents import LARGEST_REWARD
from agents.contract.inputs import (
    derive_streams,
    holds_graphs,
    masked_argmax,
    read_awaiting,
    read_feedback,
    read_graphs,
    read_mask,
    read_noises,
    read_pending,
    read_sides,
)
from graph_bandit_env import GraphSet


def test_an_observation_and_a_graph_set_give_the_same_batch():
    graph_set = GraphSet.from_pyg(ragged_graphs())
    observed, handed_over = read_graphs(tuple(graph_set)), read_graphs(None, graph_set)
    assert torch.equal(observed.x, handed_over.x)
    assert torch.equal(observed.edge_index, handed_over.edge_index)
    assert torch.equal(observed.ptr, handed_over.ptr)


@pytest.mark.parametrize("observation", [ragged_graphs(), ragged_graphs()[:1], ragged_graphs()[0], {"edge_index": 0}])
def test_graphs_in_another_form_are_refused(observation):
    with pytest.raises(TypeError, match="to be a tuple of GraphInstance. Got graphs in another form"):
        holds_graphs(observation)


def test_streams_of_a_seed_are_repeatable_and_differ():
    (network, generator), (again, twin) = derive_streams(3), derive_streams(3)
    assert network == again
    assert torch.equal(torch.rand(3, generator=generator), torch.rand(3, generator=twin))
    assert derive_streams(4)[0] != network


def test_the_streams_of_a_seed_stay_what_they_were():
    """Stored results and saved states are of these."""
    network, generator = derive_streams(0)
    assert (network, generator.initial_seed()) == (7896617691693857887, 6195319269190327588)


@pytest.mark.parametrize("seed", [True, -1, 0.0, None, "3"])
def test_refuses_what_is_not_a_seed(seed):
    with pytest.raises(ValueError, match="`seed` to be an integer >= 0"):
        derive_streams(seed)


@pytest.mark.parametrize("pending", [[-1], [3], [0, 3], [1, 1], [[0]], [0.0], ["0"]])
def test_refuses_pending_graphs_that_are_not(pending):
    with pytest.raises(ValueError, match="`pending` to be different integers from 0 to 2"):
        read_pending(pending, 3)


def test_a_mask_may_be_that_of_the_most_graphs_there_may_be():
    assert read_mask([0, 1, 1, 0, 0], 3).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([1, 1], r"shape `\(3,\)`, or longer. Got `\(2,\)`"),
        ([0.5, 1, 1], "zeros and ones"),
        (["0", "1", "1"], "zeros and ones"),
        ([0, 0, 0], "zeros only"),
        ([0, 0, 0, 0], "zeros only"),
        ([1, 1, 1, 1], "zeros after the 3 graphs"),
    ],
)
def test_refuses_a_mask_that_fits_not(mask, message):
    with pytest.raises(ValueError, match=message):
        read_mask(mask, 3)


@pytest.mark.parametrize("action", [2, np.int64(2), [2], np.array([2]), torch.tensor([2])])
def test_feedback_may_be_scalars_or_arrays(action):
    actions, rewards = read_feedback(action, 0.5 if np.ndim(action) == 0 else [0.5], 3)
    assert actions.tolist() == [2]
    assert rewards.tolist() == [0.5]


@pytest.mark.parametrize(
    ("action", "reward", "message"),
    [
        (0, float("nan"), "finite numbers. Got nan. Nothing was learnt"),
        (0, float("inf"), "finite"),
        (0, "high", "finite"),
        (0, None, "finite"),
        (3, 0.0, "from 0 to 2. Got 3"),
        (-1, 0.0, "from 0 to 2"),
        (0.0, 0.0, "integers"),
        ([0, 1], [0.0], "as many actions as rewards"),
        ([], [], "at least one"),
        ([[0]], [[0.0]], "Got shapes"),
    ],
)
def test_refuses_feedback_that_makes_no_sense(action, reward, message):
    with pytest.raises(ValueError, match=message):
        read_feedback(action, reward, 3)


def test_argmax_breaks_ties_evenly_and_keeps_to_the_mask():
    generator = torch.Generator().manual_seed(0)
    index, mask = torch.tensor([9.0, 1.0, 1.0, 0.0]), torch.tensor([False, True, True, True])
    drawn = [masked_argmax(index, mask, generator) for _ in range(400)]
    assert set(drawn) == {1, 2}
    assert 150 < drawn.count(1) < 250


def test_argmax_plays_the_only_graph_left_even_at_minus_infinity():
    index = torch.tensor([0.0, -torch.inf])
    assert masked_argmax(index, torch.tensor([False, True]), torch.Generator()) == 1


def test_a_graph_without_edges_among_others_is_a_graph():
    class Instance(NamedTuple):
        nodes: np.ndarray
        edges: np.ndarray | None
        edge_links: np.ndarray | None

    x = np.ones((2, 3), np.float32)
    pair = Instance(x, np.ones((2, 1), np.float32), np.array([[0, 1], [1, 0]]))
    for observation in ((pair, Instance(x, None, None)), (Instance(x, None, None), pair)):
        batch = read_graphs(observation)
        assert batch.num_graphs == 2
        assert batch.edge_attr.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_what_rounding_errors_part_is_a_tie(unit):
    index = unit * torch.tensor([0.3, 0.1 + 0.2, 0.3 - 1e-9], dtype=torch.float64)  # the first two differ in a bit
    mask, generator = torch.ones(3, dtype=torch.bool), torch.Generator().manual_seed(0)
    assert index[0] != index[1]
    assert {masked_argmax(index, mask, generator) for _ in range(50)} == {0, 1}


@pytest.mark.parametrize("largest", [torch.inf, 0.0])
def test_infinite_bounds_and_zeros_tie_with_their_like_only(largest):
    index = torch.tensor([largest, -1.0, largest, -torch.inf], dtype=torch.float64)
    mask, generator = torch.ones(4, dtype=torch.bool), torch.Generator().manual_seed(0)
    assert {masked_argmax(index, mask, generator) for _ in range(50)} == {0, 2}


def test_edge_features_of_other_widths_or_of_some_graphs_alone_are_refused():
    graphs = ragged_graphs()
    for k, graph in enumerate(graphs):
        graph.edge_attr = torch.ones(graph.num_edges, 1 + (k == 2))
    with pytest.raises(ValueError, match=r"equal numbers of edge features. Got \[1, 2\]"):
        read_graphs(None, SimpleNamespace(to_pyg=lambda: graphs))
    graphs = ragged_graphs()
    bare = next(k for k, graph in enumerate(graphs) if graph.num_edges)
    for k, graph in enumerate(graphs):
        graph.edge_attr = None if k == bare else torch.ones(graph.num_edges, 2)
    with pytest.raises(ValueError, match=f"Got \\[2\\], and none in graph {bare}"):
        read_graphs(None, SimpleNamespace(to_pyg=lambda: graphs))


@pytest.mark.parametrize("noise", [0, -1, math.inf, math.nan, 2 * LARGEST_REWARD, [0.1, 0.0], [0.1], True, "1"])
def test_noises_that_are_no_deviations_are_refused(noise):
    with pytest.raises(ValueError, match="Expected `noise` to be a number above 0"):
        read_noises(noise, 2)


@pytest.mark.parametrize(("noise", "read"), [(0.5, [0.5, 0.5]), (2, [2.0, 2.0]), ([1e-9, LARGEST_REWARD], None)])
def test_noises_are_one_for_all_results_or_one_for_each(noise, read):
    assert read_noises(noise, 2).tolist() == (read or noise)


@pytest.mark.parametrize(("above", "read"), [(True, [True, True]), (False, [False, False]), ([True, False], None)])
def test_a_side_is_that_of_all_bounds_or_one_for_each(above, read):
    assert read_sides(above, 2).tolist() == (read or above)


@pytest.mark.parametrize("above", [1, "above", [True], [True, False, True], [[True, False]], None])
def test_what_is_not_a_side_is_refused(above):
    with pytest.raises(ValueError, match="Expected `above` to be True or False, or 2 of these"):
        read_sides(above, 2)


@pytest.mark.parametrize("awaiting", [[3], [-1], [0.5], [True], [[0, 1]], 0])
def test_refuses_awaited_graphs_that_are_not_of_the_set(awaiting):
    with pytest.raises(ValueError, match="Expected `awaiting` to be integers from 0 to 2"):
        read_awaiting(awaiting, 3)
