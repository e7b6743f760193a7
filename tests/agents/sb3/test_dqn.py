import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import DummyVecEnv
from support.graph_policies import (
    FORMS,
    Gine,
    encoder_kwargs,
    make_env,
    make_policy,
    pad_more,
    permute_graphs,
)

from agents.padded import MeanNodeNetwork
from agents.sb3 import GraphSetDQN, GraphSetDQNPolicy

NETWORKS = [MeanNodeNetwork, Gine]
SHORT = {"buffer_size": 200, "learning_starts": 24, "batch_size": 8, "train_freq": 4, "target_update_interval": 16}


def make_model(env, network=MeanNodeNetwork, **settings):
    single = env.envs[0].unwrapped if isinstance(env, DummyVecEnv) else env
    kwargs = {"features_extractor_kwargs": encoder_kwargs(single, network=network)}
    settings = {**SHORT, "seed": 0, "device": "cpu", **settings}
    return GraphSetDQN(GraphSetDQNPolicy, env, policy_kwargs=kwargs, **settings)


def q_policy(observation, **kwargs):
    policy = make_policy(observation, DQNWithoutInitialisation, **kwargs)
    return lambda observation: policy.q_net(policy.obs_to_tensor(observation)[0])[0].detach()


class DQNWithoutInitialisation(GraphSetDQNPolicy):
    def __init__(self, *args, ortho_init, **kwargs):
        super().__init__(*args, **kwargs)


@pytest.mark.parametrize("network", NETWORKS)
def test_q_follows_the_graphs_and_more_padding_changes_nothing(network):
    observation, _ = make_env(actions_per_round=3).reset(seed=0)
    q, order = q_policy(observation, network=network), [2, 0, 3, 1]
    assert torch.allclose(q(permute_graphs(observation, order)), q(observation)[order], rtol=0, atol=1e-5)
    larger = pad_more(observation, graphs=2, nodes=3, edges=4)
    # The head is a product with another number of rows, which a library may add up in another order.
    assert torch.allclose(q_policy(larger, network=network)(larger)[:4], q(observation), rtol=0, atol=1e-5)


@pytest.mark.parametrize("network", NETWORKS)
def test_the_largest_q_is_that_of_the_graphs_on_offer_alone(network):
    observation, _ = make_env(actions_per_round=2).reset(seed=0)
    offered = np.flatnonzero(observation["mask"])
    alone = permute_graphs(observation, offered)
    expected = q_policy(alone, network=network)(alone)
    found = q_policy(observation, network=network)(observation)
    assert found.max().item() == pytest.approx(expected.max().item(), abs=1e-5)  # a product with other rows
    assert (found[observation["mask"] == 0] == -1e8).all()


@pytest.mark.parametrize("settings", [{"actions_per_round": 2}, {"replacement": False}], ids=["two", "used up"])
@pytest.mark.parametrize("form", FORMS)
def test_training_never_plays_a_graph_that_is_not_on_offer(form, settings):
    model = make_model(make_env(form, **settings), exploration_fraction=1.0)
    model.learn(80)  # the environment would raise; there are random, exploring and greedy actions
    assert all(weight.isfinite().all() for weight in model.policy.parameters())
    if "replacement" in settings:  # every graph is played once in an episode, so that rewards are 6, less noise
        assert np.mean([episode["r"] for episode in model.ep_info_buffer]) == pytest.approx(6, abs=0.1)
