import numpy as np
import pandas as pd
import pytest

from graph_bandit_lab import BanditResult, write_report
from graph_bandit_lab.analysis.ranking import rank_agents, tasks_of
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.design.keys import to_json
from graph_bandit_lab.design.plan import Task
from graph_bandit_lab.reports import further_tables, table_of
from graph_bandit_lab.storage import ResultStore, load_results

# R_T of each agent, on two seeds. `late` fails where the others are far better, and `choosy` cannot play `hard`.
TOTALS = {
    "easy": {"good": (1, 3), "late": (9, 11), "choosy": (3, 3), "random": (10, 12)},
    "plain": {"good": (2, 2), "late": (3, 3), "choosy": (1, 1), "random": (20, 20)},
    "hard": {"good": (8, 8), "late": (7, 7), "random": (10, 10)},
}


def environment(name):
    return EnvironmentSettings(num_graphs=4, num_nodes=3, horizon=5, noise_std=list(TOTALS).index(name) / 10).to_dict()


def add(store, name, label, seed, total, status="finished"):
    regret = np.full(5, total / 5)
    key = RunKey(label, {}, environment(name))
    store.add(key, seed, label, BanditResult(np.zeros(5, np.int64), regret, regret, status=status), 1.0)


@pytest.fixture
def folder(tmp_path):
    store = ResultStore(tmp_path)
    tasks = [
        Task(
            name=name,
            hard=f"{name}!",
            environment_key=to_json(environment(name)),
            refused=(("choosy", "needs molecules"),) if name == "hard" else (),
        )
        for name in TOTALS
    ]
    store.add_tasks(tasks)
    for name, totals in TOTALS.items():
        for label, values in totals.items():
            for seed, total in enumerate(values):
                add(store, name, label, seed, total)
    return tmp_path


def ranking_of(folder):
    results = load_results(folder, arrays=())
    return rank_agents(results, tasks_of(results))


def rank_totals(totals):
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
        for seed, total in by_seed.items()
    ]
    return rank_agents(pd.DataFrame(rows), [Task(name=name, environment_key=name) for name in totals])


def seeds(*totals, first=0):
    return dict(enumerate(totals, first))


def means(ranking):
    return {rank.label: rank.mean for rank in ranking.ranks}


def test_agents_are_ranked_by_their_mean_place(folder):
    ranking = ranking_of(folder)
    places = {"good": [1, 2, 2], "late": [3, 3, 1], "choosy": [2, 1, 4], "random": [4, 4, 3]}
    assert {rank.label: rank.mean for rank in ranking.ranks} == pytest.approx(
        {label: np.mean(its) for label, its in places.items()}
    )
    first = ranking.ranks[0]
    assert (first.label, first.behind, first.wins) == ("good", 0, 1)
    assert all(rank.low <= rank.mean <= rank.high for rank in ranking.ranks)
    assert ranking.trials == {"easy": 2, "plain": 2, "hard": 2}
    assert ranking.hard == {"easy": "easy!", "plain": "plain!", "hard": "hard!"}


def test_an_agent_fails_where_it_is_nearer_to_random_play_than_to_the_lowest_and_where_it_cannot_play(folder):
    ranking = ranking_of(folder)
    failures = {rank.label: list(rank.failures) for rank in ranking.ranks}
    assert failures == {"good": [], "late": ["easy"], "choosy": ["hard"], "random": []}
    assert ranking.shares.loc["easy", "late"] == pytest.approx(10 / 11)
    assert ranking.reasons == {("hard", "choosy"): "cannot play: needs molecules"}


def test_an_agent_that_has_failed_in_one_repetition_is_last(folder):
    add(ResultStore(folder), "plain", "choosy", 2, 0, status="failed")
    ranking = ranking_of(folder)
    assert np.isnan(ranking.regret.loc["plain", "choosy"])
    assert ranking.reasons["plain", "choosy"] == "1 of 3 failed"
    assert ranking.trials["plain"] == 2


def test_an_agent_that_has_not_played_all_tasks_is_not_ranked_and_changes_nothing(folder):
    before = ranking_of(folder)
    add(ResultStore(folder), "easy", "new", 0, 0.1)
    ranking = ranking_of(folder)
    assert ranking.unranked == {"new": "1 of 3 tasks"}
    assert repr(ranking.ranks) == repr(before.ranks)  # nan is not equal to itself


def test_a_task_that_few_have_played_yet_is_left_out(folder):
    store = ResultStore(folder)
    more = EnvironmentSettings(num_graphs=4, num_nodes=3, horizon=6)
    store.add_tasks([Task(name="easy", environment_key=to_json(more.to_dict()))])
    result = BanditResult(np.zeros(6, np.int64), np.ones(6), np.ones(6))
    store.add(RunKey("good", {}, more.to_dict()), 0, "good", result, 1.0)
    ranking = ranking_of(folder)
    assert len(ranking.ranks) == 4
    assert ranking.left_out == {"easy (T = 6)": "played by fewer than half of the agents"}
    assert list(ranking.regret.index) == ["easy (T = 5)", "plain", "hard"]  # two of one name are told apart


def test_one_task_or_no_tasks_rank_nobody(folder):
    results = load_results(folder, arrays=())
    assert rank_agents(results, ()) is None
    assert rank_agents(results, tasks_of(results)[:1]) is None


def test_an_agent_in_two_versions_cannot_play_what_it_could_not_in_one(folder):
    for name, totals in TOTALS.items():
        for seed, total in enumerate(totals.get("choosy", ())):
            regret = np.full(5, total / 5 + 20)
            key = RunKey("choosy", {}, environment(name), algorithm=2)
            ResultStore(folder).add(key, seed, "choosy", BanditResult(np.zeros(5, np.int64), regret, regret), 1.0)
    ranking = ranking_of(folder)
    last = {rank.label for rank in ranking.ranks if "hard" in rank.failures}
    assert len(last) == 2
    assert all("choosy [" in label for label in last)
    assert set(ranking.reasons) == {("hard", label) for label in last}
    assert not ranking.unranked


def test_a_newcomer_with_few_repetitions_takes_no_data_from_the_others():
    five = {"a": seeds(1, 10, 10, 10, 10), "b": seeds(2, 2, 2, 2, 2), "random": seeds(*[20] * 5)}
    before = rank_totals({"t1": five, "t2": five})
    ranking = rank_totals({"t1": five | {"mine": seeds(1.5)}, "t2": five | {"mine": seeds(1.5, 1.5)}})
    assert means(ranking) == means(before) == {"b": 1, "a": 2, "random": 3}
    assert ranking.unranked == {"mine": "1 of 5 repetitions"}
    assert ranking.trials == {"t1": 5, "t2": 5}


def test_a_repetition_that_most_have_not_finished_yet_makes_nobody_short():
    played = {"a": seeds(1, 1), "b": seeds(2), "random": seeds(9)}
    ranking = rank_totals({"t1": played, "t2": played})
    assert means(ranking) == {"a": 1, "b": 2, "random": 3}
    assert ranking.trials == {"t1": 1, "t2": 1}


def test_a_task_without_a_common_seed_is_left_out_and_named():
    played = {"a": seeds(1, 1), "b": seeds(2, 2), "random": seeds(9, 9)}
    apart = {"a": seeds(5), "b": seeds(2, first=1), "random": seeds(9, 9)}
    ranking = rank_totals({"t1": played, "t2": played, "t3": apart})
    assert means(ranking) == {"a": 1, "b": 2, "random": 3}
    assert ranking.left_out == {"t3": "no repetition that all have finished"}
    assert list(ranking.regret.index) == ["t1", "t2"]
    assert rank_totals({"t1": played, "t3": apart}) is None


def test_agents_without_regret_share_the_last_places():
    played = {"a": seeds(1), "b": seeds(2), "c": seeds(3), "random": seeds(9)}
    ranking = rank_totals({"t1": played, "t2": played | {"b": seeds("failed"), "c": seeds("diverged")}})
    assert means(ranking) == {"a": 1, "b": 2.75, "c": 3.25, "random": 3}  # 3.5 on t2 for both, and random 2


def test_agents_fail_also_where_a_repetition_of_random_has_failed():
    played = {"a": seeds(1, 1), "b": seeds(100, 100), "random": seeds(9, 9)}
    ranking = rank_totals({"t1": played, "t2": played | {"random": seeds("failed", 9)}})
    failures = {rank.label: dict(rank.failures) for rank in ranking.ranks}
    assert failures["b"] == pytest.approx({"t1": 100 / 9, "t2": 100 / 9})
    assert (failures["a"], list(failures["random"])) == ({}, ["t2"])
    assert ranking.reasons == {("t2", "random"): "1 of 2 failed"}


def test_what_half_of_the_agents_have_not_finished_makes_nobody_short():
    played = {"a": seeds(1, 1), "b": seeds(2, 2), "c": seeds(3), "random": seeds(9)}
    ranking = rank_totals({"t1": played, "t2": played})
    assert (ranking.unranked, ranking.trials) == ({}, {"t1": 1, "t2": 1})


def test_failures_come_with_their_share_of_random_play_the_worst_first():
    one = {"a": seeds(4), "b": seeds(6.9), "c": seeds(8), "random": seeds(10)}  # halfway is 7
    other = one | {"c": seeds(20)}
    ranking = rank_totals({"t1": one, "t2": other, "t3": one | {"c": seeds("failed")}})
    failures = {rank.label: rank.failures for rank in ranking.ranks}
    assert (failures["a"], failures["b"]) == ({}, {})
    assert list(failures["c"]) == ["t3", "t2", "t1"]  # what it cannot play comes before all others
    assert (failures["c"]["t1"], failures["c"]["t2"]) == (0.8, 2.0)


def test_times_are_milliseconds_a_round():
    played = {"a": seeds(1), "random": seeds(9)}
    assert (rank_totals({"t1": played, "t2": played}).milliseconds == 10).all(axis=None)


def test_reasons_are_those_of_agents_that_are_ranked():
    played = {"a": seeds(1, 1), "b": seeds(2, 2), "random": seeds(9, 9)}
    late = {"late": seeds("failed", "failed")}
    ranking = rank_totals({"t1": played | late, "t2": played | {"b": seeds("failed", 2)}, "t3": late})
    assert {label for _, label in ranking.reasons} <= {rank.label for rank in ranking.ranks}
    assert {name for name, _ in ranking.reasons} <= set(ranking.regret.index)
    assert ranking.reasons["t2", "b"] == "1 of 2 failed"


def test_the_page_names_who_is_not_ranked_and_which_tasks_do_not_count(folder):
    for name in TOTALS:
        add(ResultStore(folder), name, "new", 0, 0.1)
    page = " ".join(write_report(folder).read_text().split())
    assert "they have finished less than most agents: new (1 of 2 repetitions)." in page


def test_results_with_tasks_are_stored_as_parquet_and_ranked_again(folder, tmp_path):
    results = load_results(folder, arrays=()).drop(columns=["versions", "agent_settings"])
    results.to_parquet(tmp_path / "results.parquet")
    again = pd.read_parquet(tmp_path / "results.parquet")
    assert tasks_of(again) == tasks_of(results)
    assert repr(rank_agents(again, tasks_of(again)).ranks) == repr(rank_agents(results, tasks_of(results)).ranks)


def test_page_and_tables_begin_with_the_ranks(folder):
    page = write_report(folder).read_text()
    results = load_results(folder, arrays=())
    header, *rows = table_of(results)
    assert (header[1], rows[0][0]) == ("mean rank [95 % interval]", "good")
    assert page.index("Rank over 3 tasks") < page.index("Over the environments")
    assert "hard (cannot play: needs molecules)" in page
    shares, simple, times, failures, hard, *aggregates, total = further_tables(results)
    assert shares[1][:2] == ("easy", "0.18")
    assert {len(table) for table in (simple, times)} == {4}
    assert {("late", "easy (0.91)"), ("random", "–")} <= set(failures)
    assert {table[0][1] for table in aggregates} == {"interquartile mean [95 %]"}
    assert total[0][0] == "mean R_T"
    assert hard[1:] == [("easy", "easy!"), ("plain", "plain!"), ("hard", "hard!")]


def test_only_the_lowest_of_all_agents_is_in_bold_also_where_few_are_shown_and_of_times_none(folder, monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.reports.sweep_report.MAX_AGENTS", 1)
    page = write_report(folder).read_text()
    assert "The best 1 of 4 agents are shown here." in page
    rows = page[page.index("On each task") :]
    assert "<tr><td>easy</td><td><strong>0.18</strong></td></tr>" in rows
    assert "<tr><td>plain</td><td>0.10</td></tr>" in rows  # `choosy` has less
    times = rows[rows.index("ms a round") :]
    assert "<strong>" not in times[: times.index("</table>")]
