"""Studies of other libraries as campaigns."""

import pytest
from support.molecules import some_molecules

from graph_bandit_bridges.trials import PoolCampaigns, Trials
from graph_bandit_campaign import Campaign, Goal, Measurement

POOL = some_molecules(24)
VALUES = dict(zip(POOL.ids, POOL.targets.tolist(), strict=True))
AGENT = "molecule-ucb:short_list=10"
A, B, C, D, E, *_ = POOL.ids


def results(*keys, goal=""):
    return [Measurement(key, VALUES[key], 0, goal=goal) for key in keys]


def asked(campaign, count=3):
    return [each.id for each in campaign.ask(count)]


def test_a_campaign_knows_what_was_tried():
    state = PoolCampaigns(POOL, AGENT).after(Trials(results(A, B), [C], [D], [E])).state
    assert (state.means(), state.failed, state.pending) == ({A: VALUES[A], B: VALUES[B]}, (C,), (D,))
    assert list(state.vetoes) == [E]


def test_results_go_before_failures_and_these_before_what_waits_or_was_dropped():
    state = PoolCampaigns(POOL, AGENT).after(Trials(results(A), [A, B], [A, B, C], [A, B, C, D])).state
    assert (*state.settled(), *state.failed, *state.pending, *state.vetoes) == (A, B, C, D)


def test_a_graph_that_lacks_results_of_a_goal_is_pending():
    goals = [Goal("one"), Goal("two", "minimize")]
    told = [*results(A, B, goal="one"), *results(A, goal="two")]
    state = PoolCampaigns(POOL, AGENT).after(Trials(told), goals).state
    assert (list(state.settled()), state.pending) == ([A], (B,))


def test_what_is_chosen_depends_on_the_trials_and_not_on_earlier_campaigns():
    campaigns, told = PoolCampaigns(POOL, AGENT), results(*POOL.ids[:9])
    first = campaigns.after(Trials(told))
    chosen = asked(first)
    assert chosen == asked(campaigns.after(Trials(told)))
    smaller = campaigns.after(Trials(told), maximize=False)
    assert asked(smaller) != chosen
    assert asked(campaigns.after(Trials(told, dropped=chosen[:1])))[0] != chosen[0]
    assert asked(campaigns.after(Trials(told))) == chosen
    assert first.state.pending == tuple(chosen)
    direct = Campaign(POOL, AGENT)
    for key in POOL.ids[:9]:
        direct.tell({key: VALUES[key]})
    assert asked(direct) == chosen


def test_refuses_what_is_no_graph_of_the_pool():
    with pytest.raises(ValueError, match="no `X`"):
        PoolCampaigns(POOL, AGENT).after(Trials([Measurement("X", 1.0, 0)]))
