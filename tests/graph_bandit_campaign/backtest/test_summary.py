import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.molecules import some_molecules

from graph_bandit_campaign.backtest.page import interval, rows, summarize, verdicts
from graph_bandit_campaign.backtest.plays import Task, random_order
from graph_bandit_campaign.backtest.table import Table

MOLECULES = some_molecules(40)
VALUES = np.arange(40.0)
TABLE = Table(MOLECULES, VALUES, maximize=True, start=4, budget=20)
BEST_FIRST, WORST_FIRST = range(39, -1, -1), range(40)


def play_after_start(start, chosen):
    """Measure the molecules `chosen` after a random start, then what is left."""
    first = random_order(40, 0, start)[:4].tolist()
    rest = [k for k in (*chosen, *range(40)) if k not in first]
    return np.array([*first, *dict.fromkeys(rest)])[:20]


def summary(*orders, others=(WORST_FIRST,), starts=6, table=TABLE):
    """Return a summary of agents that measure molecules in an order, whatever comes back."""
    named = {f"agent{k}": order for k, order in enumerate(orders or [BEST_FIRST])}
    tasks = [Task(name, 4, 0) for name in (*named, *(f"other{k}" for k in range(len(others))))]
    plays = {
        task._replace(start=start): play_after_start(start, order(start) if callable(order) else order)
        for task, order in zip(tasks, (*named.values(), *others), strict=True)
        for start in range(starts)
    }
    plays |= {Task("random", 1, k): random_order(40, 0, k)[:20] for k in range(starts)}
    return summarize(table, 0, plays, tasks[: len(named)], tasks[len(named) :])


def by_chance(start):
    return np.random.default_rng(start + 100).permutation(40)


def test_ten_best_are_values_so_ties_are_interchangeable():
    values = np.array([1.0] * 20 + [2.0] * 15 + [3.0] * 5)
    table = Table(MOLECULES, values, maximize=True, start=4, budget=20)
    assert table.count_best(np.array([39, 38, 20, 0, 21])).tolist() == [1, 2, 3, 3, 4]
    assert table.count_best(np.arange(39, -1, -1))[-1] == 10
    small = Table(MOLECULES, values, maximize=False, start=4, budget=20)
    assert small.count_best(np.array([[39, 0, 1], [0, 39, 38]])).tolist() == [[0, 1, 2], [1, 1, 1]]


def test_random_choice_is_followed_until_it_has_found_as_many():
    _, agent, by_chance, _ = rows(summary())
    needed = np.mean([np.flatnonzero(random_order(40, 0, k) >= 30)[-1] + 1 for k in range(6)])
    assert (agent[1].split()[0], agent[3].split()[0]) == ("10.0", f"{needed:.0f}")
    assert float(by_chance[3].split()[0]) <= 20


def test_scores_average_over_the_measurements_after_the_start():
    (agent,) = summary().advisors
    order = play_after_start(2, range(39, -1, -1))
    expected = np.mean([sum(molecule >= 30 for molecule in order[: t + 1]) for t in range(4, 20)])
    assert agent.scores[2] == pytest.approx(expected)


def test_ten_starts_cover_a_mean_as_often_as_promised():
    generator = np.random.default_rng(0)
    intervals = [interval(generator.normal(size=10)) for _ in range(400)]
    covered = np.mean([each.low <= 0 <= each.high for each in intervals])
    assert math.isclose(covered, 0.95, abs_tol=0.03)


def test_luck_of_one_start_is_that_of_drawing_the_best_from_an_urn():
    """By the multivariate hypergeometric distribution: of the best, how many lie where only one of the two measured."""
    middling, table = [39, 5, 38, 6, 37, 7, 30, *range(8, 29)], replace(TABLE, start=19)  # the last ones alone count
    found = summary(middling, starts=1, table=table)
    mine, by_chance = set(found.advisors[0].orders[0].tolist()), set(random_order(40, 0, 0)[:20].tolist())
    sizes, n = [len(mine - by_chance), len(by_chance - mine)], 10
    urn = stats.multivariate_hypergeom([*sizes, 40 - sum(sizes)], n)
    best = set(range(40 - n, 40))
    seen = len(mine & best) - len(by_chance & best)
    draws = [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]
    above, below = (
        sum(urn.pmf([a, b, n - a - b]) for a, b in draws if sign * (a - b) >= sign * seen) for sign in (1, -1)
    )
    assert found.luck(found.advisors[0]) == pytest.approx(min(above, below), abs=0.03)


# --- In words


@pytest.mark.parametrize(
    ("order", "headline"),
    [
        (BEST_FIRST, "It would have helped."),
        (by_chance, "It would not have helped"),
        (WORST_FIRST, "It would have done harm"),
    ],
)
def test_the_headline_follows_from_the_difference_to_random_choice(order, headline):
    (verdict,) = verdicts(summary(order))
    assert verdict[0].startswith(headline)


def test_starts_that_share_their_luck_are_no_evidence():
    lucky = [*(39, 38, 37, 0, 36), *range(3, 20)]  # the same from every start
    found = summary(lucky)
    (verdict,) = verdicts(found)
    assert interval(found.advisors[0].scores - found.others[0].scores).low > 0
    assert verdict[0].startswith("It would not have helped, as far as the data show: the difference may be luck")


def test_several_agents_are_ranked():
    found = summary(WORST_FIRST, lambda start: BEST_FIRST)
    assert found.advisors[0].label == "agent1"
    assert verdicts(found)[0][0].startswith("agent1: It would have helped")
