import sys

import numpy as np
import pytest
import torch
from gymnasium.spaces import Discrete
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.env_checker import check_env
from support.graph_policies import (
    FORMS,
    Gine,
    easy_env,
    encoder_kwargs,
    graphs_with_edge_features,
    logits_and_value,
    make_env,
    make_policy,
    pad_more,
    permute_graphs,
    probabilities,
    renumber_nodes,
    space_of,
)
from support.graphs import ragged_graphs

import agents.sb3
from agents.padded import MeanNodeNetwork
from agents.sb3 import GraphSetMaskablePolicy, GraphSetPolicy
from graph_bandit_env import GraphSet

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


@pytest.mark.parametrize("network", NETWORKS)
def test_the_numbering_of_nodes_and_the_order_of_edges_mean_nothing(network):
    policy, observation = policy_and_observation("padded", graphs_with_edge_features(), [1, 1, 1, 0], network)
    renumbered = renumber_nodes(observation, np.random.default_rng(0))
    assert not np.array_equal(renumbered["x"], observation["x"])
    for found, expected in zip(
        logits_and_value(policy, renumbered), logits_and_value(policy, observation), strict=True
    ):
        assert close(found, expected)


@pytest.mark.parametrize("network", NETWORKS)
def test_more_padding_changes_nothing(network):
    policy, observation = policy_and_observation("padded", graphs_with_edge_features(), [1, 1, 0, 1], network)
    larger = pad_more(observation, graphs=5, nodes=3, edges=10)
    wider = make_policy(larger, network=network)
    (logits, value), (more_logits, more_value) = logits_and_value(policy, observation), logits_and_value(wider, larger)
    # The heads are products with other numbers of rows, which a library may add up in another order.
    assert close(more_logits[:4], logits)
    assert close(more_value, value)
    found = probabilities(wider, larger)
    assert torch.allclose(found[:4], probabilities(policy, observation), rtol=2e-5, atol=0)  # exp of twice that
    assert not found[4:].any()


def test_both_forms_of_observation_give_the_same_probabilities():
    found = [probabilities(*policy_and_observation(form, ragged_graphs(), 1, MeanNodeNetwork)) for form in FORMS]
    assert torch.equal(*found)


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


@pytest.mark.parametrize("form", FORMS)
def test_a_score_knows_what_else_is_on_offer(form):
    policy, observation = policy_and_observation(form, graphs_with_edge_features(), [1, 1, 1, 0], MeanNodeNetwork)
    before, _ = logits_and_value(policy, observation)
    observation["mask"][1] = 0
    after, _ = logits_and_value(policy, observation)
    assert (before[[0, 2]] != after[[0, 2]]).all()


def test_at_the_start_all_graphs_on_offer_are_almost_equally_likely():
    env = easy_env(actions_per_round=3)
    observation, _ = env.reset(seed=0)
    model = PPO(GraphSetPolicy, env, seed=0, device="cpu")
    expected = torch.as_tensor(observation["mask"]) / 3
    assert torch.allclose(probabilities(model.policy, observation), expected, rtol=0, atol=0.02)


def test_the_value_does_not_need_a_graph():
    policy, observation = policy_and_observation("padded", graphs_with_edge_features(), 0, Gine)
    logits, value = logits_and_value(policy, observation)
    assert logits.tolist() == [0.0] * 4
    assert value.isfinite()


def test_equal_graphs_are_equally_likely():
    graph = graphs_with_edge_features()[0]
    policy, observation = policy_and_observation("padded", [graph] * 5, 1, Gine)
    assert close(probabilities(policy, observation), torch.full((5,), 0.2))


@pytest.mark.parametrize("settings", [{"actions_per_round": 2}, {"replacement": False}], ids=["two", "used up"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("algorithm", POLICIES)
def test_training_never_plays_a_graph_that_is_not_on_offer(algorithm, form, settings):
    model = train(algorithm, make_env(form, **settings))  # the environment raises where one is played
    assert model.num_timesteps > 0


@pytest.mark.filterwarnings(  # three axes are taken for an image
    "ignore:It seems that your observation (space )?(x|edge_index|edge_attr) is an image:UserWarning",
    "ignore:The minimal resolution for an image is:UserWarning",
    "ignore:Treating image space as channels-last:UserWarning",
)
@pytest.mark.parametrize("form", FORMS)
def test_stable_baselines_accepts_the_wrapped_environment(form):
    assert check_env(make_env(form), skip_render_check=True) is None


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("algorithm", [PPO, MaskablePPO])
def test_a_model_that_was_saved_and_loaded_plays_the_same(algorithm, form, network, tmp_path):
    env = make_env(form, actions_per_round=3)
    model = train(algorithm, env, network=network)
    model.save(tmp_path / "model")
    loaded = algorithm.load(tmp_path / "model", device="cpu")
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        assert torch.equal(probabilities(loaded.policy, observation), probabilities(model.policy, observation))
        assert loaded.predict(observation, deterministic=True) == model.predict(observation, deterministic=True)


def test_a_loaded_model_goes_on_learning(tmp_path):
    env = make_env("indices")
    train(PPO, env).save(tmp_path / "model")
    loaded = PPO.load(tmp_path / "model", env=env, device="cpu")
    before = [weight.clone() for weight in loaded.policy.parameters()]
    loaded.learn(16)
    assert not any(torch.equal(a, b) for a, b in zip(before, loaded.policy.parameters(), strict=True))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("algorithm", POLICIES)
def test_the_optimizer_holds_exactly_the_weights_of_the_policy(algorithm, shared):
    kwargs = {"share_features_extractor": shared}
    model = algorithm(POLICIES[algorithm], make_env(), policy_kwargs=kwargs, device="cpu")
    held = [id(weight) for group in model.policy.optimizer.param_groups for weight in group["params"]]
    assert len(held) == len(set(held))
    assert set(held) == {id(weight) for weight in model.policy.parameters()}


@pytest.mark.parametrize("form", FORMS)
def test_weights_load_into_the_policy_of_another_number_of_graphs(form):
    small, large = (make_env(form, graphs_with_edge_features(sizes)) for sizes in ((3, 4), (5, 1, 7, 3, 9, 2)))
    model = train(PPO, small)
    other = PPO(GraphSetPolicy, large, policy_kwargs={"features_extractor_kwargs": encoder_kwargs(large)}, device="cpu")
    other.policy.load_state_dict(model.policy.state_dict())
    observation, _ = large.reset(seed=0)
    assert 0 <= other.predict(observation)[0] < 6


def test_the_weights_of_the_network_are_left_as_its_factory_makes_them():
    def pretrained(*dims):
        network = Gine(*dims)
        torch.nn.init.constant_(network.head.weight, 0.5)
        return network

    env = make_env()
    kwargs = {"features_extractor_kwargs": {"network": pretrained}}
    model = PPO(GraphSetPolicy, env, policy_kwargs=kwargs, device="cpu")
    assert (model.policy.features_extractor.network.head.weight == 0.5).all()


def test_hidden_layers_of_the_heads_are_set_by_net_arch():
    model = PPO(GraphSetPolicy, make_env(), policy_kwargs={"net_arch": {"pi": [8, 5], "vf": []}}, device="cpu")
    shapes = [tuple(weight.shape) for weight in model.policy.action_net.parameters() if weight.ndim == 2]
    assert shapes == [(8, 128), (5, 8), (1, 5)]
    assert [tuple(weight.shape) for weight in model.policy.value_net.parameters()] == [(1, 128), (1,)]


def test_there_must_be_an_action_for_each_graph():
    observation, _ = make_env().reset(seed=0)
    with pytest.raises(ValueError, match=r"Expected `Discrete\(4\)`, an action for each graph. Got Discrete\(3\)"):
        GraphSetPolicy(space_of(observation), Discrete(3), lambda _: 1e-3)


def test_the_maskable_policy_is_the_same_policy():
    env = make_env(actions_per_round=2)
    observation, _ = env.reset(seed=0)
    plain, maskable = (make_policy(observation, policy) for policy in (GraphSetPolicy, GraphSetMaskablePolicy))
    assert plain.state_dict().keys() == maskable.state_dict().keys()
    assert torch.equal(probabilities(plain, observation), probabilities(maskable, observation))
    (allowed,) = [index for index in np.flatnonzero(observation["mask"]) if index != 1][:1]
    only = np.arange(4) == allowed
    assert maskable.predict(observation, action_masks=only)[0] == allowed


def test_without_sb3_contrib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "agents.sb3.maskable")
    monkeypatch.setitem(sys.modules, "sb3_contrib.common.maskable.policies", None)
    with pytest.raises(ImportError, match=r"Expected sb3-contrib .* 'graph-bandit-env\[sb3\]'"):
        agents.sb3.__getattr__("GraphSetMaskablePolicy")
    with pytest.raises(AttributeError, match="has no attribute 'GraphSetSAC'"):
        agents.sb3.__getattr__("GraphSetSAC")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_ppo_learns_to_play_the_best_graph(form):
    env = easy_env(form)
    env.reset(seed=0)
    model = train(PPO, env, 768, n_steps=128, batch_size=64, n_epochs=10, gamma=0.0, learning_rate=3e-3)
    observation, _ = env.reset()
    assert model.predict(observation, deterministic=True)[0] == 3
    assert probabilities(model.policy, observation)[3] > 0.8


@pytest.mark.slow
def test_what_was_learnt_holds_for_graphs_that_come_later():
    env = easy_env()
    model = train(PPO, env, 768, n_steps=128, batch_size=64, n_epochs=10, gamma=0.0, learning_rate=3e-3)
    graphs = GraphSet.from_pyg(list(reversed(env.unwrapped.graph_set.to_pyg()))[:3])
    observation, _ = make_env(graphs=graphs).reset(seed=0)
    policy = make_policy(observation)
    policy.load_state_dict(model.policy.state_dict())
    assert policy.predict(observation, deterministic=True)[0] == 0
