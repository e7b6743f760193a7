import numpy as np
import pandas as pd
import pytest

from graph_bandit_lab.analysis.statistics import (
    confidence_interval,
    earlier_versions,
    play_equal_instances,
    summarize,
)


def frame(**totals):
    """Results with these total regrets by label; None is a diverged repetition."""
    records = []
    for label, values in totals.items():
        for value in values:
            regret = np.array([value or 0.0, 0.0])
            status = "diverged" if value is None else "finished"
            record = {"label": label, "status": status, "total_regret": regret.sum()}
            records.append({**record, "rounds": len(regret), "round_time": 0.5})
    return pd.DataFrame(records)


def test_interval_is_students():
    low, high = confidence_interval(np.array([1.0, 2.0, 3.0]))
    assert (low, high) == pytest.approx((2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), rel=1e-5)


def test_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    low, high = confidence_interval(rng.normal(3.0, 2.0, size=(5, 4000)))
    assert np.mean((low < 3.0) & (high > 3.0)) == pytest.approx(0.95, abs=0.015)


def test_interval_of_one_repetition_is_unknown():
    low, high = confidence_interval(np.ones((1, 3)))
    assert low.shape == high.shape == (3,)
    assert np.isnan([low, high]).all()


def test_interval_of_two_repetitions_is_wide():
    assert confidence_interval(np.array([1.0, 3.0])) == pytest.approx((2 - 12.70620, 2 + 12.70620), rel=1e-5)


def test_best_comes_first_relative_to_the_worst():
    best, worst = summarize(frame(random=[10.0, 30.0], ts=[4.0, 6.0]))
    assert (best.label, best.mean, best.relative) == ("ts", 5.0, 0.25)
    assert (worst.label, worst.relative, worst.finished) == ("random", 1.0, 2)
    assert best.milliseconds == pytest.approx(250)


def test_diverged_repetitions_are_counted_and_left_out_of_the_mean():
    first, last = summarize(frame(a=[None, None], b=[3.0, None]))
    assert (first.label, first.mean, first.finished, first.diverged) == ("b", 3.0, 1, 1)
    assert (last.label, last.finished, last.diverged) == ("a", 0, 2)
    assert np.isnan(last.mean)


def test_another_measure_is_summarised_where_it_is_known():
    table = frame(a=[9.0, 9.0, None], b=[1.0, 1.0]).assign(final_simple_regret=[1.0, 2.0, 7.0, 3.0, np.nan])
    first, last = summarize(table, "final_simple_regret")
    assert (first.label, first.mean, first.relative, first.finished) == ("a", 1.5, 0.5, 2)
    assert (last.label, last.mean, last.finished) == ("b", 3.0, 1)


def test_failed_repetitions_are_counted_apart_and_their_time_counts():
    rows = [("finished", 5.0, 10, 0.5), ("failed", 99.0, 4, 0.2), ("failed", 98.0, 0, 0.0), ("diverged", 97.0, 6, 2.1)]
    rows.append(("failed", 96.0, 0, 0.0))
    table = pd.DataFrame(rows, columns=["status", "total_regret", "rounds", "round_time"]).assign(label="a")
    (row,) = summarize(table)
    assert (row.finished, row.failed, row.diverged, row.mean) == (1, 3, 1, 5.0)
    assert row.milliseconds == pytest.approx(1000 * 2.8 / 20)


@pytest.mark.parametrize(("rounds", "seconds", "milliseconds"), [(0, 0.0, 0.0), (1, 0.25, 250.0)])
def test_the_time_of_no_round_or_one(rounds, seconds, milliseconds):
    table = frame(a=[1.0]).assign(rounds=rounds, round_time=seconds)
    assert summarize(table)[0].milliseconds == milliseconds


def test_agents_that_are_equally_good_stand_in_the_order_of_their_results():
    assert [row.label for row in summarize(frame(b=[1.0], a=[1.0], c=[0.5]))] == ["c", "b", "a"]


def test_no_regret_at_all_has_no_ratio():
    assert np.isnan(summarize(frame(a=[0.0, 0.0]))[0].relative)


@pytest.mark.parametrize(("seeds", "equal"), [([1, 2, 2, 1], True), ([1, 2, 1, 3], False), ([1, 2, 1, 1], False)])
def test_agents_can_be_compared_if_they_played_the_same_seeds(seeds, equal):
    assert play_equal_instances(pd.DataFrame({"label": ["a", "a", "b", "b"], "seed": seeds})) == equal


def test_an_earlier_version_is_one_of_equal_settings():
    """Joint draws have a second version of their algorithm, which says nothing of independent ones."""
    joint, independent = {"sampling": "joint"}, {"sampling": "independent"}
    rows = [("old", joint, 1), ("new", joint, 2), ("as ever", independent, 1)]
    table = pd.DataFrame(rows, columns=["label", "agent_settings", "algorithm"]).assign(agent="gnn-ts")
    assert earlier_versions(table) == ["old"]
    assert earlier_versions(table[1:]) == []
