"""Budgets and caps: never exceeded, and as somebody would choose who goes down a list."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.molecules import some_molecules

from agents.contract import ModelAgent
from graph_bandit_campaign import BatchConstraints, Campaign, Goal
from graph_bandit_campaign.model.choice import check_batch, choose_batch, most_allowed, spare_likely

MOLECULES = some_molecules(30)


class InOrder:
    """Choose the graphs of lowest index; one at a time, or several."""

    settings = None

    def reset(self, observation, seed=0, graph_set=None): ...

    def update(self, observation, action, reward): ...

    def select_action(self, observation, action_mask=None):
        return int(np.flatnonzero(action_mask)[0])

    def state_dict(self): ...

    def load_state_dict(self, state): ...


class BatchInOrder(InOrder):
    def select_batch(self, observation, count, action_mask=None, pending=()):
        assert not np.asarray(action_mask)[list(pending)].any()
        return np.flatnonzero(action_mask)[:count].tolist()

    def predict(self): ...


class ForTheMoney(BatchInOrder, ModelAgent):
    """Weigh prices as far as to accept them; `fits` is not asked, as the protocol allows."""

    def select_priced(self, observation, count, prices, action_mask=None, pending=(), fits=None):
        return self.select_batch(observation, count, action_mask, pending)


class Attentive(BatchInOrder, ModelAgent):
    def select_priced(self, observation, count, prices, action_mask=None, pending=(), fits=None):
        chosen, left = [], np.array(action_mask)
        while len(chosen) < count and left.any():
            chosen.append(int(np.flatnonzero(left)[0]))
            left[chosen[-1]] = False
            left &= fits(chosen)
        return chosen


def go_down_the_list(count, mask, constraints):
    """Take each graph that still fits."""
    chosen, money, taken = [], constraints.budget or np.inf, Counter()
    for k in np.flatnonzero(mask).tolist():
        price = 1.0 if constraints.prices is None else constraints.prices[k]
        group = constraints.groups[k] if constraints.groups else ""
        is_full = group and taken[group] == constraints.max_per_group
        if len(chosen) == count or np.isnan(price) or price > money or is_full:
            continue
        chosen.append(k)
        money -= price
        taken[group] += 1
    return chosen


@given(st.data())
def test_every_agent_chooses_what_the_next_on_its_list_would_be(data):
    size = data.draw(st.integers(1, 12))
    prices = data.draw(st.lists(st.sampled_from([1.0, 2.0, 5.0, 8.0, np.nan]), min_size=size, max_size=size))
    groups = data.draw(st.lists(st.sampled_from(["", "a", "b"]), min_size=size, max_size=size))
    max_per_group, budget = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([None, 6.0, 9.0, 20.0]))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    constraints = BatchConstraints(prices=prices, budget=budget, groups=groups, max_per_group=max_per_group)
    left = mask & ~np.isnan(prices)
    allowed = most_allowed(left, constraints)
    if not allowed or min(np.array(prices)[left]) > (budget or np.inf):
        return
    count = data.draw(st.integers(1, allowed))
    expected = go_down_the_list(count, mask, constraints)
    for agent in (ForTheMoney(), Attentive()):
        chosen = choose_batch(agent, count, mask, (), constraints)
        assert chosen == expected
        assert np.array(prices)[chosen].sum() <= (budget or np.inf)
        assert max(Counter(groups[k] for k in chosen if groups[k]).values(), default=0) <= max_per_group


@given(st.lists(st.sampled_from(["", "a", "b"]), min_size=1, max_size=9), st.integers(1, 3))
def test_caps_need_no_agent_that_weighs_prices(groups, max_per_group):
    constraints = BatchConstraints(groups=groups, max_per_group=max_per_group, prices=3.0, budget=1e6)
    mask = np.ones(len(groups), bool)
    count = most_allowed(mask, constraints)
    listed = BatchConstraints(groups=groups, max_per_group=max_per_group)
    for agent in (InOrder(), BatchInOrder()):
        assert choose_batch(agent, count, mask, (), constraints) == go_down_the_list(count, mask, listed)


@given(st.data())
def test_as_many_are_allowed_as_the_largest_choice_holds(data):
    groups = data.draw(st.lists(st.sampled_from(["", "a", "b"]), min_size=1, max_size=8))
    max_per_group = data.draw(st.integers(1, 3))
    largest = 0
    for bits in range(2 ** len(groups)):
        chosen = [group for k, group in enumerate(groups) if bits >> k & 1]
        if all(number <= max_per_group for group, number in Counter(chosen).items() if group):
            largest = max(largest, len(chosen))
    constraints = BatchConstraints(groups=groups, max_per_group=max_per_group)
    assert most_allowed(np.ones(len(groups), bool), constraints) == largest


def spare_few(count, likely, probability, constraints):
    """Let likely failures come back one by one, the least likely first, until a batch can be made of what there is."""
    spared, others = ~likely, np.flatnonzero(likely)
    for k in [None, *others[np.argsort(probability[others], kind="stable")]]:
        if k is not None:
            spared[k] = True
        try:
            check_batch(count, spared, constraints)
        except ValueError:
            continue
        break
    return spared


@given(st.data())
def test_as_few_likely_failures_come_back_as_a_batch_needs(data):
    size, count = data.draw(st.integers(6, 40)), data.draw(st.integers(1, 5))
    generator = np.random.default_rng(data.draw(st.integers(0, 1000)))
    probability = generator.uniform(0.3, 1, size).round(1)
    likely = probability > data.draw(st.sampled_from([0.3, 0.6, 0.8]))
    prices, groups = generator.uniform(1, 3, size).round(), generator.choice(["", *"abcdef"], size).tolist()
    budget, max_per_group = data.draw(st.sampled_from([1.0, 2.0, 9.0])), data.draw(st.integers(1, 2))
    constraints = BatchConstraints(prices=prices, budget=budget, groups=groups, max_per_group=max_per_group)
    expected = spare_few(count, likely, probability, constraints)
    assert (spare_likely(count, np.full(size, True), likely, probability, constraints) == expected).all()


def begin(name="molecule-ucb:short_list=12"):
    campaign = Campaign(MOLECULES, name)
    campaign.tell(dict(zip(MOLECULES.ids[:10], MOLECULES.targets[:10].tolist(), strict=True)))
    return campaign


def ids(suggestions):
    return [suggestion.id for suggestion in suggestions]


@pytest.mark.parametrize("name", ["molecule-ucb", "molecule-ts"])
def test_equal_prices_suggest_what_no_prices_suggest(name):
    free = ids(begin(name).ask(6))
    assert ids(begin(name).ask(6, constraints=BatchConstraints(prices=4.0))) == free
    assert ids(begin(name).ask(6, constraints=BatchConstraints(prices=4.0, budget=13.0))) == free[:3]


def test_a_sum_of_decimal_prices_may_meet_the_budget():
    assert len(begin().ask(3, constraints=BatchConstraints(prices=0.1, budget=0.3))) == 3  # 0.1 + 0.1 + 0.1 > 0.3


def test_what_cannot_be_is_refused_and_nothing_changes():
    campaign = begin()
    before = campaign.state
    for constraints, message in (
        (BatchConstraints(groups=["a"] * 30, max_per_group=2), "2"),
        (BatchConstraints(prices=np.linspace(10, 20, 30), budget=5), "budget"),
        (BatchConstraints(prices=[1.0] * 12 + [np.nan] * 18), "price"),
        (BatchConstraints(prices=[1.0] * 3), "price"),
    ):
        with pytest.raises(ValueError, match=message):
            campaign.ask(4, constraints=constraints)
        assert campaign.state == before
    with pytest.raises(ValueError, match="price"):
        begin("random").ask(4, constraints=BatchConstraints(prices=np.linspace(1, 2, 30)))


def test_an_agent_that_does_not_weigh_prices_keeps_a_budget_that_they_count_for_alone():
    constraints = BatchConstraints(prices=np.arange(1.0, 9.0), budget=12.0, budget_only=True)
    mask = np.ones(8, np.bool_)
    assert (
        choose_batch(BatchInOrder(), 6, mask, (), constraints) == go_down_the_list(6, mask, constraints) == [0, 1, 2, 3]
    )


def test_prices_that_differ_are_weighed_for_several_goals_and_a_budget_holds():
    def chosen(**given):
        campaign = Campaign(MOLECULES, "molecule-ucb:short_list=20", goals=[Goal("a"), Goal("b", "minimize")])
        for name, period in (("a", 5), ("b", 3)):
            campaign.tell({key: float(k % period) for k, key in enumerate(MOLECULES.ids[:8])}, goal=name)
        return [MOLECULES.ids.index(each.id) for each in campaign.ask(6, constraints=BatchConstraints(**given))]

    prices = np.where(np.arange(30) % 2, 1000.0, 1.0)
    assert any(prices[chosen()] > 1)
    assert all(prices[chosen(prices=prices)] == 1)
    prices = np.linspace(1, 2, 30)
    picked = chosen(prices=prices, budget=4.5)
    assert 4.5 - prices[[k for k in range(8, 30) if k not in picked]].min() < prices[picked].sum() <= 4.5
