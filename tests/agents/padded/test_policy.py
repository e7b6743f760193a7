import numpy as np
import pytest
import torch
from support.graph_policies import (
    FORMS,
    Gine,
    as_tensors,
    encoder_kwargs,
    graphs_with_edge_features,
    make_env,
    space_of,
)
from torch import nn

from agents.padded import GraphSetActorCritic, MeanNodeNetwork


@torch.no_grad()
def evaluate(form, graphs, offered, network=MeanNodeNetwork):
    """Scores and value of a policy whose scores differ from graph to graph, as after training."""
    env = make_env(form, graphs)
    observation, _ = env.reset(seed=0)
    observation["mask"][:] = offered
    torch.manual_seed(0)
    policy = GraphSetActorCritic(space_of(observation), **encoder_kwargs(env, network=network))
    for head in (policy.scorer, policy.value):
        nn.init.normal_(head.layers[-1].weight)
    return policy({key: torch.as_tensor(array) for key, array in observation.items()})


def close(found, expected):
    """Equal but for the order of sums: of at most 129 float32 terms of about 1, an eps of 1e-7 each."""
    return torch.allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("network", [MeanNodeNetwork, Gine])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offered", [[1, 1, 1, 1], [1, 0, 1, 1]], ids=["all", "some"])
def test_scores_follow_the_graphs_and_the_value_stays(form, offered, network):
    graphs, order = graphs_with_edge_features(), [2, 0, 3, 1]
    scores, value = evaluate(form, graphs, offered, network)
    turned, same = evaluate(form, [graphs[k] for k in order], np.array(offered)[order], network)
    assert scores[np.array(offered) == 1].std() > 1e-3  # else the test would say nothing
    assert close(turned, scores[order])
    assert close(same, value)


@pytest.mark.parametrize("form", FORMS)
def test_a_graph_not_on_offer_has_probability_zero_and_does_not_matter(form):
    graphs, others = graphs_with_edge_features(), graphs_with_edge_features((5, 4, 7, 9))
    scores, value = evaluate(form, graphs, [1, 0, 1, 0])
    assert scores.softmax(-1)[[1, 3]].tolist() == [0.0, 0.0]
    found, same = evaluate(form, [graphs[0], others[1], graphs[2], others[3]], [1, 0, 1, 0])
    assert close(found, scores)  # a held set is embedded whole: other rows, another order
    assert close(same, value)
    assert evaluate(form, graphs, [0, 0, 0, 0])[0].tolist() == [0.0] * 4


def test_learning_reaches_every_weight():
    observation, _ = make_env().reset(seed=0)
    policy = GraphSetActorCritic(space_of(observation), network=Gine)
    scores, value = policy(as_tensors(observation))
    (scores.log_softmax(-1)[0, 1] + value.sum()).backward()
    assert all(weight.grad is not None for weight in policy.parameters())
    assert all(weight.grad.any() for weight in policy.encoder.parameters())
