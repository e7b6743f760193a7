import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from support.graph_policies import FORMS, as_tensors, encoder_kwargs, make_encoder, make_env, space_of

from agents.sb3 import GraphSetExtractor, GraphSetPolicy


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


@pytest.mark.parametrize("form", FORMS)
def test_normalised_masks_are_refused_with_what_to_do(form):
    env = make_env(form)
    venv = VecNormalize(DummyVecEnv([lambda: make_env(form)]))
    kwargs = {"features_extractor_kwargs": encoder_kwargs(env)}
    model = PPO(GraphSetPolicy, venv, n_steps=8, batch_size=4, policy_kwargs=kwargs, device="cpu")
    with pytest.raises(ValueError, match="Expected masks of zeros and ones.*norm_obs=False"):
        model.learn(8)
