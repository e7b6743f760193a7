"""Scores over environments, those of the paper, and comparisons of folders."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import registry
from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult
from graph_bandit_lab.analysis.scores import (
    TABLE_1,
    agents_of_the_paper,
    compare_agents,
    compare_folders,
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


def store(folder, label, agent, settings, seed=1, **totals):
    """Store R_T by reward model."""
    for reward, total in totals.items():
        environment = EnvironmentSettings(reward_model=reward, num_graphs=4, num_nodes=3, horizon=10).to_dict()
        regret = np.full(10, total / 10)
        result = BanditResult(np.zeros(10, np.int64), regret, regret)
        ResultStore(folder).add(RunKey(agent, settings, environment), seed, label, result, 1.0)


@pytest.fixture
def folder(tmp_path):
    for (reward, seed), totals in TOTALS.items():
        for label, total in totals.items():
            store(tmp_path, label, label, {}, seed, **{reward: total})
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


PAPER = dataclasses.asdict(registry.make_agent("gnn-ts", preset="paper-steps").settings)
OURS = {**PAPER, "covariance": "exact"}


@pytest.fixture
def paper_folder(tmp_path):
    """Of the six, gnn-ts is best on linear, nn-pe on gp_gntk; ours is better, random play worse than any."""
    for place, agent in enumerate(TABLE_1, start=1):
        store(tmp_path, f"{agent} (paper)", agent, PAPER, linear=10.0 * place, gp_gntk=2.0 if agent == "nn-pe" else 8.0)
    store(tmp_path, "gnn-ts", "gnn-ts", OURS, linear=3.0, gp_gntk=3.0)
    store(tmp_path, "random", "random", {}, linear=120.0, gp_gntk=16.0)
    return tmp_path


def test_others_are_ranked_with_the_six_alone(paper_folder):
    """Ours takes no place from the six: nn-ts has three of them before it on linear, five as low on gp_gntk."""
    (field,) = fields_of(load_results(paper_folder))
    top = {score.label: score.top_rate for score in score_agents(field.trials, field.reference)}
    assert top["gnn-ts"] == 1.0
    assert top["gnn-pe (paper)"] == 1.0  # second on linear, and behind one alone on gp_gntk
    assert top["nn-ts (paper)"] == 0.5
    assert top["random"] == 0.0


def test_the_table_in_markdown_has_them_too_and_a_row_an_environment(paper_folder, capsys):
    assert main(["report", str(paper_folder), "--markdown"]) == 0
    page = (paper_folder / "report.html").read_text()
    assert "nn-pe (paper) has the lowest mean of the paper&#39;s six on 1 of 2 environments" in page
    assert "Lowest elsewhere: linear: gnn-ts (paper)." in page
    printed = capsys.readouterr().out
    assert "| nn-pe (paper) | 0.458 (0.208) | 50.0 % | 0.891, 1.6 % | – | 2 | 2 | 2 |" in printed
    assert "| 100.0 % |  | -0.246 [-0.617, 0.125] | 2 | 2 | 2 |" in printed
    assert "| linear | 3.0 | 40.0 | 10.0 | 20.0 |" in printed  # the best first


@pytest.mark.parametrize("change", [{"covariance": "exact"}, {"sampling": "joint"}, {"network": "Mine"}])
def test_an_agent_that_plays_otherwise_is_none_of_the_six(paper_folder, change):
    results = load_results(paper_folder)
    mine = results["label"] == "gnn-ts (paper)"
    results.loc[mine, "agent_settings"] = [{**PAPER, **change} for _ in range(mine.sum())]
    assert agents_of_the_paper(results) == {}


ENVIRONMENTS = [EnvironmentSettings(num_graphs=4, num_nodes=nodes, horizon=10).to_dict() for nodes in (3, 5)]


def test_a_change_is_measured_in_units_of_what_was(tmp_path):
    for name, x, z in (("a", 2.0, 1.0), ("b", 1.0, 1.5)):
        for label, level in {"x": x, "y": 1.0, "z": z, name: 1.0}.items():
            store(tmp_path / name, label, label, {}, linear=level, gp_gntk=10 * level)
    changes = {change.label: change for change in compare_folders(tmp_path / "a", tmp_path / "b")}
    assert (changes["x"].before, changes["x"].difference) == pytest.approx(((2.0 + 20.0) / 2, -0.5))
    verdicts = {label: change.verdict for label, change in changes.items()}
    assert verdicts == {"x": "better", "y": "no difference seen", "z": "worse"}
