import numpy as np
import pandas as pd
import pytest

from graph_bandit_lab.analysis.statistics import (
    bootstrap_interval,
    earlier_versions,
    mean_interval,
    paired_interval,
    play_equal_instances,
    ratio_interval,
    summarize,
)


def frame(**totals):
    """Results with these total regrets by label; None is a diverged repetition."""
    records = []
    for label, values in totals.items():
        for seed, value in enumerate(values):
            regret = np.array([value or 0.0, 0.0])
            status = "diverged" if value is None else "finished"
            record = {"label": label, "seed": seed, "status": status, "total_regret": regret.sum(), "trajectory": seed}
            records.append({**record, "environment_key": "one", "rounds": len(regret), "round_time": 0.5})
    return pd.DataFrame(records)


def test_interval_of_regret_is_students_on_the_logarithmic_scale():
    half = 4.30265 / 3**0.5 / 2  # of the mean of 1, 2, 3, relative to it
    assert mean_interval(np.array([1.0, 2.0, 3.0])) == pytest.approx((2 * np.exp(-half), 2 * np.exp(half)), rel=1e-5)


def test_interval_of_what_can_be_negative_is_students():
    low, high = mean_interval(np.array([-1.0, 0.0, 1.0]), "any")
    assert (low, high) == pytest.approx((-4.30265 / 3**0.5, 4.30265 / 3**0.5), rel=1e-5)


@pytest.mark.parametrize("repetitions", [3, 20])
def test_interval_of_skewed_regret_covers_the_mean_as_often_as_it_says(repetitions):
    draws = np.random.default_rng(0).gamma(2.0, size=(repetitions, 4000))  # its standard deviation is 0.7 of its mean
    low, high = mean_interval(draws)
    assert np.mean((low < 2.0) & (high > 2.0)) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("values", [np.ones((1, 3)), np.ones((5, 3)), np.zeros((5, 3)), np.zeros((0, 3))])
def test_an_interval_needs_two_repetitions_that_differ(values):
    low, high = mean_interval(values)
    assert low.shape == high.shape == (3,)
    assert np.isnan([low, high]).all()


def test_interval_of_a_share_is_students_on_the_scale_of_its_logarithmic_odds():
    half = 4.30265 * 0.2 / 3**0.5 / (0.4 * 0.6)  # of the mean of 0.2, 0.4, 0.6; odds of 2 to 3
    odds = [2 / 3 * np.exp(sign * half) for sign in (-1, 1)]
    assert mean_interval(np.array([0.2, 0.4, 0.6]), "share") == pytest.approx(
        [each / (1 + each) for each in odds], rel=1e-5
    )


def test_a_ratio_is_paired():
    hard = np.array([1.0, 5.0, 30.0])  # instances differ by far more than agents do
    assert ratio_interval(2 * hard, hard) == pytest.approx((2.0, 2.0))
    low, high = ratio_interval(np.array([2.0, 10.0, 63.0]), hard)
    assert 1.9 < low < 75 / 36 < high < 2.3


def test_ratios_to_the_worst_have_intervals_where_both_have_finished_the_same_seeds():
    best, worst = summarize(frame(random=[10.0, 30.0, 20.0], ts=[1.0, 3.0, 2.1]))
    assert best.relative_low < best.relative < best.relative_high < 0.12
    assert np.isnan(worst.relative_low)
    assert np.isnan(summarize(frame(random=[10.0, 30.0, 20.0], ts=[1.0, 3.0, None]))[0].relative_low)


def test_equal_plays_on_one_instance_count_as_one():
    table = frame(lin=[67.0, 67.2, 67.1], random=[90.0, 80.0, 100.0])
    table = table.assign(environment_key="pool", trajectory=[0, 0, 0, 0, 1, 2])
    lin, random = summarize(table)
    assert (lin.one_trajectory, random.one_trajectory) == (True, False)
    assert np.isnan([lin.low, lin.high, lin.relative_low]).all()
    assert lin.mean == pytest.approx(67.1)


def differences(**by_environment):
    return pd.concat({name: pd.Series(values) for name, values in by_environment.items()}, names=["environment"])


def test_an_interval_over_two_environments_draws_their_means():
    table = differences(x=[-9.0, 11.0], y=[3.0, 7.0])
    assert paired_interval(table) == (3.0, 1.0, 5.0)  # a quarter of the draws are of one environment alone


def test_an_interval_over_the_repetitions_of_one_environment_is_students():
    assert paired_interval(differences(x=[1.0, 2.0, 3.0])) == pytest.approx((2, 2 - 2.48414, 2 + 2.48414), rel=1e-5)
    assert paired_interval(differences(x=[0.0, 0.0])) == (0.0, 0.0, 0.0)


def test_a_bootstrap_needs_two_values_that_differ():
    assert bootstrap_interval(np.array([3.0])) == (3.0, 3.0)
    assert bootstrap_interval(np.array([3.0, 3.0, 3.0])) == (3.0, 3.0)
    assert bootstrap_interval(np.array([3.0, 4.0])) == (3.0, 4.0)  # a quarter of the draws are of one value alone


def test_best_comes_first_relative_to_the_worst():
    best, worst = summarize(frame(random=[10.0, 30.0], ts=[4.0, 6.0]))
    assert (best.label, best.mean, best.relative) == ("ts", 5.0, 0.25)
    assert (worst.label, worst.relative, worst.finished) == ("random", 1.0, 2)
    assert best.milliseconds == pytest.approx(250)


def test_another_measure_is_summarised_where_it_is_known():
    table = frame(a=[9.0, 9.0, None], b=[1.0, 1.0]).assign(final_simple_regret=[1.0, 2.0, 7.0, 3.0, np.nan])
    first, last = summarize(table, "final_simple_regret")
    assert (first.label, first.mean, first.relative, first.finished) == ("a", 1.5, 0.5, 2)
    assert (last.label, last.mean, last.finished) == ("b", 3.0, 1)


def test_failed_repetitions_are_counted_apart_and_their_time_counts():
    rows = [("finished", 5.0, 10, 0.5), ("failed", 99.0, 4, 0.2), ("failed", 98.0, 0, 0.0), ("diverged", 97.0, 6, 2.1)]
    rows.append(("failed", 96.0, 0, 0.0))
    table = pd.DataFrame(rows, columns=["status", "total_regret", "rounds", "round_time"]).assign(
        label="a", environment_key="one"
    )
    table["seed"] = table["trajectory"] = table.index
    (row,) = summarize(table)
    assert (row.finished, row.failed, row.diverged, row.mean) == (1, 3, 1, 5.0)
    assert row.milliseconds == pytest.approx(1000 * 2.8 / 20)


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
