"""Masks, observations and indices that make no sense are refused at the door of every agent."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

import registry
from agents.contract.inputs import read_mask
from graph_bandit_env import GraphSet

SET = GraphSet.from_pyg(ragged_graphs())
LARGER = GraphSet.from_pyg(ragged_graphs((5, 1, 7, 3, 2, 2)))


@pytest.fixture(params=["gntk-ucb", "gnn-ts", "random", "sb3-ppo"])
def agent(request):
    agent = registry.make_agent(request.param)
    agent.reset(None, seed=0, graph_set=SET)
    return agent


@pytest.mark.parametrize(
    "mask",
    [
        [np.nan, 1, 1, 1],
        ["0", "1", "1", "1"],
        ["", "1", "1", "1"],
        [0.5, 1, 1, 1],
        [2, 1, 1, 1],
        [-1, 1, 1, 1],
        [None, 1, 1, 1],
        [[1, 1, 1, 1]],
        [1j, 1, 1, 1],
        "1111",
        {0, 1},
        1,
        [1, 1, 1],
        [0, 0, 0, 0],
        [[1, 1], [1], [0], [0]],
    ],
)
def test_a_mask_is_zeros_and_ones_one_for_each_graph(agent, mask):
    with pytest.raises(ValueError, match="Expected `action_mask`"):
        agent.select_action(None, mask)


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint64, np.float32, np.float64, torch.tensor, list, tuple])
def test_a_mask_may_be_of_any_kind_of_number(kind):
    given = (
        np.array([1, 0, 1]).astype(kind) if isinstance(kind, type) and issubclass(kind, np.generic) else kind([1, 0, 1])
    )
    assert read_mask(given, 3).tolist() == [True, False, True]


def test_a_reset_on_two_numbers_of_graphs_is_refused(agent):
    with pytest.raises(ValueError, match="Expected an observation of 4 graphs. Got 6"):
        agent.reset(tuple(LARGER), graph_set=SET)
    assert agent.select_action(tuple(SET)) in range(4)


@pytest.mark.parametrize("padded", [{"edge_index": np.zeros((4, 2, 3))}, ragged_graphs(), ragged_graphs()[0]])
def test_graphs_in_another_form_are_refused(agent, padded):
    for use in (agent.select_action, lambda observation: agent.update(observation, 0, 1.0), agent.reset):
        with pytest.raises(TypeError, match="to be a tuple of GraphInstance. Got graphs in another form"):
            use(padded)
    assert agent.select_action(tuple(SET)) in range(4)


@pytest.mark.parametrize(
    "observation", [None, np.array([0, 2, -1]), [0, 2], {"mask": np.ones(9)}, np.zeros((6, 2)), ()]
)
def test_any_other_observation_is_the_business_of_the_environment(agent, observation):
    agent.reset(observation, graph_set=SET)
    agent.update(observation, agent.select_action(observation), 1.0)
    assert agent.select_action(observation) in range(4)


@pytest.mark.parametrize("action", [True, [True, False], 1.0, "1", None, -1, 4, 2**63, [[0]], np.array([0.0]), 1j])
def test_an_action_is_an_index_of_the_set(agent, action):
    with pytest.raises(ValueError, match="Expected"):
        agent.update(None, action, [1.0] * np.size(action) if np.ndim(action) else 1.0)


@pytest.mark.parametrize("reward", [None, "1", 1j, [1.0, 2.0], [], {}, object(), [[1.0]], np.datetime64("2020-01-01")])
def test_a_reward_is_a_number(agent, reward):
    with pytest.raises(ValueError, match="Expected"):
        agent.update(None, 0, reward)


@pytest.mark.parametrize(
    "pending", [[-1], [4], [True], [0.0], ["0"], [[0]], [1, 1], [None], 1, None, "1", {0, 1}, [2**63]]
)
@pytest.mark.parametrize("count", [1])
def test_pending_graphs_are_indices_of_the_set(pending, count):
    agent = registry.make_agent("gntk-ucb")
    agent.reset(None, seed=0, graph_set=SET)
    with pytest.raises(ValueError, match="Expected `pending`"):
        agent.select_batch(None, count, None, pending)


@pytest.mark.parametrize("count", [True, 0, -1, 1.0, "1", None, 5, np.bool_(True)])
def test_a_count_is_a_number_of_graphs_on_offer(count):
    agent = registry.make_agent("gntk-ucb")
    agent.reset(None, seed=0, graph_set=SET)
    with pytest.raises(ValueError, match="Expected a number of graphs from 1 to 4"):
        agent.select_batch(None, count)
