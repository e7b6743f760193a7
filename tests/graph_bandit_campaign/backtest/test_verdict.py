from dataclasses import replace

import numpy as np
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign.backtest.pages.verdict import advice, verdicts
from graph_bandit_campaign.backtest.plays import Play, Task, random_order
from graph_bandit_campaign.backtest.summary import summarize
from graph_bandit_campaign.backtest.table import Table

TABLE = Table(some_molecules(40), np.arange(40.0), maximize=True, start=4, budget=20)
BEST_FIRST, WORST_FIRST = range(39, -1, -1), range(40)


def summary(*orders, others=(), table=TABLE):
    """Return a summary of agents that measure molecules in an order, whatever comes back."""

    def plays_of(name, order):
        for start in range(6):
            first = random_order(40, 0, start)[:4].tolist()
            whole = [*first, *(k for k in order(start) if k not in first)][:20]
            told = np.r_[np.full(4, np.nan), np.full(16, 0.25)] if name.startswith("agent") else np.full(20, np.nan)
            yield Task(name, 4, start), Play(np.array(whole), told)

    named = {f"agent{k}": order for k, order in enumerate(orders)} | {f"other{k}": o for k, o in enumerate(others)}
    plays = dict(pair for name, order in named.items() for pair in plays_of(name, order))
    tasks = [Task(name, 4, 0) for name in named]
    return summarize(table, 0, 6, plays, tasks[: len(orders)], tasks[len(orders) :])


def by_chance(start):
    return np.random.default_rng(start + 100).permutation(40)


@pytest.mark.parametrize(
    ("order", "headline"),
    [
        (lambda start: BEST_FIRST, "It would have helped."),
        (by_chance, "It would not have helped"),
        (lambda start: WORST_FIRST, "It would have done harm"),
    ],
)
def test_the_headline_follows_from_the_difference_to_random_choice(order, headline):
    (verdict,) = verdicts(summary(order))
    assert verdict.headline.startswith(headline)


def test_starts_that_share_their_luck_are_no_evidence():
    lucky = [*(39, 38, 37, 0, 36), *range(3, 20)]  # the same from every start
    found = summary(lambda start: lucky)
    (verdict,) = verdicts(found)
    assert found.gain(found.best, found.random).low > 0
    assert verdict.headline.startswith("It would not have helped, as far as can be told: the difference may be luck")


@pytest.mark.parametrize("maximize", [True, False])
def test_ties_among_the_ten_best_are_told(maximize):
    values = np.minimum(np.arange(40.0), 15) * (1 if maximize else -1)
    tied = replace(TABLE, values=values, maximize=maximize)
    (verdict,) = verdicts(summary(by_chance, table=tied))
    assert verdict.headline.startswith("Whether it would have helped cannot be told: the ten best are tied")
    assert f"25 of 40 molecules share the tenth best value, {values[-1]:g}," in verdict.reasons[1]
    (other,) = verdicts(summary(by_chance))
    assert not any("share the tenth best" in reason for reason in other.reasons)


def test_several_agents_are_ranked_and_the_advice_says_how_sure_it_is():
    clear = summary(lambda start: WORST_FIRST, lambda start: BEST_FIRST)
    assert verdicts(clear)[0].headline.startswith("agent1: It would have helped")
    assert advice(clear).startswith("agent1 served best here, in 100 % of the draws")
    assert "That is not sure" not in advice(clear)
    even = summary(lambda start: BEST_FIRST, lambda start: BEST_FIRST)
    assert "in 50 % of the draws" in advice(even)
    assert "That is not sure" in advice(even)
    assert advice(summary(by_chance)) == ""
