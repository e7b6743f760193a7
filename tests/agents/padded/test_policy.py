import subprocess
import sys

import numpy as np
import pytest
import torch
from support import ROOT
from support.graph_policies import (
    FORMS,
    as_tensors,
    encoder_kwargs,
    graphs_with_edge_features,
    logits_and_value,
    make_env,
    make_policy,
    permute_graphs,
    space_of,
    stack,
)
from torch import nn

from agents.padded import GraphSetActorCritic


def make_actor_critic(observation, **settings):
    """An actor-critic whose scores differ from graph to graph, as after training."""
    torch.manual_seed(0)
    policy = GraphSetActorCritic(space_of(observation), **settings)
    for weight in (policy.scorer.layers[-1].weight, policy.value.layers[-1].weight):
        nn.init.normal_(weight)
    return policy


@torch.no_grad()
def evaluate(policy, observation):
    return policy({key: torch.as_tensor(array) for key, array in observation.items()})


@pytest.mark.parametrize("form", FORMS)
def test_scores_and_value_are_those_of_the_policy_for_stable_baselines(form):
    env = make_env(form, actions_per_round=3)
    observation, _ = env.reset(seed=0)
    expected = make_policy(observation, **encoder_kwargs(env))
    policy = GraphSetActorCritic(space_of(observation), **encoder_kwargs(env))
    policy.encoder.load_state_dict(expected.features_extractor.state_dict())
    policy.scorer.load_state_dict(expected.action_net.state_dict())
    policy.value.load_state_dict(expected.value_net.state_dict())
    with torch.no_grad():
        scores, value = policy(as_tensors(observation))
    logits, other = logits_and_value(expected, observation)
    assert torch.equal(scores[0], logits)
    assert torch.equal(value, other)


@pytest.mark.parametrize("lead", [(), (6,), (3, 2), (1, 2, 3)])
def test_any_leading_dimensions_are_kept(lead):
    observations = [make_env(actions_per_round=k % 4 + 1).reset(seed=k)[0] for k in range(6)][: int(np.prod(lead))]
    policy = make_actor_critic(observations[0])
    stacked = {key: array.reshape(*lead, *array.shape[1:]) for key, array in stack(*observations).items()}
    scores, values = evaluate(policy, stacked)
    assert scores.shape == (*lead, 4)
    assert values.shape == lead
    for observation, score, value in zip(observations, scores.reshape(-1, 4), values.reshape(-1), strict=True):
        expected, other = evaluate(policy, observation)  # in float32, with other numbers of rows
        assert torch.allclose(score, expected, atol=1e-5)
        assert torch.allclose(value, other, atol=1e-5)


def test_scores_follow_the_graphs_and_the_value_stays():
    observation, _ = make_env(graphs=graphs_with_edge_features()).reset(seed=0)
    policy, order = make_actor_critic(observation), [2, 0, 3, 1]
    (scores, value), (turned, same) = (evaluate(policy, o) for o in (observation, permute_graphs(observation, order)))
    assert scores.std() > 1e-3
    assert torch.allclose(turned, scores[order], atol=1e-5)
    assert torch.allclose(same, value, atol=1e-5)


def test_a_graph_not_on_offer_has_probability_zero_and_where_none_is_all_scores_are_equal():
    observation, _ = make_env().reset(seed=0)
    policy = make_actor_critic(observation)
    observation["mask"][[1, 2]] = 0
    assert evaluate(policy, observation)[0].softmax(-1)[[1, 2]].tolist() == [0.0, 0.0]
    observation["mask"][:] = 0
    assert evaluate(policy, observation)[0].tolist() == [0.0] * 4


def test_at_the_start_all_graphs_are_almost_equally_likely_and_the_settings_shape_the_heads():
    observation, _ = make_env().reset(seed=0)
    policy = GraphSetActorCritic(space_of(observation), features_dim=8, hidden=(5, 3), activation=nn.ReLU)
    assert torch.allclose(evaluate(policy, observation)[0].softmax(-1), torch.full((4,), 0.25), atol=0.02)
    shapes = [tuple(weight.shape) for weight in policy.scorer.parameters() if weight.ndim == 2]
    assert shapes == [(5, 16), (3, 5), (1, 3)]
    assert [type(layer) for layer in policy.value.layers[1::2]] == [nn.ReLU, nn.ReLU]


def test_learning_reaches_every_weight():
    observation, _ = make_env().reset(seed=0)
    policy = make_actor_critic(observation)
    scores, value = policy(as_tensors(observation))
    (scores.log_softmax(-1)[0, 1] + value.sum()).backward()
    assert all(weight.grad is not None for weight in policy.parameters())
    assert all(weight.grad.any() for weight in policy.encoder.parameters())


def test_it_needs_no_library_of_learners():
    code = "import sys, agents.padded as a; a.GraphSetActorCritic; print('stable_baselines3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"
