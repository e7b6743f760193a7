import pytest
import torch
from support.graph_policies import FORMS, as_tensors, encoder_kwargs, make_encoder, make_env, space_of

from agents.sb3 import GraphSetExtractor


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
