import numpy as np
import pandas as pd
import pytest

from graph_bandit_lab import BanditResult, write_report
from graph_bandit_lab.analysis.scores import (
    compare_agents,
    exceptions_to,
    fields_of,
    score_agents,
)
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.storage import ResultStore, load_results

# Two environments, two seeds, four agents: R_T of each.
TOTALS = {
    ("linear", 1): {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0},
    ("linear", 2): {"a": 3.0, "b": 2.0, "c": 1.0, "d": 4.0},
    ("gp_gntk", 1): {"a": 10.0, "b": 40.0, "c": 20.0, "d": 5.0},
    ("gp_gntk", 2): {"a": 10.0, "b": 40.0, "c": 20.0, "d": 15.0},
}


@pytest.fixture
def folder(tmp_path):
    store = ResultStore(tmp_path)
    for (reward, seed), totals in TOTALS.items():
        environment = EnvironmentSettings(reward_model=reward, num_graphs=4, num_nodes=3, horizon=10).to_dict()
        for label, total in totals.items():
            regret = np.full(10, total / 10)
            result = BanditResult(np.zeros(10, np.int64), regret, regret)
            store.add(RunKey(label, {"note": label}, environment), seed, label, result, 1.0)
    return tmp_path


def trials_of(folder):
    (field,) = fields_of(load_results(folder))
    return field.trials


def test_relative_regret_is_the_papers(folder):
    """Linear: means 2, 2, 2, 4 of 4; gp_gntk: 10, 40, 20, 10 of 40."""
    scores = {score.label: score for score in score_agents(trials_of(folder))}
    assert scores["a"].relative == pytest.approx((0.5 + 0.25) / 2)
    assert scores["a"].relative_sd == pytest.approx(0.125)
    assert scores["b"].relative == pytest.approx((0.5 + 1.0) / 2)
    assert scores["d"].relative == pytest.approx((1.0 + 0.25) / 2)
    assert (scores["a"].environments, scores["a"].trials) == (2, 4)


def test_the_top_rate_is_the_share_of_trials_among_the_two_lowest(folder):
    scores = {score.label: score.top_rate for score in score_agents(trials_of(folder))}
    assert scores == {"a": 0.75, "b": 0.5, "c": 0.25, "d": 0.5}


def test_a_trial_that_one_agent_has_not_finished_counts_for_none(folder):
    environment = EnvironmentSettings(reward_model="linear", num_graphs=4, num_nodes=3, horizon=10).to_dict()
    nothing = np.zeros(0)
    ended = BanditResult(nothing.astype(np.int64), nothing, nothing, "failed")
    ResultStore(folder).add(RunKey("a", {"note": "a"}, environment), 3, "a", ended, 1.0, "ValueError: no")
    assert len(trials_of(folder)) == 4


def test_a_comparison_is_paired_and_its_sign_says_who_is_better(folder):
    trials = trials_of(folder)
    found = compare_agents(trials, "a", "b")
    assert found.difference == pytest.approx(np.mean([-1 / 4, 1 / 4, -30 / 40, -30 / 40]))
    assert found.low <= found.difference <= found.high
    assert compare_agents(trials, "b", "a").difference == pytest.approx(-found.difference)


def test_the_interval_of_a_comparison_covers_the_truth_about_as_often_as_it_says():
    """Environments differ more than their repetitions: an interval over trials would cover half as often."""
    rng, hits = np.random.default_rng(0), 0
    index = pd.MultiIndex.from_product([map(str, range(18)), range(10)], names=["environment", "seed"])
    for _ in range(100):
        level = np.repeat(rng.normal(0.0, 0.2, 18), 10)
        a = 1.0 + level + rng.normal(0.0, 0.05, len(index))
        found = compare_agents(pd.DataFrame({"a": a, "b": 2.0}, index=index), "a", "b", seed=1)
        hits += found.low <= -0.5 <= found.high
    assert 0.85 <= hits / 100 <= 0.99


def store(folder, label, reward, seed, total=1.0, error=""):
    environment = EnvironmentSettings(reward_model=reward, num_graphs=4, num_nodes=3, horizon=10).to_dict()
    regret = np.full(0 if error else 10, total / 10)
    result = BanditResult(np.zeros(len(regret), np.int64), regret, regret, "failed" if error else "finished")
    ResultStore(folder).add(RunKey(label, {"note": label}, environment), seed, label, result, 1.0, error)


def test_agents_of_other_environments_are_scored_by_themselves(tmp_path):
    for reward, label in [("linear", "a"), ("linear", "b"), ("gp_gntk", "c"), ("gp_gntk", "d")]:
        store(tmp_path, label, reward, 1, total=1.0 if label in "ac" else 2.0)
    first, second = fields_of(load_results(tmp_path))
    assert [score.label for score in score_agents(first.trials)] == ["a", "b"]
    assert [score.label for score in score_agents(second.trials)] == ["c", "d"]


def test_a_report_of_failures_alone_is_a_report(tmp_path):
    for reward in ("linear", "gp_gntk"):
        store(tmp_path, "bad", reward, 1, error="Traceback\nKeyError: 'x'")
    page = write_report(tmp_path).read_text()
    assert "No trial is finished by bad." in page
    assert "bad on linear, seed 1: <code>KeyError: &#39;x&#39;</code>" in page
    (field,) = fields_of(load_results(tmp_path))
    assert (len(field.trials), field.planned) == (0, 2)
    assert score_agents(field.trials) == []


def table(**columns):
    """Trials of two environments, x and y, with two seeds each."""
    index = pd.MultiIndex.from_product([["x", "y"], range(2)], names=["environment", "seed"])
    return pd.DataFrame(columns, index=index)


def test_where_nobody_has_regret_nobody_is_worse():
    trials = table(a=[0.0, 0.0, 1.0, 3.0], b=[0.0, 0.0, 4.0, 4.0])
    assert {score.label: score.relative for score in score_agents(trials)} == {"a": 0.25, "b": 0.5}
    assert compare_agents(trials, "a", "b").difference == -0.25


def test_an_exception_is_an_environment_where_another_agent_has_a_lower_mean():
    trials = table(a=[1.0, 3.0, 5.0, 5.0], b=[2.0, 2.0, 4.0, 5.0], c=[9.0, 9.0, 1.0, 1.0])
    assert exceptions_to(trials, "a", ["a", "b"]) == {"y": "b"}  # on x they tie
    assert exceptions_to(trials, "a", ["a", "b", "c"]) == {"y": "c"}
    assert exceptions_to(trials, "b", ["a", "b"]) == {}
