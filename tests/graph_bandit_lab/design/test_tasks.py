import re
import tomllib
from importlib.resources import files

import pytest

import registry
from agents.contract import plays_changing_graphs
from graph_bandit_lab import run_sweep
from graph_bandit_lab.design import Overrides, read_sweep

TABLES = {"nas-bench-201", "nas-bench-graph", "docking", "photoswitches", "esol"}
TOML = """
repetitions = 2
agents = ["lin-ucb", "gaussian-ts", "random"]
[[grid]]
task = "plain"
hard = "nothing"
[grid.environment]
num_graphs = 4
num_nodes = 3
horizon = 5
[[grid]]
task = "changing"
[grid.environment]
num_graphs = 4
num_nodes = 3
horizon = 5
resample_graphs = "round"
[[grid]]
task = "measured"
table = "cells"
[grid.environment]
horizon = 5
"""


@pytest.fixture
def sweep_file(tmp_path):
    path = tmp_path / "tasks.toml"
    path.write_text(TOML)
    return path


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "hits.csv").write_text("smiles,score\nCCO,1\nCCN,2\nCCCl,3\n")
    path = tmp_path / "tables.toml"
    path.write_text('[cells]\ngraphs = "data/hits.csv"\ntarget = "score"\nminimize = true\n')
    return path


def test_an_agent_that_cannot_play_a_task_is_left_out_there_and_said(sweep_file):
    plan = read_sweep(sweep_file).plan()
    plain, changing = plan.tasks
    assert (plain.name, plain.hard, plain.refused) == ("plain", "nothing", ())
    assert changing.refused == (("gaussian-ts", "plays on one graph set"),)
    assert len(plan.repetitions) == 2 * (3 + 2)
    assert {one.task for one in plan.repetitions} == {"plain", "changing"}
    assert "changing: not played by gaussian-ts." in plan.notes
    keys = {task.name: task.environment_key for task in plan.tasks}
    assert all(one.key.environment_key == keys[one.task] for one in plan.repetitions)


def test_an_agent_that_can_play_no_task_is_refused(sweep_file):
    with pytest.raises(ValueError, match=re.escape("Got molecule-ucb (needs molecules).")):
        read_sweep(sweep_file, Overrides(agents=("molecule-ucb", "random"))).plan()


def test_tables_are_played_where_a_file_says_where_they_lie(sweep_file, tables):
    assert [grid.task.name for grid in read_sweep(sweep_file).grids] == ["plain", "changing"]
    assert "cells" in read_sweep(sweep_file).notes[0]
    sweep = read_sweep(sweep_file, Overrides(tables=tables))
    (environment,) = sweep.grids[-1].environments
    assert environment.graphs == str(tables.parent / "data" / "hits.csv")
    assert (environment.target, environment.minimize, sweep.notes) == ("score", True, ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[cell]\ngraphs = "hits.csv"\n', "Got `cell`. Tables: cells."),
        ("[cells]\ntarget = 'score'\n", "expected tables, each with the path of its file"),
        ('[cells]\ngraphs = "hits.csv"\nhorizon = 3\n', "unknown key `horizon` in `cells`."),
        ("cells", "to be a TOML file"),
    ],
)
def test_a_file_of_tables_that_says_something_else_is_refused(sweep_file, tables, text, message):
    tables.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        read_sweep(sweep_file, Overrides(tables=tables))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("num_graphs = 4", "num_graphs = [4, 5]"), "expected one environment in the task `plain`. Got 2."),
        (('task = "changing"', 'task = "plain"'), "expected each `task` once. Got `plain` twice."),
        (('task = "plain"', ""), "expected `task`, a name, with `hard`."),
        (('task = "plain"', "task = 3"), "to be texts. Got 3"),
    ],
)
def test_a_task_is_one_environment_with_a_name_of_its_own(sweep_file, change, message):
    sweep_file.write_text(TOML.replace(*change, 1))
    with pytest.raises(ValueError, match=re.escape(message)):
        read_sweep(sweep_file)


def test_tasks_are_chosen_by_name(sweep_file):
    assert [grid.task.name for grid in read_sweep(sweep_file, Overrides(environments=("task=changing",))).grids] == [
        "changing"
    ]
    with pytest.raises(ValueError, match=re.escape("Expected `task` to be one of plain, changing. Got late.")):
        read_sweep(sweep_file, Overrides(environments=("task=late",)))
    with pytest.raises(ValueError, match="this sweep has no tasks"):
        read_sweep("quick", Overrides(environments=("task=late",)))


def test_zoo_stands_for_all_agents_that_need_no_wrapper(sweep_file):
    specs = read_sweep(sweep_file, Overrides(agents=("random", "zoo", "gnn-ts:width=8"))).grids[0].agents
    names = [spec.label for spec in specs]
    assert names[0] == "random"
    assert names[-1] == "gnn-ts:width=8"
    assert set(names) == {n for n in registry.list_agents() if registry.agent_needs(n) in ("any", "molecules")} | {
        "gnn-ts:width=8"
    }


def test_agents_of_the_zoo_that_can_play_nothing_here_are_left_out_and_named_once(sweep_file):
    plan = read_sweep(sweep_file, Overrides(agents=("zoo",))).plan()
    molecular = [name for name in registry.list_agents() if registry.agent_needs(name) == "molecules"]
    assert molecular
    assert f"Left out, because they can play nothing here: {', '.join(molecular)}." in plan.notes
    assert not any(repetition.spec.name in molecular for repetition in plan.repetitions)
    (of_changing,) = (note for note in plan.notes if note.startswith("changing: not played by"))
    assert "gaussian-ts" in of_changing
    assert "molecule" not in of_changing


def test_agents_of_the_zoo_are_left_out_of_environments_without_a_name_too(tmp_path):
    path = tmp_path / "changing.toml"
    path.write_text('[[grid]]\n[grid.environment]\nnum_graphs = 4\nhorizon = 5\nresample_graphs = "round"')
    plan = read_sweep(path, Overrides(agents=("zoo",))).plan()
    labels = {repetition.label for repetition in plan.repetitions}
    assert "gnn-ts" in labels
    assert "gaussian-ts" not in labels
    assert "gaussian-ts" in plan.notes[-1]


def refuse_many(agent, num_graphs):
    if num_graphs > 5000:
        raise ValueError(f"Expected at most 5,000 graphs. Got {num_graphs}.")


def test_a_part_of_the_environments_that_an_agent_of_the_zoo_cannot_play_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("agents.kernel.agent.KernelAgent.check_size", refuse_many, raising=False)
    path = tmp_path / "large.toml"
    path.write_text("[[grid]]\n[grid.environment]\nnum_graphs = [4, 6000, 7000]\nnum_nodes = 3\nhorizon = 5")
    plan = read_sweep(path, Overrides(agents=("zoo",))).plan()
    note = next(note for note in plan.notes if note.startswith("Not played by "))
    assert "gntk-ts" in note
    assert "molecule" not in note
    assert "6000" in note.replace(",", "")
    assert note.endswith(", and 1 more.")


def test_an_agent_that_is_named_next_to_zoo_is_refused_where_it_cannot_play(sweep_file):
    with pytest.raises(ValueError, match=re.escape("at least one of these tasks. Got molecule-ts (needs molecules)")):
        read_sweep(sweep_file, Overrides(agents=("zoo", "molecule-ts"))).plan()


@pytest.mark.slow
def test_the_testbed_has_tasks_of_one_noise_that_all_of_its_ten_agents_play():
    sweep = read_sweep("testbed")
    plan = sweep.plan()
    assert len(plan.repetitions) == 16 * 10 * 5
    assert not any(task.refused for task in plan.tasks)
    assert all(task.hard.endswith(".") for task in plan.tasks)
    named = re.findall("[a-z0-9-]+", sweep.notes[0].partition(":")[2])
    assert set(named) == TABLES
    assert len(named) == len(TABLES)  # two tasks of one table are on it
    environments = [grid.environments[0] for grid in sweep.grids]
    assert {environment.reward_scale for environment in environments} == {"unit"}
    assert sorted({environment.noise_std for environment in environments}) == [0.1, 1.0]
    assert max(environment.to_dict()["num_graphs"] for environment in environments) <= 2000
    (agents,) = {tuple(spec.name for spec in grid.agents) for grid in sweep.grids}
    assert all(map(plays_changing_graphs, agents))


TESTBED = files("graph_bandit_lab.design").joinpath("presets", "testbed.toml").read_text()
TASKS = [grid["task"] for grid in tomllib.loads(TESTBED)["grid"] if "table" not in grid]


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_each_task_of_the_testbed_can_be_played_in_little(task, tmp_path):
    text = re.sub("num_graphs = [0-9]+", "num_graphs = 12", TESTBED).replace("horizon = 60", "horizon = 5")
    file = tmp_path / "little.toml"
    file.write_text(text.replace("num_nodes = 20", "num_nodes = 4").replace("[5, 60]", "[2, 6]"))
    sweep = read_sweep(file, Overrides(environments=(f"task={task}",), horizon=5, repetitions=1))
    tally = run_sweep(sweep, tmp_path / "out", progress=False, report=False)
    assert (tally.played, tally.failed) == (10, 0)
