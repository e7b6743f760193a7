import sys

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, PPO
from support.graph_policies import (
    FORMS,
    Gine,
    encoder_kwargs,
    graphs_with_edge_features,
    logits_and_value,
    make_env,
    make_policy,
    permute_graphs,
    probabilities,
)

import agents.sb3
from agents.padded import MeanNodeNetwork
from agents.sb3 import GraphSetMaskablePolicy, GraphSetPolicy

NETWORKS = [MeanNodeNetwork, Gine]
SHORT = {"n_steps": 16, "batch_size": 8, "n_epochs": 2}
SETTINGS = {PPO: SHORT, MaskablePPO: SHORT, A2C: {"n_steps": 8}}
POLICIES = {PPO: GraphSetPolicy, MaskablePPO: GraphSetMaskablePolicy, A2C: GraphSetPolicy}


def policy_and_observation(form, graphs, offered, network):
    env = make_env(form, graphs)
    observation, _ = env.reset(seed=0)
    observation["mask"][:] = offered
    return make_policy(observation, **encoder_kwargs(env, network=network)), observation


def close(found, expected):
    """Equal but for the order of sums: of at most 129 float32 terms of about 1, an eps of 1e-7 each."""
    return torch.allclose(found, expected, rtol=0, atol=1e-5)


def train(algorithm, env, steps=64, network=MeanNodeNetwork, **settings):
    kwargs = {"features_extractor_kwargs": encoder_kwargs(env, network=network)}
    settings = {**SETTINGS[algorithm], "seed": 0, "device": "cpu", **settings}
    return algorithm(POLICIES[algorithm], env, policy_kwargs=kwargs, **settings).learn(steps)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offered", [[1, 1, 1, 1], [1, 0, 1, 1]], ids=["all", "some"])
def test_probabilities_follow_the_graphs_and_the_value_stays(form, offered, network):
    graphs, order = graphs_with_edge_features(), [2, 0, 3, 1]
    policy, observation = policy_and_observation(form, graphs, offered, network)
    turned, permuted = policy_and_observation(form, [graphs[k] for k in order], np.array(offered)[order], network)
    if form == "padded":
        assert all(np.array_equal(a, permuted[key]) for key, a in permute_graphs(observation, order).items())
    expected = probabilities(policy, observation)
    assert expected.std() > 1e-3  # else the test would say nothing
    assert close(probabilities(turned, permuted), expected[order])
    assert close(logits_and_value(turned, permuted)[1], logits_and_value(policy, observation)[1])


@pytest.mark.parametrize("form", FORMS)
def test_a_graph_not_on_offer_has_probability_zero_and_does_not_matter(form):
    graphs, others = graphs_with_edge_features(), graphs_with_edge_features((5, 4, 7, 9))
    offered = [1, 0, 1, 0]
    mixed = [graphs[0], others[1], graphs[2], others[3]]
    policy, observation = policy_and_observation(form, graphs, offered, MeanNodeNetwork)
    found = probabilities(policy, observation)
    assert found[[1, 3]].tolist() == [0.0, 0.0]
    assert found.sum() == pytest.approx(1.0)
    policy, observation = policy_and_observation(form, mixed, offered, MeanNodeNetwork)
    assert close(probabilities(policy, observation), found)  # a held set is embedded whole: other rows, another order


@pytest.mark.parametrize("settings", [{"actions_per_round": 2}, {"replacement": False}], ids=["two", "used up"])
@pytest.mark.parametrize("form", ["padded"])
@pytest.mark.parametrize("algorithm", POLICIES)
def test_training_never_plays_a_graph_that_is_not_on_offer(algorithm, form, settings):
    model = train(algorithm, make_env(form, **settings))  # the environment raises where one is played
    assert model.num_timesteps > 0


@pytest.mark.parametrize("network", [Gine])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("algorithm", [MaskablePPO])
def test_a_model_that_was_saved_and_loaded_plays_the_same(algorithm, form, network, tmp_path):
    env = make_env(form, actions_per_round=3)
    model = train(algorithm, env, network=network)
    model.save(tmp_path / "model")
    loaded = algorithm.load(tmp_path / "model", device="cpu")
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        assert torch.equal(probabilities(loaded.policy, observation), probabilities(model.policy, observation))
        assert loaded.predict(observation, deterministic=True) == model.predict(observation, deterministic=True)


def test_without_sb3_contrib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "agents.sb3.maskable")
    monkeypatch.setitem(sys.modules, "sb3_contrib.common.maskable.policies", None)
    with pytest.raises(ImportError, match=r"Expected sb3-contrib .* 'graph-bandit-env\[sb3\]'"):
        agents.sb3.__getattr__("GraphSetMaskablePolicy")
    with pytest.raises(AttributeError, match="has no attribute 'GraphSetSAC'"):
        agents.sb3.__getattr__("GraphSetSAC")
