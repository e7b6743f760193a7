"""Batches of every registered agent that can choose them."""

import copy

import numpy as np
import pytest
import torch

import registry
from agents.beliefs.batches import choose_batch
from agents.beliefs.belief import Belief
from agents.beliefs.rules import Greedy, ThompsonSampling, UpperConfidenceBound

EVERY = torch.ones(4, dtype=torch.bool)


def believe(mean, covariance):
    mean, covariance = torch.tensor(mean, dtype=torch.float64), torch.tensor(covariance, dtype=torch.float64)
    return Belief(mean, covariance.diagonal().sqrt(), root=lambda: torch.linalg.cholesky(covariance))


def forbidden(action):
    pytest.fail(f"hallucinated {action}")


@pytest.mark.parametrize("sampling", ["independent", "joint"])
def test_a_rule_that_draws_rewards_draws_them_anew(sampling):
    belief = believe([0.0] * 4, np.eye(4))
    generator = torch.Generator().manual_seed(0)
    firsts = {
        tuple(choose_batch(ThompsonSampling(sampling), belief, EVERY, 2, generator, forbidden)) for _ in range(99)
    }
    assert len(firsts) == 12  # every ordered pair comes up


@pytest.mark.parametrize(
    ("others", "count", "expected", "fantasized"),
    [
        ({}, 3, [0, 1, 2], [0, 1]),  # of each choice but the last
        ({"pending": [1, 3]}, 2, [0, 2], [1, 3, 0]),
        ({"awaiting": [0, 2, 0]}, 2, [0, 1], [0, 2, 0, 0]),  # once for each time, and may be chosen again
    ],
)
def test_any_other_rule_is_told_of_what_is_chosen_under_way_and_awaited(others, count, expected, fantasized):
    told, mean = [], [3.0, 2.0, 1.0, 0.0]

    def hallucinate(*actions):
        told.extend(actions)
        return believe(mean, 1e-9 * np.eye(4))

    args = believe(mean, np.eye(4)), EVERY
    assert choose_batch(UpperConfidenceBound(), *args, count, torch.Generator(), hallucinate, **others) == expected
    assert told == fantasized
    with pytest.raises(ValueError, match="on offer"):
        choose_batch(Greedy(), *args, 3, torch.Generator(), hallucinate, pending=[1, 3])


@pytest.fixture(params=["gnn-ts", "nn-pe", "gntk-ucb", "gp-ei"])
def agent(request, small_env):
    small = {"width": 16, "steps": 5} if request.param.startswith(("gnn", "nn")) else {}
    agent = registry.make_agent(request.param, **small)
    agent.reset(small_env().reset(seed=0)[0], seed=1)
    return agent


def test_hallucination_leaves_the_agent_as_it_was(agent):
    agent.update(None, [0, 3], [0.5, -1.0])
    before, twin = agent.predict(), copy.deepcopy(agent)
    agent.select_batch(None, 4, pending=[1])
    twin.select_action(None)
    states = agent.rule.state_dict(), twin.rule.state_dict()
    np.testing.assert_equal(*({name: np.asarray(value) for name, value in one.items()} for one in states))
    after = agent.predict()
    np.testing.assert_array_equal(after.mean, before.mean)
    np.testing.assert_array_equal(after.std, before.std)
