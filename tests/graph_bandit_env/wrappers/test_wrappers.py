import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.error import InvalidAction
from gymnasium.utils.env_checker import check_env
from support.graphs import ragged_graphs

import graph_bandit_env  # noqa: F401
from graph_bandit_env import GraphSet, from_smiles
from graph_bandit_env.wrappers import DelayedRewards, GraphSetIndices, PaddedGraphSet, unpad

RAGGED = {"graphs": ragged_graphs(), "reward_model": [0.0, 1.0, 2.0, 3.0], "horizon": 5}
ARROWS = GraphSet([[[1.0], [2.0], [3.0]]] * 4, [[(0, 1), (2, 1)], [(0, 2)], [(2, 1)], []], directed=True)


def make(**settings):
    return gym.make("GraphActionBandit-v0", **{**RAGGED, **settings})


@pytest.mark.parametrize(
    "graphs", [ragged_graphs(), from_smiles(["C", "CCO", "c1ccccc1", "[Na+].[Cl-]"]), ARROWS], ids=len
)
def test_padded_graphs_come_back_exactly(graphs):
    env = PaddedGraphSet(make(graphs=graphs))
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    for found, expected in zip(unpad(observation), env.unwrapped.graph_set.to_pyg(), strict=True):
        assert torch.equal(found.x, expected.x)
        assert torch.equal(found.edge_index, expected.edge_index)
        if expected.edge_attr is not None:
            assert torch.equal(found.edge_attr, expected.edge_attr)


def test_padding_is_zero_and_larger_sizes_change_nothing_else():
    small, large = (
        PaddedGraphSet(make(), **sizes).reset(seed=0)[0] for sizes in ({}, {"max_nodes": 20, "max_edges": 90})
    )
    assert large["x"].shape == (4, 20, 4)
    assert large["edge_index"].shape == (4, 2, 90)
    for found, expected in zip(unpad(large), unpad(small), strict=True):
        assert torch.equal(found.x, expected.x)
        assert torch.equal(found.edge_index, expected.edge_index)
    for k, (nodes, edges) in enumerate(zip(large["n_node"], large["n_edge"], strict=True)):
        assert not large["x"][k, nodes:].any()
        assert not large["edge_index"][k, :, edges:].any()
        assert not large["edge_attr"][k, edges:].any()


def test_indices_of_used_up_graphs_are_not_in_the_mask():
    env = GraphSetIndices(make(observe="indices", replacement=False, horizon=4))
    env.reset(seed=0)
    observation, *_ = env.step(2)
    assert observation["indices"].tolist() == [0, 1, 3, -1]
    assert observation["mask"].tolist() == [1, 1, 0, 1]


def test_room_for_more_graphs_is_empty_and_never_on_offer():
    env = PaddedGraphSet(make(), max_graphs=6)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert env.action_space.n == 6
    assert observation["n_node"].tolist() == [5, 1, 7, 3, 0, 0]
    assert observation["mask"].tolist() == env.action_masks().tolist() == [1, 1, 1, 1, 0, 0]
    assert len(unpad(observation)) == 4
    with pytest.raises(InvalidAction):
        env.step(4)


WRAPPED = {
    "padded": lambda: PaddedGraphSet(make()),
    "padded by name": lambda: gym.make("GraphActionBanditPadded-v0", **RAGGED, mask_dtype="bool"),
    "indices": lambda: GraphSetIndices(make(observe="indices")),
    "late and padded": lambda: DelayedRewards(PaddedGraphSet(make()), (1, 2)),
}


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version", "ignore:.*is -?infinity")
@pytest.mark.parametrize("wrapped", WRAPPED.values(), ids=WRAPPED)
def test_gymnasium_accepts_the_wrapped_environment(wrapped):
    assert check_env(wrapped(), skip_render_check=True) is None


def test_the_registered_name_is_the_environment_in_its_wrapper_and_its_spec_makes_it_again():
    named = gym.make("GraphActionBanditPadded-v0", **RAGGED, max_edges=40)
    wrapped, again = PaddedGraphSet(make(), max_edges=40), gym.make(named.spec)
    assert str(again).count("PaddedGraphSet") == 1
    for env in (named, wrapped, again):
        env.reset(seed=3)
    for action in (0, 3, 1):
        (found, reward, *_), *others = [env.step(action) for env in (named, wrapped, again)]
        for expected, other, *_ in others:
            assert reward == other
            assert all(np.array_equal(found[key], expected[key]) for key in expected)
