"""Intervals, summaries and aggregates over repetitions."""

import numpy as np
import pandas as pd
import pytest

from graph_bandit_lab import EnvironmentSettings, RunSettings, load_results, run_experiment, table_of_chance
from graph_bandit_lab.analysis import aggregate_agents, compare_with_chance
from graph_bandit_lab.analysis.aggregates import (
    profile_agents,
)
from graph_bandit_lab.analysis.scores import reject, relative_regret
from graph_bandit_lab.analysis.statistics import (
    earlier_versions,
    mean_interval,
    paired_interval,
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


def test_holms_test_stops_at_the_first_hypothesis_that_is_not_rejected():
    p_values = np.array([0.04, 0.005, 0.03, np.nan, 0.01])  # times 5, 4, 3: 0.025, 0.04, 0.09, though 0.04 < 0.05 alone
    assert reject(p_values).tolist() == [False, True, False, False, True]


def test_regret_is_compared_with_that_of_uniform_play(tmp_path):
    environment = EnvironmentSettings(graphs="one optimal", num_graphs=4, resample_graphs="episode", horizon=5)
    agents = "random", "gp-ucb"
    run_experiment(RunSettings(out=tmp_path, environment=environment, agents=agents, repetitions=3, progress=False))
    results = load_results(tmp_path)
    table = compare_with_chance(results).droplevel("environment_key")
    ratios = results["total_regret"].groupby(results["label"]).agg(["mean", "sem"]) / (5 * 2.25)  # means are 0, 0, 0, 3
    np.testing.assert_allclose(table.loc[[*agents], ["mean", "error"]], ratios.loc[[*agents]])
    always = results.assign(total_regret=5 * 3.0 - 1e-3 * results["seed"] / results["seed"].max())  # never the best one
    assert compare_with_chance(always)["worse"].all()
    assert table_of_chance(always, ["random"])[1][2].startswith("1.33±0.00 worse")


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


def test_an_earlier_version_is_one_of_equal_settings():
    """Joint draws have a second version of their algorithm, which says nothing of independent ones."""
    joint, independent = {"sampling": "joint"}, {"sampling": "independent"}
    rows = [("old", joint, 1), ("new", joint, 2), ("as ever", independent, 1)]
    table = pd.DataFrame(rows, columns=["label", "agent_settings", "algorithm"]).assign(agent="gnn-ts")
    assert earlier_versions(table) == ["old"]
    assert earlier_versions(table[1:]) == []


# Two environments, of four and two repetitions.
INDEX = pd.MultiIndex.from_tuples(
    [("x", 1), ("x", 2), ("y", 1), ("x", 3), ("x", 4), ("y", 2)], names=["environment", "seed"]
)
TRIALS = pd.DataFrame({"a": [2.0, 4, 30, 6, 8, 50], "b": [8.0, 12, 100, 10, 10, 100]}, INDEX)


def drawn(seed=0, environments=6, repetitions=8):
    index = pd.MultiIndex.from_product([range(environments), range(repetitions)], names=["environment", "seed"])
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.gamma(3 + k, size=len(index)) for k, name in enumerate("pqr")}, index)


def test_agents_come_by_their_interquartile_means():
    first, second = aggregate_agents(TRIALS)
    assert (first.label, second.label) == ("a", "b")
    assert first.middle == pytest.approx((0.3 + 0.4 + 0.5 + 0.6) / 4)  # of six trials, one is left out at either end
    assert second.middle == pytest.approx(1.0)
    assert np.isnan(first.behind)


def test_intervals_are_those_of_repetitions_that_are_drawn_again_within_their_environments():
    """A slow bootstrap with its own random numbers, one resample after the other."""
    trials, rng = drawn(), np.random.default_rng(99)
    scores = {label: score.unstack().to_numpy() for label, score in relative_regret(trials).items()}
    middles, chances = {label: [] for label in trials}, {label: [] for label in trials}
    first = aggregate_agents(trials)[0].label
    for _ in range(800):
        rows = rng.integers(8, size=(6, 8))
        again = {label: np.take_along_axis(score, rows, axis=1) for label, score in scores.items()}
        for label, score in again.items():
            middles[label].append(np.sort(score.ravel())[12:36].mean())
            mine, theirs = again[first][:, :, None], score[:, None, :]
            chances[label].append((mine < theirs).mean() + (mine == theirs).mean() / 2)
    for aggregate in aggregate_agents(trials):
        np.testing.assert_allclose(
            [aggregate.low, aggregate.high], np.percentile(middles[aggregate.label], [2.5, 97.5]), atol=0.02
        )
        assert aggregate.low < aggregate.middle < aggregate.high
        if aggregate.label != first:
            expected = np.percentile(chances[aggregate.label], [2.5, 97.5])
            np.testing.assert_allclose([aggregate.behind_low, aggregate.behind_high], expected, atol=0.03)


def test_a_profile_is_the_distribution_of_scores():
    a, b = profile_agents(TRIALS, points=13)  # tau = 0, 0.1, ... 1.2
    np.testing.assert_allclose(a.thresholds, np.arange(13) / 10)
    np.testing.assert_allclose(6 * a.shares[[0, 1, 7, 9]], [0, 0, 5, 6])  # not at a score, where rounding decides
    np.testing.assert_allclose(6 * b.shares[[0, 7, 9, 11]], [0, 0, 1, 5])
    assert (a.shares[-1], b.shares[-1]) == (1, 1)
    assert ((a.low <= a.shares) & (a.shares <= a.high)).all()
    assert a.high[5] - a.low[5] > 0.2
