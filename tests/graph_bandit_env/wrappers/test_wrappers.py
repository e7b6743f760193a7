import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.error import InvalidAction
from gymnasium.spaces import GraphInstance
from gymnasium.utils.env_checker import check_env
from stable_baselines3 import PPO
from support.graphs import ragged_graphs

import graph_bandit_env  # noqa: F401
from graph_bandit_env import from_smiles
from graph_bandit_env.wrappers import GraphSetIndices, PaddedGraphSet, Padding, unpad

RAGGED = {"graphs": ragged_graphs(), "reward_model": [0.0, 1.0, 2.0, 3.0], "horizon": 5}


def make(**settings):
    return gym.make("GraphActionBandit-v0", **{**RAGGED, **settings})


@pytest.mark.parametrize(
    "graphs", [ragged_graphs(), from_smiles(["C", "CCO", "c1ccccc1", "[Na+].[Cl-]"])], ids=["ragged", "molecules"]
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
    small, large = (PaddedGraphSet(make(), *sizes).reset(seed=0)[0] for sizes in ((), (20, 90)))
    assert large["x"].shape == (4, 20, 4)
    assert large["edge_index"].shape == (4, 2, 90)
    for found, expected in zip(unpad(large), unpad(small), strict=True):
        assert torch.equal(found.x, expected.x)
        assert torch.equal(found.edge_index, expected.edge_index)
    for k, (nodes, edges) in enumerate(zip(large["n_node"], large["n_edge"], strict=True)):
        assert not large["x"][k, nodes:].any()
        assert not large["edge_index"][k, :, edges:].any()
        assert not large["edge_attr"][k, edges:].any()


def test_random_graphs_fit_whatever_is_drawn():
    settings = {"num_graphs": 4, "num_nodes": 6, "edge_prob": 1.0, "horizon": 3}
    env = PaddedGraphSet(gym.make("GraphActionBandit-v0", **settings))
    for seed in range(3):
        observation, _ = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        assert (observation["n_edge"] == 30).all()


@pytest.mark.parametrize("sizes", [{"max_nodes": 6}, {"max_edges": 3}])
def test_a_graph_that_does_not_fit_is_named(sizes):
    env = PaddedGraphSet(make(), **sizes)
    with pytest.raises(ValueError, match=r"Graph \d has .* Raise `max_nodes` or `max_edges`"):
        env.reset(seed=0)


@pytest.mark.parametrize("wrap", [PaddedGraphSet, lambda env: GraphSetIndices(env)], ids=["padded", "indices"])
def test_the_mask_is_that_of_the_coming_round(wrap):
    observe = "graphs" if wrap is PaddedGraphSet else "indices"
    env = wrap(make(actions_per_round=2, observe=observe))
    observation, info = env.reset(seed=0)
    masks = set()
    over = False
    while not over:
        assert np.array_equal(observation["mask"], info["action_mask"])
        assert np.array_equal(env.action_masks(), observation["mask"].astype(bool))
        masks.add(tuple(observation["mask"]))
        observation, _, terminated, truncated, info = env.step(int(observation["mask"].argmax()))
        over = terminated or truncated
    assert len(masks) > 1


def test_indices_of_used_up_graphs_are_not_in_the_mask():
    env = GraphSetIndices(make(observe="indices", replacement=False, horizon=4))
    env.reset(seed=0)
    observation, *_ = env.step(2)
    assert observation["indices"].tolist() == [0, 1, 3, -1]
    assert observation["mask"].tolist() == [1, 1, 0, 1]


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version", "ignore:.*is -?infinity")
@pytest.mark.parametrize(
    "make_wrapped", [lambda: PaddedGraphSet(make()), lambda: GraphSetIndices(make(observe="indices"))]
)
def test_gymnasium_accepts_the_wrapped_environment(make_wrapped):
    assert check_env(make_wrapped(), skip_render_check=True) is None


def test_rewards_are_those_of_the_bare_environment():
    played = []
    for env in (make(), PaddedGraphSet(make())):
        env.reset(seed=3)
        played.append([env.step(action)[1] for action in (0, 3, 1, 1)])
    assert played[0] == played[1]


@pytest.mark.parametrize(
    ("wrap", "settings", "message"),
    [
        (PaddedGraphSet, {"observe": "indices"}, "Use `GraphSetIndices`"),
        (GraphSetIndices, {}, "`PaddedGraphSet` takes"),
    ],
)
def test_a_wrapper_for_other_observations_is_refused_and_the_right_one_named(wrap, settings, message):
    with pytest.raises(TypeError, match=message):
        wrap(make(**settings))
    with pytest.raises(TypeError, match="Expected `GraphActionBandit-v0`"):
        wrap(gym.make("CartPole-v1"))


@pytest.mark.parametrize(
    "changing", [{}, {"resample_graphs": True}, {**RAGGED, "num_graphs": 4, "resample_graphs": True}]
)
def test_indices_of_graph_sets_that_change_are_refused(changing):
    with pytest.raises(ValueError, match="`PaddedGraphSet` shows the graphs themselves"):
        GraphSetIndices(gym.make("GraphActionBandit-v0", observe="indices", **changing))


def test_a_wrapped_environment_is_not_wrapped_again():
    with pytest.raises(TypeError, match="that observes graphs"):
        PaddedGraphSet(PaddedGraphSet(make()))


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


def test_there_is_room_for_all_graphs():
    with pytest.raises(ValueError, match="`max_graphs` to be an integer >= 4. Got 3"):
        PaddedGraphSet(make(), max_graphs=3)


def test_an_observation_of_a_hundred_graphs_is_small_as_indices_and_large_as_arrays():
    settings = {"num_graphs": 100, "num_nodes": 20, "horizon": 2}
    padded = PaddedGraphSet(gym.make("GraphActionBandit-v0", **settings)).reset(seed=0)[0]
    graphs = PaddedGraphSet(gym.make("GraphActionBandit-v0", **settings))
    graphs.reset(seed=0)
    same = make(observe="indices", graphs=graphs.unwrapped.graph_set, reward_model="linear")
    indices = GraphSetIndices(same).reset(seed=0)[0]
    size = {name: sum(array.nbytes for array in one.values()) for name, one in (("p", padded), ("i", indices))}
    assert size == {"p": 100 * (20 * 10 * 4 + 380 * (2 * 8 + 4) + 2 * 8 + 1), "i": 100 * 9}


def test_stable_baselines_is_told_which_wrapper_it_needs():
    with pytest.raises(TypeError, match=r"wrap the environment in `graph_bandit_env.wrappers.PaddedGraphSet`"):
        PPO("MultiInputPolicy", make(), device="cpu")


@pytest.mark.parametrize(
    "make_wrapped", [lambda: PaddedGraphSet(make()), lambda: GraphSetIndices(make(observe="indices"))]
)
def test_stable_baselines_takes_the_wrapped_environment(make_wrapped):
    model = PPO("MultiInputPolicy", make_wrapped(), n_steps=8, batch_size=4, n_epochs=1, seed=0, device="cpu")
    model.learn(16)
    observation, _ = make_wrapped().reset(seed=0)
    assert model.predict(observation)[0] in range(4)


def test_padding_takes_graphs_without_edge_features_and_refuses_bad_ones():
    padding = Padding(graphs=1, nodes=3, edges=4, feature_dim=1, edge_feature_dim=1)
    links, nodes = np.array([[0, 1], [1, 0]]), np.ones((2, 1), np.float32)
    padded = padding.zeros()
    padding.fill(padded, [GraphInstance(nodes, None, links)])
    assert padded["edge_attr"][0, :, 0].tolist() == [1, 1, 0, 0]
    assert padded["mask"].tolist() == [1]
    for graphs, message in (
        ([GraphInstance(nodes, None, links)] * 2, "at most 1 graphs"),
        ([GraphInstance(nodes, None, links + 1)], "between nodes 0 to 1"),
        ([GraphInstance(np.ones((2, 3), np.float32), None, links)], r"nodes of shape `\(n, 1\)`"),
        ([GraphInstance(nodes, None, np.zeros((2, 4), int))], r"edges of shape `\(E, 2\)`"),
    ):
        with pytest.raises(ValueError, match=message):
            padding.fill(padding.zeros(), graphs)
