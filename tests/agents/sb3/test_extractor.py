import gymnasium as gym
import pytest
import torch
from gymnasium.spaces import Box
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from support.graph_policies import FORMS, as_tensors, encoder_kwargs, make_encoder, make_env, space_of

from agents.sb3 import GraphSetExtractor, GraphSetPolicy
from graph_bandit_env import GraphSet


@pytest.mark.parametrize("form", FORMS)
def test_the_features_are_those_of_the_encoder_in_plain_torch(form):
    env = make_env(form, actions_per_round=3)
    observation, _ = env.reset(seed=0)
    encoder = make_encoder(observation, **encoder_kwargs(env))
    extractor = GraphSetExtractor(space_of(observation), **encoder_kwargs(env))
    extractor.load_state_dict(encoder.state_dict())
    features = extractor(as_tensors(observation))
    assert torch.equal(features, encoder(as_tensors(observation)))
    assert features.shape[-1] == extractor.features_dim == 65


@pytest.mark.parametrize("space", [Box(0, 1, (3,)), gym.make("GraphActionBandit-v0").observation_space])
def test_other_observations_are_refused_and_the_wrappers_named(space):
    with pytest.raises(TypeError, match="Expected .* `graph_bandit_env.wrappers.PaddedGraphSet`"):
        GraphSetExtractor(space)


@pytest.mark.parametrize("form", FORMS)
def test_a_policy_learns_on_directed_graphs(form):
    graphs = GraphSet([torch.randn(3, 2)] * 3, [[[0, 1]], [[1, 0], [2, 1]], [[0, 2]]], directed=True)
    env = make_env(form, graphs)
    policy = {"features_extractor_kwargs": encoder_kwargs(env)}
    model = PPO(GraphSetPolicy, env, n_steps=8, batch_size=8, policy_kwargs=policy)
    before = [weights.detach().clone() for weights in model.policy.parameters()]
    model.learn(8)
    assert any((old != new).any() for old, new in zip(before, model.policy.parameters(), strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_normalised_masks_are_refused_with_what_to_do(form):
    env = make_env(form)
    venv = VecNormalize(DummyVecEnv([lambda: make_env(form)]))
    kwargs = {"features_extractor_kwargs": encoder_kwargs(env)}
    model = PPO(GraphSetPolicy, venv, n_steps=8, batch_size=4, policy_kwargs=kwargs, device="cpu")
    with pytest.raises(ValueError, match="Expected masks of zeros and ones.*norm_obs=False"):
        model.learn(8)


def test_features_of_nodes_may_be_normalised():
    venv = VecNormalize(DummyVecEnv([make_env]), norm_obs_keys=["x"])
    model = PPO(GraphSetPolicy, venv, n_steps=8, batch_size=4, n_epochs=1, device="cpu")
    assert model.learn(8).num_timesteps == 8
