import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

from agents import LARGEST_REWARD
from agents.contract.inputs import (
    Instance,
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
from graph_bandit_env.graphs import as_graph_set


def test_an_observation_and_a_graph_set_give_the_same_batch():
    graph_set = as_graph_set(ragged_graphs())
    observed, handed_over = read_graphs(tuple(graph_set)), read_graphs(None, graph_set)
    for name in ("x", "edge_index", "ptr"):
        assert torch.equal(observed[name], handed_over[name])


@pytest.mark.parametrize("observation", [ragged_graphs(), ragged_graphs()[:1], ragged_graphs()[0], {"edge_index": 0}])
def test_graphs_in_another_form_are_refused(observation):
    with pytest.raises(TypeError, match="GraphInstance"):
        holds_graphs(observation)


def test_the_streams_of_a_seed_stay_what_they_were():
    """Stored results and saved states are of these."""
    network, generator = derive_streams(0)
    assert (network, generator.initial_seed()) == (7896617691693857887, 6195319269190327588)


REFUSED = [
    *((derive_streams, "seed", (seed,)) for seed in (True, -1, 0.0, None, "3")),
    *((read_pending, "pending", (given, 3)) for given in ([-1], [3], [0, 3], [1, 1], [[0]], [0.0], ["0"])),
    *((read_awaiting, "awaiting", (given, 3)) for given in ([3], [-1], [0.5], [True], [[0, 1]], 0)),
    *((read_mask, "action_mask", (mask, 3)) for mask in ([1, 1], [0.5, 1, 1], ["0", "1", "1"], [[1, 1, 1]])),
    *((read_mask, "action_mask", (mask, 3)) for mask in ([0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1])),
    *((read_feedback, "action", (action, 0.0, 3)) for action in (3, -1, 0.0, [[0]], [0, 3], [], None, [[0], [0, 1]])),
    *((read_feedback, "reward", (0, reward, 3)) for reward in (math.nan, math.inf, "high", None, [], [0.0, 0.0])),
    *((read_feedback, "reward", (0, reward, 3)) for reward in (1.1 * LARGEST_REWARD, -2e100, 10**400, [[0]])),
    (read_feedback, "reward", ([0, 1], [0.0], 3)),
    *((read_noises, "noise", (noise, 2)) for noise in (0, -1, math.inf, math.nan, 2 * LARGEST_REWARD, [0.1], True)),
    *((read_noises, "noise", (noise, 2)) for noise in ([0.1, 0.0], "1", None)),
    *((read_sides, "above", (above, 2)) for above in (1, "above", [True], [True, False, True], [[True, False]], None)),
]


@pytest.mark.parametrize(("read", "name", "given"), REFUSED)
def test_what_is_refused_is_named(read, name, given):
    with pytest.raises(ValueError, match=f"Expected `{name}` to be "):
        read(*given)


@pytest.mark.parametrize(
    ("read", "given", "expected"),
    [
        (read_mask, ([0, 1, 1, 0, 0], 3), [False, True, True]),
        (read_mask, (None, 2), [True, True]),
        (read_pending, ([], 3), []),
        (read_awaiting, ([2, 0, 2], 3), [2, 0, 2]),
        (read_noises, (0.5, 2), [0.5, 0.5]),
        (read_noises, ([1e-9, LARGEST_REWARD], 2), [1e-9, LARGEST_REWARD]),
        (read_sides, (True, 2), [True, True]),
        (read_sides, ([True, False], 2), [True, False]),
    ],
)
def test_what_is_read(read, given, expected):
    found = read(*given)
    assert (found if isinstance(found, list) else found.tolist()) == expected


@pytest.mark.parametrize("action", [2, np.int64(2), [2], np.array([2]), torch.tensor([2])])
def test_feedback_may_be_scalars_or_arrays(action):
    actions, rewards = read_feedback(action, 0.5 if np.ndim(action) == 0 else [0.5], 3)
    assert (actions.tolist(), rewards.tolist()) == ([2], [0.5])


def drawn(index, allowed=None, count=50):
    mask, generator = torch.ones(len(index), dtype=torch.bool), torch.Generator().manual_seed(0)
    allowed = mask if allowed is None else torch.tensor(allowed)
    return [masked_argmax(torch.as_tensor(index, dtype=torch.float64), allowed, generator) for _ in range(count)]


def test_argmax_breaks_ties_evenly_and_keeps_to_the_mask():
    found = drawn([9.0, 1.0, 1.0, 0.0], [False, True, True, True], count=400)
    assert set(found) == {1, 2}
    assert 150 < found.count(1) < 250
    assert set(drawn([0.0, -math.inf], [False, True])) == {1}


@pytest.mark.parametrize(
    ("index", "tied"),
    [
        *((unit * np.array([0.3, 0.1 + 0.2, 0.3 - 1e-9]), {0, 1}) for unit in (1e-9, 1.0, 1e9)),  # they differ in a bit
        *(([largest, -1.0, largest, -math.inf], {0, 2}) for largest in (math.inf, 0.0)),
    ],
)
def test_what_rounding_errors_part_is_a_tie(index, tied):
    assert set(drawn(index)) == tied


def test_a_graph_without_edges_among_others_is_a_graph():
    x = np.ones((2, 3), np.float32)
    pair, bare = Instance(x, np.ones((2, 1), np.float32), np.array([[0, 1], [1, 0]])), Instance(x, None, None)
    for observation in ((pair, bare), (bare, pair)):
        batch = read_graphs(observation)
        assert batch.num_graphs == 2
        assert batch.edge_attr.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("widths", [(1, 2, 1, 1), (None, 2, 2, 2)])
def test_edge_features_of_other_widths_or_of_some_graphs_alone_are_refused(widths):
    graphs = [graph for graph in ragged_graphs() if graph.num_edges]
    for graph, width in zip(graphs, widths, strict=False):
        graph.edge_attr = None if width is None else torch.ones(graph.num_edges, width)
    with pytest.raises(ValueError, match="equal numbers of edge features"):
        read_graphs(None, SimpleNamespace(to_pyg=lambda: graphs))
