import pytest
import torch
from support.graph_policies import (
    FORMS,
    as_tensors,
    encoder_kwargs,
    logits_and_value,
    make_env,
    make_policy,
    space_of,
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


def test_a_graph_not_on_offer_has_probability_zero_and_where_none_is_all_scores_are_equal():
    observation, _ = make_env().reset(seed=0)
    policy = make_actor_critic(observation)
    observation["mask"][[1, 2]] = 0
    assert evaluate(policy, observation)[0].softmax(-1)[[1, 2]].tolist() == [0.0, 0.0]
    observation["mask"][:] = 0
    assert evaluate(policy, observation)[0].tolist() == [0.0] * 4


def test_learning_reaches_every_weight():
    observation, _ = make_env().reset(seed=0)
    policy = make_actor_critic(observation)
    scores, value = policy(as_tensors(observation))
    (scores.log_softmax(-1)[0, 1] + value.sum()).backward()
    assert all(weight.grad is not None for weight in policy.parameters())
    assert all(weight.grad.any() for weight in policy.encoder.parameters())
