"""Sweeps are read from files and presets: grids, agents, tuned settings, tasks and their tables, and parts of them."""

import json
import re
import sys
import tomllib
from importlib.resources import files

import pytest

import registry
from agents.contract import plays_changing_graphs
from graph_bandit_env.extras import MissingExtraError
from graph_bandit_lab import run_sweep
from graph_bandit_lab.design import Overrides, own_graphs, read_sweep
from graph_bandit_lab.design.sweep_file import list_presets

TOML = """
title = "in little"
repetitions = 2
agents = ["gnn-ts:width=8,steps=2", "random"]

[[grid]]
[grid.environment]
num_graphs = [3, 5]
num_nodes = 4
reward_model = ["linear", "gp_gntk"]
horizon = 8
"""


@pytest.fixture
def written(tmp_path):
    def write(text=TOML, **overrides):
        path = tmp_path / "little.toml"
        path.write_text(text)
        return read_sweep(path, Overrides(**overrides))

    return write


def environments(sweep):
    return [environment for grid in sweep.grids for environment in grid.environments]


def labels(sweep):
    return [spec.label for spec in sweep.grids[0].agents]


def test_a_sweep_is_the_product_of_its_lists(written):
    found = written()
    assert found.title == "in little"
    assert [(e.num_graphs, e.reward_model) for e in environments(found)] == [
        (3, "linear"),
        (3, "gp_gntk"),
        (5, "linear"),
        (5, "gp_gntk"),
    ]
    assert len(found.plan().repetitions) == 4 * 2 * 2
    text = (
        'seeds = [7, 8]\n[[grid]]\nagents = ["gnn-ts:width=8", "gnn-ucb"]\nenvironment = {num_graphs = [[5, 40], 10]}\n'
        "[grid.settings]\nlearning_rate = [0.1, 0.01]\nstandardize = false\n"
    )
    found = written(text, repetitions=1)
    assert labels(found) == [
        "gnn-ts:width=8,learning_rate=0.1,standardize=False",
        "gnn-ts:width=8,learning_rate=0.01,standardize=False",
        "gnn-ucb:learning_rate=0.1,standardize=False",
        "gnn-ucb:learning_rate=0.01,standardize=False",
    ]
    assert [environment.num_graphs for environment in environments(found)] == [(5, 40), 10]
    assert found.seeds == (7,)
    other = written(agents=("gntk-ts",), repetitions=3)
    assert labels(other) == ["gntk-ts"]
    assert other.seeds[:2] == written().seeds


def test_agents_of_files_play_where_the_command_names_them_and_no_file_loads_code(written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.setattr(registry, "_ADMITTED", {})
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    (tmp_path / "mine.py").write_text(
        "import registry\n@registry.agent_factory\ndef pi(width=1, margin=0.1):\n    return object()\n"
    )
    text = 'seeds = [7]\n[[grid]]\nagents = ["mine:pi:width=8"]\n[grid.settings]\nmargin = [0.1, 0.3]\n'
    for overrides in ({}, {"admit": ("mine:other",)}):
        with pytest.raises(ValueError, match="mine:pi"):
            written(text, **overrides)
    assert "mine" not in sys.modules
    assert labels(written(text, admit=("mine:pi",))) == ["mine:pi:width=8,margin=0.1", "mine:pi:width=8,margin=0.3"]


AGENTS = '["gnn-ts:width=8,steps=2", "random"]'


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (("title", "titel"), "titel"),
        (("repetitions = 2", "seeds = [1]\nseed = 2"), "seeds"),
        (("repetitions = 2", "seeds = [1, 1]"), "seeds"),
        (("repetitions = 2", "repetitions = 0"), "repetitions"),
        ((f"agents = {AGENTS}", ""), "agents"),
        ((AGENTS, '"random"'), "agents"),
        (('"random"', '"randon"'), "random"),
        (('"random"', '"random:scale"'), "scale"),
        (("steps=2", "stesp=2"), "steps"),
        (("horizon = 8", "horizon = 0"), "horizon"),
        (("num_nodes = 4", "graph_model = 1"), "graph_model"),
        (("num_graphs = [3, 5]", "num_graphs = []"), "num_graphs"),
        (("[[grid]]", "[grid]"), "grid"),
        (("title =", "title"), "little.toml"),
        ((AGENTS, '{"a {fit}" = "random", "a paper-steps" = "ucb1"}'), "label"),
    ],
)
def test_a_mistake_is_named_before_a_table_is_read(written, change, name, monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.design.own_graphs.read_pool", lambda *_, **__: 1 / 0)
    text = TOML.replace(*change, 1)
    more = "" if name in ("grid", "label") else '\n[[grid]]\nenvironment = {graphs = "library", target = "logp"}\n'
    with pytest.raises(ValueError, match=name):
        written(text + more).plan()


SIZES = {
    "paper-figure1": 6 * 6 * 10,
    "paper-figure2": 4 * 6 * 10,
    "paper-figure3": 8 * 10,
    "paper-rdpg": 48 * 6 * 10,
    "paper-table1": 192 * 6 * 10,
    "quick": 18 * 6 * 3,
    "tune": 2 * 3 * 64 * 10,
}


@pytest.mark.parametrize("name", SIZES)
def test_a_preset_has_the_repetitions_that_the_paper_has(name):
    repetitions = read_sweep(name).plan().repetitions
    assert len(repetitions) == SIZES[name]
    assert {one.key.agent_settings["fit"] for one in repetitions} == {"steps"}
    assert {one.key.agent_settings["covariance"] for one in repetitions} == {"diagonal"}


def test_the_presets_are_those_of_the_paper_and_four_of_ours():
    assert set(list_presets()) == {*SIZES, "changing", "contexts", "kinds", "testbed"}
    (grid,) = read_sweep("changing").grids
    assert {spec.name for spec in grid.agents} == set(filter(plays_changing_graphs, registry.list_agents()))
    with pytest.raises(FileNotFoundError, match="paper-figure1"):
        read_sweep("qick")


LABELS = """
agents = {"mine ({fit})" = "gnn-ts:preset={fit},{tuned}", NN = "nn-ts:{tuned}"}
[[grid]]
environment = {graph_model = ["er", "rdpg"], num_graphs = 3, num_nodes = 4}
"""


def test_tuned_settings_depend_on_the_graphs_and_labels_do_not(written, tmp_path):
    tuned = tmp_path / "tuned.json"
    cells = {"er": {"gnn-ts": {"width": 8}}, "rdpg": {"gnn-ts": {"width": 16, "history": "frozen"}}}
    tuned.write_text(json.dumps({"settings": cells, "chosen_from": []}))
    found = written(LABELS, fit="passes", tuned=tuned).plan().repetitions
    assert {(one.label, one.key.environment["graph_model"], one.key.agent_settings["width"]) for one in found} == {
        ("mine (paper)", "er", 8),
        ("mine (paper)", "rdpg", 16),
        ("NN", "er", 8),  # takes those of its twin
        ("NN", "rdpg", 16),
    }
    with pytest.raises(ValueError, match="gntk-ts on er"):
        written(LABELS.replace("nn-ts:{tuned}", "gntk-ts:{tuned}", 1).replace("ggntk", "gntk"), tuned=tuned)
    tuned.write_text('["gnn-ts"]')
    for path in (tuned, tmp_path / "none.json"):
        with pytest.raises((ValueError, FileNotFoundError), match=path.name):
            written(tuned=path)


TASKS = """
repetitions = 2
agents = ["lin-ucb", "gaussian-ts", "random"]
[[grid]]
task = "plain"
hard = "nothing"
environment = {num_graphs = 4, num_nodes = 3, horizon = 5}
[[grid]]
task = "changing"
environment = {num_graphs = 4, num_nodes = 3, horizon = 5, resample_graphs = "round"}
[[grid]]
task = "measured"
table = "cells"
environment = {horizon = 5}
"""


def test_an_agent_that_cannot_play_a_task_is_left_out_there_and_said(written):
    plan = written(TASKS).plan()
    plain, changing = plan.tasks
    assert (plain.name, plain.hard, plain.refused) == ("plain", "nothing", ())
    assert changing.refused == (("gaussian-ts", "plays on one graph set"),)
    assert "Not played by gaussian-ts: changing." in plan.notes
    keys = {task.name: task.environment_key for task in plan.tasks}
    assert len(plan.repetitions) == 2 * (3 + 2)
    assert all(one.key.environment_key == keys[one.task] for one in plan.repetitions)
    with pytest.raises(ValueError, match=re.escape("molecule-ucb (needs molecules)")):
        written(TASKS, agents=("molecule-ucb", "random")).plan()
    assert [grid.task.name for grid in written(TASKS, environments=("task=changing",)).grids] == ["changing"]


def test_zoo_stands_for_all_agents_that_need_no_wrapper_and_can_play(written):
    sweep = written(TASKS, agents=("random", "zoo", "gnn-ts:width=8"))
    zoo = {name for name in registry.list_agents() if registry.agent_needs(name) in ("any", "molecules")}
    assert labels(sweep)[0] == "random"
    assert set(labels(sweep)) == {*zoo, "gnn-ts:width=8"}
    molecular = [name for name in registry.list_agents() if registry.agent_needs(name) == "molecules"]
    assert f"Left out, because they can play nothing here: {', '.join(molecular)}." in sweep.plan().notes
    nameless = '[[grid]]\nenvironment = {num_graphs = 4, horizon = 5, resample_graphs = "round"}'
    played = {repetition.label for repetition in written(nameless, agents=("zoo",)).plan().repetitions}
    assert "gnn-ts" in played
    assert "gaussian-ts" not in played
    with pytest.raises(ValueError, match="molecule-ts"):  # it is named next to zoo
        written(TASKS, agents=("zoo", "molecule-ts")).plan()


def test_tables_are_played_where_a_file_says_where_they_lie(written, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "hits.csv").write_text("smiles,score\nCCO,1\nCCN,2\nCCCl,3\n")
    tables = tmp_path / "tables.toml"
    tables.write_text('[cells]\ngraphs = "data/hits.csv"\ntarget = "score"\nminimize = true\n')
    assert "cells" in written(TASKS).notes[0]
    sweep = written(TASKS, tables=tables)
    (environment,) = sweep.grids[-1].environments
    assert environment.graphs == str(tmp_path / "data" / "hits.csv")
    assert (environment.target, environment.minimize, sweep.notes) == ("score", True, ())
    for text, name in {
        '[cell]\ngraphs = "hits.csv"\n': "cell",
        "[cells]\ntarget = 'score'\n": "graphs",
        '[cells]\ngraphs = "hits.csv"\nhorizon = 3\n': "horizon",
        "cells": "tables.toml",
    }.items():
        tables.write_text(text)
        with pytest.raises(ValueError, match=name):
            written(TASKS, tables=tables)


def test_no_table_of_other_tasks_is_read(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    own_graphs._read.cache_clear()
    own_graphs._outline.cache_clear()
    text = TASKS.replace('table = "cells"\nenvironment = {', 'environment = {graphs = "library", target = "logp", ')
    sweep = written(text, environments=("task=plain,changing",))
    assert [grid.task.name for grid in sweep.grids] == ["plain", "changing"]
    with pytest.raises(MissingExtraError, match="chem"):
        written(text)


def test_a_sweep_file_finds_graphs_in_its_own_folder_alone(written, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    for folder, value in ((tmp_path, 1.0), (tmp_path / "elsewhere", 9.0)):
        (folder / "hits.csv").write_text(f"smiles,affinity\nCCO,{value}\nCCN,2\nCCC,\n")
    text = 'agents = ["random"]\n[[grid]]\nenvironment = {graphs = "hits.csv", target = "affinity", horizon = 3}\n'
    monkeypatch.chdir(tmp_path / "elsewhere")  # the working folder does not count
    plan = written(text).plan()
    assert plan.repetitions[0].to_arguments()["reward_model"].tolist() == [1.0, 2.0]
    assert plan.notes == ("hits.csv (affinity): left out graphs without a value (1).",)
    with pytest.raises(ValueError, match="graphs"):
        written(text.replace("hits.csv", str(tmp_path / "hits.csv")))


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        ((), 192),
        (("K=10",), 48),
        (("K=10,50", "N=10", "p=0.4", "reward_model=gp_representation", "T=1000"), 2),
        (("drift=None",), 192),
    ],
)
def test_a_part_of_a_sweep_has_its_keys(selection, count):
    part = read_sweep("paper-table1", Overrides(environments=selection))
    assert len(environments(part)) == count
    assert {environment.to_dict()["horizon"] for environment in environments(part.select(horizon=7))} == {7}
    assert {*environments(part)} <= {*environments(read_sweep("paper-table1"))}


@pytest.mark.parametrize(
    ("selection", "name"),
    [
        (("num_graph=10",), "num_graphs"),
        (("num_graphs=11",), "10, 50, 100, 200"),
        (("num_graphs",), "num_graphs"),
        (("task=late",), "task"),
    ],
)
def test_a_part_that_is_not_there_is_refused(selection, name):
    with pytest.raises(ValueError, match=name):
        read_sweep("paper-table1", Overrides(environments=selection))


TESTBED = files("graph_bandit_lab.design").joinpath("presets", "testbed.toml").read_text()
PLAYED = [grid["task"] for grid in tomllib.loads(TESTBED)["grid"] if "table" not in grid]


@pytest.mark.slow
@pytest.mark.parametrize("task", PLAYED)
def test_each_task_of_the_testbed_can_be_played_in_little_by_all_of_its_ten_agents(task, written, tmp_path):
    text = re.sub("num_graphs = [0-9]+", "num_graphs = 12", TESTBED).replace("horizon = 60", "horizon = 5")
    text = text.replace("num_nodes = 20", "num_nodes = 4").replace("[5, 60]", "[2, 6]")
    sweep = written(text, environments=(f"task={task}",), horizon=5, repetitions=1)
    tally = run_sweep(sweep, tmp_path / "out", progress=False, report=False)
    assert (tally.played, tally.failed) == (10, 0)
