import numpy as np
import pandas as pd
import pytest

from graph_bandit_lab import BanditResult, further_tables, load_results, table_of, write_report
from graph_bandit_lab.analysis.ranking import rank_agents
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.design.names import to_json
from graph_bandit_lab.design.plan import Task
from graph_bandit_lab.storage import ResultStore

# R_T of each agent, on two seeds. `late` fails where the others are far better, and `choosy` cannot play `hard`.
TOTALS = {
    "easy": {"good": (1, 3), "late": (9, 11), "choosy": (3, 3), "random": (10, 12)},
    "plain": {"good": (2, 2), "late": (3, 3), "choosy": (1, 1), "random": (20, 20)},
    "hard": {"good": (8, 8), "late": (7, 7), "random": (10, 10)},
}
REFUSED = {"hard": [["choosy", "needs molecules"]]}


def rank(totals):
    """Rank agents of which the R_T of each seed is given, by task; a text is the status of a repetition without."""
    rows = [
        {
            **{"label": label, "agent": label, "environment_key": name, "environment": {"horizon": 10}, "seed": seed},
            "status": total if isinstance(total, str) else "finished",
            "total_regret": np.nan if isinstance(total, str) else total,
            **{"final_simple_regret": 0.0, "round_time": 0.1, "rounds": 10},
        }
        for name, agents in totals.items()
        for label, by_seed in agents.items()
        for seed, total in (by_seed if isinstance(by_seed, dict) else dict(enumerate(by_seed))).items()
    ]
    table = pd.DataFrame(rows)
    table.attrs["tasks"] = [
        {"name": name, "hard": f"{name}!", "environment_key": name, "refused": REFUSED.get(name, [])} for name in totals
    ]
    return rank_agents(table)


def means(ranking):
    return {rank.label: rank.mean for rank in ranking.ranks}


def test_agents_are_ranked_by_their_mean_place():
    ranking = rank(TOTALS)
    places = {"good": [1, 2, 2], "late": [3, 3, 1], "choosy": [2, 1, 4], "random": [4, 4, 3]}
    assert means(ranking) == pytest.approx({label: np.mean(its) for label, its in places.items()})
    first = ranking.ranks[0]
    assert (first.label, first.behind, first.wins) == ("good", 0, 1)
    assert all(rank.low <= rank.mean <= rank.high for rank in ranking.ranks)
    assert ranking.trials == {"easy": 2, "plain": 2, "hard": 2}
    assert (ranking.milliseconds.fillna(10) == 10).all(axis=None)


def test_an_agent_fails_where_it_is_nearer_to_random_play_than_to_the_lowest_and_where_it_cannot_play():
    ranking = rank(TOTALS)
    failures = {rank.label: list(rank.failures) for rank in ranking.ranks}
    assert failures == {"good": [], "late": ["easy"], "choosy": ["hard"], "random": []}
    assert ranking.shares.loc["easy", "late"] == pytest.approx(10 / 11)
    assert ranking.reasons == {("hard", "choosy"): "cannot play: needs molecules"}


def test_agents_with_a_repetition_that_failed_share_the_last_places():
    played = {"a": [1, 1], "b": [2, 2], "c": [3, 3], "random": [9, 9]}
    ranking = rank({"t1": played, "t2": played | {"b": ["failed", 2], "c": ["diverged", 3]}})
    assert means(ranking) == {"a": 1, "b": 2.75, "c": 3.25, "random": 3}  # 3.5 on t2 for both, and random 2
    assert ranking.reasons == {("t2", "b"): "1 of 2 failed", ("t2", "c"): "1 of 2 diverged"}


def test_a_newcomer_takes_no_data_from_the_others():
    five = {"a": [1, 10, 10, 10, 10], "b": [2] * 5, "random": [20] * 5}
    ranking = rank({"t1": five | {"mine": [1.5], "new": [0.1]}, "t2": five | {"mine": [1.5, 1.5]}})
    assert means(ranking) == {"b": 1, "a": 2, "random": 3}
    assert ranking.unranked == {"mine": "1 of 5 repetitions", "new": "1 of 2 tasks"}
    assert ranking.trials == {"t1": 5, "t2": 5}


def test_tasks_that_few_have_played_or_without_a_common_seed_are_left_out():
    played = {"a": [1, 1], "b": [2, 2], "random": [9, 9]}
    apart = {"a": {0: 5}, "b": {1: 2}, "random": [9, 9]}
    ranking = rank({"t1": played, "t2": played, "t3": apart, "t4": {"a": [1]}})
    assert means(ranking) == {"a": 1, "b": 2, "random": 3}
    assert ranking.left_out.keys() == {"t3", "t4"}
    assert list(ranking.regret.index) == ["t1", "t2"]
    assert rank({"t1": played, "t3": apart}) is None


def test_page_and_tables_begin_with_the_ranks(tmp_path, monkeypatch):
    store, tasks = ResultStore(tmp_path), []
    for noise, (name, totals) in enumerate(TOTALS.items()):
        environment = EnvironmentSettings(num_graphs=4, num_nodes=3, horizon=5, noise_std=noise / 10).to_dict()
        refused = tuple(map(tuple, REFUSED.get(name, ())))
        tasks.append(Task(name=name, hard=f"{name}!", environment_key=to_json(environment), refused=refused))
        for label, values in totals.items():
            for seed, total in enumerate(values):
                regret = np.full(5, total / 5)
                result = BanditResult(np.zeros(5, np.int64), regret, regret)
                store.add(RunKey(label, {}, environment), seed, label, result, 1.0)
    store.add_tasks(tasks)
    monkeypatch.setattr("graph_bandit_lab.reports.report.MAX_AGENTS", 1)
    page, results = write_report(tmp_path).read_text(), load_results(tmp_path, arrays=())
    header, *rows = table_of(results)
    assert (header[1], rows[0][0]) == ("mean rank [95 % interval]", "good")
    assert page.index("Rank over 3 tasks") < page.index("Over the environments")
    for text in ("The best 1 of 4 agents are shown here.", "hard (cannot play: needs molecules)"):
        assert text in page
    task_rows = page[page.index("On each task") :]
    assert "<tr><td>easy</td><td><strong>0.18</strong></td></tr>" in task_rows
    assert "<tr><td>plain</td><td>0.10</td></tr>" in task_rows  # `choosy` has less
    shares, _, _, failures, hard, *_ = further_tables(results)
    assert shares[1][:2] == ("easy", "0.18")
    assert {("late", "easy (0.91)"), ("random", "–")} <= set(failures)
    assert hard[1:] == [("easy", "easy!"), ("plain", "plain!"), ("hard", "hard!")]
