"""Batches of every registered agent that can choose them."""

import copy

import numpy as np
import pytest
import torch

import registry
from agents.beliefs.batches import choose_batch
from agents.beliefs.belief import Belief
from agents.beliefs.rules import Greedy, ThompsonSampling, UpperConfidenceBound

PROCESSES = ("gntk", "gp", "lin", "squarecb", "wl")
BATCH = ("gnn-ts", "nn-pe", "gntk-ucb", "gp-ei")
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


def test_any_other_rule_is_told_of_each_choice_but_the_last():
    told = []

    def hallucinate(*actions):
        told.extend(actions)
        return believe([3.0, 2.0, 1.0, 0.0], 1e-9 * np.eye(4))

    belief = believe([3.0, 2.0, 1.0, 0.0], np.eye(4))
    assert choose_batch(UpperConfidenceBound(), belief, EVERY, 3, torch.Generator(), hallucinate) == [0, 1, 2]
    assert told == [0, 1]


def test_what_is_under_way_counts_as_chosen():
    told = []

    def hallucinate(*actions):
        told.extend(actions)
        return believe([3.0, 2.0, 1.0, 0.0], 1e-9 * np.eye(4))

    belief = believe([3.0, 2.0, 1.0, 0.0], np.eye(4))
    chosen = choose_batch(UpperConfidenceBound(), belief, EVERY, 2, torch.Generator(), hallucinate, pending=[1, 3])
    assert chosen == [0, 2]
    assert told == [1, 3, 0]
    with pytest.raises(ValueError, match="from 1 to 2, which are on offer"):
        choose_batch(Greedy(), belief, EVERY, 3, torch.Generator(), hallucinate, pending=[1, 3])


def test_what_is_awaited_is_imagined_once_for_each_time_and_may_be_chosen_again():
    told = []

    def hallucinate(*actions):
        told.extend(actions)
        return believe([3.0, 2.0, 1.0, 0.0], 1e-9 * np.eye(4))

    belief = believe([3.0, 2.0, 1.0, 0.0], 25 * np.eye(4))
    chosen = choose_batch(UpperConfidenceBound(), belief, EVERY, 2, torch.Generator(), hallucinate, awaiting=[0, 2, 0])
    assert chosen == [0, 1]
    assert told == [0, 2, 0, 0]


@pytest.fixture(params=BATCH)
def agent(request, small_env):
    small = {} if request.param.startswith(PROCESSES) else {"width": 16, "steps": 5}
    agent = registry.make_agent(request.param, **small)
    agent.reset(small_env().reset(seed=0)[0], seed=1)
    return agent


def test_hallucination_leaves_the_agent_as_it_was(agent):
    agent.update(None, [0, 3], [0.5, -1.0])
    before, twin = agent.predict(), copy.deepcopy(agent)
    agent.select_batch(None, 4, pending=[1])
    twin.select_action(None)
    assert_equal_states(agent.rule.state_dict(), twin.rule.state_dict())  # as if one graph had been chosen
    after = agent.predict()
    np.testing.assert_array_equal(after.mean, before.mean)
    np.testing.assert_array_equal(after.std, before.std)


def assert_equal_states(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert torch.equal(found[name], value) if isinstance(value, torch.Tensor) else found[name] == value
