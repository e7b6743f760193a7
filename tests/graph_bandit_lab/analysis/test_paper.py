import dataclasses

import numpy as np
import pytest

import registry
from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult
from graph_bandit_lab.analysis.scores import TABLE_1, agents_of_the_paper, fields_of, score_agents
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.storage import ResultStore, load_results

PAPER = dataclasses.asdict(registry.make_agent("gnn-ts", preset="paper-steps").settings)
OURS = {**PAPER, "covariance": "exact"}


def store(folder, label, agent, settings, **totals):
    """Store R_T by reward model."""
    for reward, total in totals.items():
        environment = EnvironmentSettings(reward_model=reward, num_graphs=4, num_nodes=3, horizon=10).to_dict()
        regret = np.full(10, total / 10)
        result = BanditResult(np.zeros(10, np.int64), regret, regret)
        ResultStore(folder).add(RunKey(agent, settings, environment), 1, label, result, 1.0)


@pytest.fixture
def folder(tmp_path):
    """Of the six, gnn-ts is best on linear, nn-pe on gp_gntk; ours is better, random play worse than any."""
    for place, agent in enumerate(TABLE_1, start=1):
        store(tmp_path, f"{agent} (paper)", agent, PAPER, linear=10.0 * place, gp_gntk=2.0 if agent == "nn-pe" else 8.0)
    store(tmp_path, "gnn-ts", "gnn-ts", OURS, linear=3.0, gp_gntk=3.0)
    store(tmp_path, "random", "random", {}, linear=120.0, gp_gntk=16.0)
    return tmp_path


def test_regret_is_relative_to_the_six_whoever_else_plays(folder):
    (field,) = fields_of(load_results(folder))
    scores = {score.label: score for score in score_agents(field.trials, field.reference)}
    assert scores["nn-ucb (paper)"].relative == pytest.approx(1.0)
    assert scores["gnn-ts"].relative == pytest.approx((3 / 60 + 3 / 8) / 2)
    assert scores["random"].relative == pytest.approx(2.0)


def test_others_are_ranked_with_the_six_alone(folder):
    """Ours takes no place from the six: nn-ts has three of them before it on linear, five as low on gp_gntk."""
    (field,) = fields_of(load_results(folder))
    top = {score.label: score.top_rate for score in score_agents(field.trials, field.reference)}
    assert top["gnn-ts"] == 1.0
    assert top["gnn-pe (paper)"] == 1.0  # second on linear, and behind one alone on gp_gntk
    assert top["nn-ts (paper)"] == 0.5
    assert top["random"] == 0.0


def test_the_table_in_markdown_has_them_too_and_a_row_an_environment(folder, capsys):
    assert main(["report", str(folder), "--markdown"]) == 0
    page = (folder / "report.html").read_text()
    assert "nn-pe (paper) has the lowest mean of the paper&#39;s six on 1 of 2 environments" in page
    assert "Lowest elsewhere: linear: gnn-ts (paper)." in page
    printed = capsys.readouterr().out
    assert "| nn-pe (paper) | 0.458 (0.208) | 50.0 % | 0.891, 1.6 % | – | 2 | 2 | 2 |" in printed
    assert "| 100.0 % |  | -0.246 [-0.617, 0.125] | 2 | 2 | 2 |" in printed
    assert "| linear | 3.0 | 40.0 | 10.0 | 20.0 |" in printed  # the best first


def test_five_of_the_six_or_one_of_them_twice_are_not_the_six(folder):
    results = load_results(folder)
    assert agents_of_the_paper(results[results["label"] != "nn-ts (paper)"]) == {}
    store(folder, "again", "nn-ts", {**PAPER, "steps": 3}, linear=1.0, gp_gntk=1.0)
    assert agents_of_the_paper(load_results(folder)) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"covariance": "exact"},
        {"sampling": "joint"},
        {"network": "Mine"},
    ],
)
def test_an_agent_that_plays_otherwise_is_none_of_the_six(folder, change):
    results = load_results(folder)
    mine = results["label"] == "gnn-ts (paper)"
    results.loc[mine, "agent_settings"] = [{**PAPER, **change} for _ in range(mine.sum())]
    assert agents_of_the_paper(results) == {}


def test_an_agent_that_diverged_wins_nothing_by_it(tmp_path):
    for seed, (a, b) in enumerate([(10.0, 15.0), (10.0, 15.0), (100.0, None)]):
        for label, total in (("a", a), ("b", b)):
            for reward in ("linear", "gp_gntk"):
                environment = EnvironmentSettings(reward_model=reward, num_graphs=4, num_nodes=3, horizon=10).to_dict()
                regret = np.full(10, (total or 0.0) / 10)
                status = "diverged" if total is None else "finished"
                result = BanditResult(np.zeros(10, np.int64), regret, regret, status)
                ResultStore(tmp_path).add(RunKey(label, {}, environment), seed, label, result, 1.0)
    (field,) = fields_of(load_results(tmp_path))
    assert field.trials["a"].tolist() == [10.0] * 4  # the trials that both have finished
