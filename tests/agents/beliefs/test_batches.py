"""Batches of every registered agent that can choose them."""

import copy

import numpy as np
import pytest
import torch

import registry
from agents.beliefs.batches import check_count, choose_batch
from agents.beliefs.belief import Belief
from agents.beliefs.rules import Greedy, ThompsonSampling, UpperConfidenceBound
from agents.contract.abilities import LateLearner
from agents.contract.protocol import BatchAgent

NAMES = [name for name in registry.list_agents() if registry.agent_needs(name) == "any"]
PROCESSES = ("gntk", "gp", "lin", "squarecb", "wl")
BATCH = [name for name in NAMES if name.startswith(("gnn", "nn", "neural", *PROCESSES, "epsilon"))]
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


def test_nothing_is_chosen_twice_or_against_the_mask():
    belief = believe([3.0, 2.0, 1.0, 0.0], np.eye(4))
    mask = torch.tensor([True, False, True, True])
    assert choose_batch(Greedy(), belief, mask, 3, torch.Generator(), lambda action: belief) == [0, 2, 3]
    with pytest.raises(ValueError, match="from 1 to 3, which are on offer. Got 4"):
        choose_batch(Greedy(), belief, mask, 4, torch.Generator(), lambda action: belief)


@pytest.mark.parametrize("count", [0, -1, True, 1.0, None])
def test_a_number_of_graphs_is_a_positive_integer(count):
    with pytest.raises(ValueError, match="from 1 to 4, which are on offer"):
        check_count(count, EVERY)


def test_a_number_of_graphs_may_be_of_numpy():
    belief = believe([3.0, 2.0, 1.0, 0.0], np.eye(4))
    for count in (np.int64(1), np.int64(4)):
        assert len(choose_batch(Greedy(), belief, EVERY, count, torch.Generator(), lambda action: belief)) == count


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


def test_a_rule_that_draws_rewards_imagines_nothing_of_what_is_under_way():
    belief = believe([3.0, 2.0, 1.0, 0.0], 1e-9 * np.eye(4))
    rule, generator = ThompsonSampling("independent"), torch.Generator().manual_seed(0)
    assert choose_batch(rule, belief, EVERY, 2, generator, forbidden, pending=[0]) == [1, 2]
    assert choose_batch(rule, belief, EVERY, 2, generator, forbidden, awaiting=[0]) == [0, 1]


@pytest.fixture(params=BATCH)
def agent(request, small_env):
    small = {} if request.param.startswith(PROCESSES) else {"width": 16, "steps": 5}
    agent = registry.make_agent(request.param, **small)
    agent.reset(small_env().reset(seed=0)[0], seed=1)
    return agent


def test_these_are_batch_agents_and_the_others_are_not(agent):
    assert isinstance(agent, BatchAgent)
    for name in set(NAMES) - set(BATCH):
        assert not isinstance(registry.make_agent(name), BatchAgent)


def test_a_batch_before_and_after_results(agent):
    for _ in range(2):
        chosen = agent.select_batch(None, 4, [1, 1, 0, 1, 1, 1], pending=[5])
        assert sorted(chosen) == [0, 1, 3, 4]
        assert all(type(action) is int for action in chosen)
        agent.update(None, chosen, [0.1, 0.5, -0.3, 0.2])


def test_with_no_reward_on_its_way_the_choice_is_the_usual_one(agent):
    assert isinstance(agent, LateLearner)
    agent.update(None, [0, 3], [0.5, -1.0])
    alone, several, twin = (copy.deepcopy(agent) for _ in range(3))
    assert alone.select_awaiting(None, 1, []) == [twin.select_action(None)]
    assert several.select_awaiting(None, 3, ()) == agent.select_batch(None, 3)


def test_what_is_awaited_counts_as_what_is_pending_but_may_be_chosen(agent):
    """Where the mask excludes it, both choose the same; `epsilon-greedy` and `squarecb` for once without luck."""
    agent.rule.epsilon, agent.rule.gap_weight = 0.0, 1e9
    agent.update(None, [0, 3], [0.5, -1.0])
    twin = copy.deepcopy(agent)
    chosen = agent.select_awaiting(None, 2, [1, 4], [1, 0, 1, 1, 0, 1])
    assert chosen == twin.select_batch(None, 2, pending=[1, 4])
    assert len(agent.select_awaiting(None, 6, [1, 1, 4])) == 6


@pytest.mark.parametrize("wrong", [[6], [-1], [0.5], [[0]], ["a"]])
def test_what_is_awaited_must_be_graphs_of_the_set(agent, wrong):
    with pytest.raises(ValueError, match="`awaiting` to be integers from 0 to 5"):
        agent.select_awaiting(None, 1, wrong)


def test_an_upper_bound_falls_where_rewards_are_awaited(small_env):
    agent = registry.make_agent("gntk-ucb", output_scale=1.0, noise_variance=0.01)
    agent.reset(small_env().reset(seed=0)[0], seed=1)
    agent.update(None, [0, 1], [0.5, -1.0])
    again = agent.select_action(None)
    told = copy.deepcopy(agent)
    for _ in range(9):
        told.update(None, again, agent.predict().mean[again])  # rewards that change no mean, as far as that can be
    assert agent.select_awaiting(None, 1, [again] * 9) != [again]
    assert told.select_action(None) != again


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


@pytest.mark.parametrize("rewards", [[3.0], [3.0, 3.0, 3.0]])
def test_one_reward_or_equal_ones_leave_the_others_uncertain(agent, rewards):
    agent.update(None, list(range(len(rewards))), rewards)
    told = agent.predict()
    assert told.noise_std > 1e-3
    assert told.std[3:].min() > 0.05


def test_predictions_are_in_reward_units(agent):
    agent.update(None, [0, 1, 2, 3], [10.0, 30.0, 50.0, 20.0])
    told = agent.predict()
    assert told.mean.shape == told.std.shape == (6,)
    assert 0 < told.mean.mean() < 60
    assert (told.std >= 0).all()
    assert told.std[4:].max() > 0.5
    assert 0 < told.noise_std < 60


def test_played_graphs_are_surer_than_before(agent):
    before = agent.predict().std[0] / agent.predict().noise_std
    agent.update(None, [0] * 20, np.linspace(-1, 1, 20))
    told = agent.predict()
    assert told.std[0] / told.noise_std < before
