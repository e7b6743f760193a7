"""The plan of what is played stands next to its results."""

import dataclasses
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
from support.runs import run, settings

from graph_bandit_lab.analysis import stand
from graph_bandit_lab.design import SweepPlan
from graph_bandit_lab.design.tasks import Task
from graph_bandit_lab.execution import plan_run
from graph_bandit_lab.storage import ResultsFollower, ResultStore
from graph_bandit_lab.storage.sweeps import read_tasks


def plan_in(folder):
    return ResultsFollower(folder).read().plan


def execute(folder, statement):
    with closing(sqlite3.connect(folder / "results.sqlite")) as connection, connection:
        connection.execute(statement)


def test_a_plan_says_what_is_played_on_what_with_which_seeds(tmp_path):
    plan = plan_run(settings(tmp_path))
    ResultStore(tmp_path).begin(plan)
    stored = plan_in(tmp_path)
    assert stored.title == plan.title
    assert stored.ended is None
    assert {(cell.settings_hash, seed) for cell in stored.cells for seed in cell.seeds} == {
        repetition.identity for repetition in plan.repetitions
    }
    assert [cell.label for cell in stored.cells] == list(settings(tmp_path).agents)
    assert stored.environments == (plan.repetitions[0].environment,)


def test_the_plan_of_the_last_run_stands_with_its_end(tmp_path):
    run(tmp_path, agents=("ucb1",))
    first = plan_in(tmp_path)
    assert first.ended >= first.started
    run(tmp_path, agents=("random",))
    assert [cell.label for cell in plan_in(tmp_path).cells] == ["random"]


def test_a_run_that_is_stopped_has_no_end(tmp_path, monkeypatch):
    def stop(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("graph_bandit_lab.execution.driver.execute", stop)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert plan_in(tmp_path).ended is None


@pytest.mark.parametrize("damage", ["DELETE FROM sweeps", "UPDATE sweeps SET plan = '{'"])
def test_a_file_without_a_plan_or_with_a_damaged_one_is_read_and_continued(tmp_path, damage):
    run(tmp_path, agents=("random",))
    execute(tmp_path, damage)
    assert plan_in(tmp_path) is None
    assert run(tmp_path, agents=("random",)).reused == 2
    assert plan_in(tmp_path).ended is not None


def tasks_in(folder):
    with closing(sqlite3.connect(folder / "results.sqlite")) as connection:
        return read_tasks(connection)


def test_tasks_of_all_plans_stay_with_the_agents_that_cannot_play_them(tmp_path):
    store = ResultStore(tmp_path)
    one = Task(name="one", hard="why", environment_key="{}", refused=(("a", "needs b"),))
    store.begin(SweepPlan("first", (), tasks=(one,)))
    store.begin(SweepPlan("second", (), tasks=(Task(name="two", environment_key="{1}"),)))
    other = Task(name="one", hard="for this", environment_key="{}", refused=(("c", "needs d"),))
    store.begin(SweepPlan("third", (), tasks=(other,)))
    first, second = tasks_in(tmp_path)
    assert (first.hard, first.refused) == ("for this", (("a", "needs b"), ("c", "needs d")))
    assert second.name == "two"
    execute(tmp_path, "UPDATE tasks SET refused = '['")
    assert tasks_in(tmp_path) == ()


def test_a_plan_knows_the_names_of_its_tasks(tmp_path):
    plan = plan_run(settings(tmp_path))
    ResultStore(tmp_path).begin(plan)
    assert plan_in(tmp_path).names == ()
    task = Task(name="plain", environment_key=plan.repetitions[0].key.environment_key)
    ResultStore(tmp_path).begin(dataclasses.replace(plan, tasks=(task,)))
    assert plan_in(tmp_path).names == ("plain",)
    (block,) = stand(ResultsFollower(tmp_path).read(), datetime.now(UTC)).blocks
    assert block.name == "plain"
