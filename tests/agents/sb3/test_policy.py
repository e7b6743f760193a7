import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, PPO
from support.graph_policies import FORMS, Gine, as_tensors, encoder_kwargs, make_env

from agents.padded import GraphSetActorCritic
from agents.sb3 import GraphSetMaskablePolicy, GraphSetPolicy

SHORT = {"n_steps": 16, "batch_size": 8, "n_epochs": 2}
SETTINGS = {PPO: SHORT, MaskablePPO: SHORT, A2C: {"n_steps": 8}}
POLICIES = {PPO: GraphSetPolicy, MaskablePPO: GraphSetMaskablePolicy, A2C: GraphSetPolicy}


def train(algorithm, env, **kwargs):
    settings = {
        "seed": 0,
        "device": "cpu",
        "policy_kwargs": {"features_extractor_kwargs": encoder_kwargs(env, **kwargs)},
    }
    return algorithm(POLICIES[algorithm], env, **SETTINGS[algorithm], **settings).learn(64)


@torch.no_grad()
def logits_and_value(policy, observation):
    tensors, _ = policy.obs_to_tensor(observation)
    return policy.get_distribution(tensors).distribution.logits[0], policy.predict_values(tensors)[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("algorithm", POLICIES)
def test_a_trained_policy_is_that_of_plain_torch_and_the_same_after_loading(algorithm, form, tmp_path):
    env = make_env(form, actions_per_round=3)
    model = train(algorithm, env, network=Gine)
    model.save(tmp_path / "model")
    loaded = algorithm.load(tmp_path / "model", device="cpu").policy
    plain = GraphSetActorCritic(env.observation_space, **encoder_kwargs(env, network=Gine))
    plain.encoder.load_state_dict(loaded.features_extractor.state_dict())
    plain.scorer.load_state_dict(loaded.action_net.state_dict())
    plain.value.load_state_dict(loaded.value_net.state_dict())
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        logits, value = logits_and_value(model.policy, observation)
        assert torch.equal(logits_and_value(loaded, observation)[0], logits)
        scores, same = plain(as_tensors(observation))
        torch.testing.assert_close(scores[0].log_softmax(-1), logits)
        assert torch.equal(same, value)


@pytest.mark.parametrize("settings", [{"actions_per_round": 2}, {"replacement": False}], ids=["two", "used up"])
@pytest.mark.parametrize("algorithm", POLICIES)
def test_training_never_plays_a_graph_that_is_not_on_offer(algorithm, settings):
    model = train(algorithm, make_env("padded", **settings))  # the environment raises if one is played
    assert model.num_timesteps > 0
