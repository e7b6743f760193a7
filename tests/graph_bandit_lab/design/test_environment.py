"""Settings of environments and runs: what is stored, what is equal, what is refused; and graphs of one's own."""

import json
import os
from dataclasses import fields, replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import registry
from graph_bandit_env import BanditArguments
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Sweep
from graph_bandit_lab.design.names import describe_environment, name_environments
from graph_bandit_lab.design.own_graphs import PoolFile, read_own_graphs, to_arguments

OF_FILES = ["target", "minimize", "noise_column", "smiles", "skip_bad_rows", "slot", "ignore_column"]
OF_FEEDBACK = ["batch", "delay", "random_rounds", "announced", "distinct"]
TAKEN = [field.name for field in fields(EnvironmentSettings) if field.init]


def test_each_argument_of_the_environment_is_taken_or_left_out_with_a_reason():
    of_environment = {field.name: field.default for field in fields(BanditArguments)}
    assert [field.name for field in fields(EnvironmentSettings)] == [*of_environment, *OF_FILES, *OF_FEEDBACK]
    for name in set(TAKEN) - {"reward_model", *OF_FILES, *OF_FEEDBACK}:
        assert getattr(EnvironmentSettings(), name) == of_environment[name]
    for name in set(of_environment) - set(TAKEN):
        with pytest.raises(TypeError, match=name):
            EnvironmentSettings(**{name: None})


@pytest.mark.parametrize(
    ("changes", "described"),
    [
        ({}, "linear reward, T = 1000"),
        ({"replacement": False, "horizon": 5}, "T = 5, each graph once"),
        ({"num_graphs": [5, np.int64(40)], "resample_graphs": "round"}, "new graphs each round"),
        ({"resample_graphs": np.True_, "reward_seed": 3}, "new graphs each episode, reward function 3"),
        ({"batch": 10, "delay": [2, 5], "random_rounds": np.int64(3)}, "batches of 10, rewards after 2 to 5 rounds"),
        ({"delay": 3, "announced": False}, "rewards after 3 rounds, not announced"),
        (
            {"drift": "jump", "drift_rate": 1, "noise_draws": "graph"},
            "noise drawn for each graph, means that jump, at rate 1.0",
        ),
        ({"graph_model": "rdpg", "reward_model": "transitivity"}, "random dot product graphs"),
        ({"graph_model": "weighted", "reward_model": "spanning_tree"}, "rings with edge weights"),
    ],
)
def test_settings_are_stored_read_back_described_and_played(changes, described):
    environment = EnvironmentSettings(**changes)
    stored = json.loads(json.dumps(environment.to_dict()))
    assert EnvironmentSettings(**stored) == environment
    assert described in describe_environment(stored)
    arguments = to_arguments(stored)
    assert (arguments["observe"] == "graphs") == (stored["resample_graphs"] == "round")
    registry.make_environment(**arguments)


def test_environments_are_named_by_what_sets_them_apart():
    changes = [{}, {"drift": "walk", "drift_rate": 0.1}, {"drift": "walk", "drift_rate": 0.2, "delay": 10}]
    names = name_environments([EnvironmentSettings(num_graphs=5, **change).to_dict() for change in changes])
    assert names == [
        "means that stay, rewards at once",
        "means that walk, at rate 0.1, rewards at once",
        "means that walk, at rate 0.2, rewards after 10 rounds, announced",
    ]


MOLECULES = {"CCO": 1.5, "CCN": 2.5, "c1ccccc1": 0.5, "CC(=O)O": None, "CCCC": 4.0}


DRAWN = {"graphs": None, "target": None}


def write_table(path, values=MOLECULES, noise=(0.1, 0.2, 0.0, 0.4, 0.5)):
    rows = [f"{text},{'' if value is None else value},{sd}" for (text, value), sd in zip(values.items(), noise)]  # noqa: B905
    path.write_text("\n".join(["smiles,affinity,sd", *rows, ""]))
    return str(path)


def write_graphs(path, count=6):
    graphs = [nx.cycle_graph(k + 3, create_using=nx.DiGraph) for k in range(count)]
    for k, graph in enumerate(graphs):
        nx.set_node_attributes(graph, {node: [1.0, float(k)] for node in graph}, "x")
        graph.graph["value"] = k / 2
    path.write_text("".join(json.dumps(nx.node_link_data(graph, edges="edges")) + "\n" for graph in graphs))
    return str(path)


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "hits.csv")


def planned(environment, *agents):
    grid = Grid((environment,), tuple(map(AgentSpec.parse, agents)))
    return Sweep(title="", grids=(grid,), seeds=(1,)).plan().repetitions


def test_values_of_a_column_are_the_mean_rewards_and_agents_do_not_see_them(table):
    environment = EnvironmentSettings(graphs=table, target="affinity", minimize=True)
    assert environment.note == "hits.csv (affinity): left out graphs without a value (1)."
    (repetition,) = planned(environment, "random")
    arguments = repetition.to_arguments()
    np.testing.assert_array_equal(arguments["reward_model"], [-1.5, -2.5, -0.5, -4.0])
    assert not arguments["graphs"].known.any()
    assert planned(replace(environment, minimize=False), "random")[0].key != repetition.key
    assert planned(environment, "molecule-ucb")


def test_results_know_graphs_and_noise_by_their_content_and_people_by_the_name_of_their_file(tmp_path, table):
    paths = {
        "moved.csv": (MOLECULES, (0.1, 0.2, 0.0, 0.4, 0.5)),
        "values.csv": (MOLECULES | {"CCO": 1.6}, (0.1, 0.2, 0.0, 0.4, 0.5)),
        "noise.csv": (MOLECULES, (0.3, 0.2, 0.0, 0.4, 0.5)),
    }
    files = [table, *(write_table(tmp_path / name, *content) for name, content in paths.items())]
    settings = [EnvironmentSettings(graphs=file, target="affinity", noise_column="sd", horizon=2) for file in files]
    (first,), (moved,), (values,), (noise,) = (planned(each, "random") for each in settings)
    assert first.key == moved.key
    assert len({repetition.key.settings_hash for repetition in (first, values, noise)}) == 3
    np.testing.assert_array_equal(first.to_arguments()["noise_std"], [0.1, 0.2, 0.0, 0.5])
    assert describe_environment(settings[0].describe()) == "hits.csv (affinity), N = 3 to 6, K = 4, T = 2"
    write_table(Path(table), MOLECULES | {"CCO": 9.0})
    os.utime(table, ns=(1, 1))
    with pytest.raises(ValueError, match="has changed"):
        first.to_arguments()


@pytest.mark.parametrize(
    ("changes", "error", "name"),
    [
        ({**DRAWN, "graphs": []}, TypeError, "graphs"),
        ({**DRAWN, "reward_model": np.zeros(100)}, TypeError, "reward_model"),
        ({**DRAWN, "noise": lambda rng, mean: 0.0}, TypeError, "noise"),
        ({**DRAWN, "num_nodes": (9, 5)}, ValueError, "num_nodes"),
        ({**DRAWN, "replacement": False, "num_graphs": (3, 8), "horizon": 4}, ValueError, "horizon"),
        ({**DRAWN, "delay": (5, 2)}, ValueError, "delay"),
        ({**DRAWN, "batch": 2, "resample_graphs": "round"}, ValueError, "batch"),
        ({**DRAWN, "drift_rate": 0.5}, ValueError, "drift"),
        ({"graphs": None}, ValueError, "target"),
        ({"target": None}, ValueError, "target"),
        ({"target": "afinity"}, ValueError, "afinity"),
        ({"num_nodes": 7}, ValueError, "num_nodes"),
        ({"replacement": False, "horizon": 5}, ValueError, "horizon"),
        ({"reward_seed": 3}, ValueError, "reward_seed"),
        ({"noise_column": "sd", "noise_std": 0.5}, ValueError, "noise_column"),
        ({"noise_column": "sd", "reward_scale": "unit"}, ValueError, "noise_column"),
        ({"noise_column": "affinity"}, ValueError, "affinity"),
        ({"graphs": "nothing.csv"}, FileNotFoundError, "nothing"),
    ],
)
def test_refuses_what_cannot_be_made_or_stored_or_does_not_fit_a_file(tmp_path, changes, error, name):
    table = write_table(tmp_path / "hits.csv", MOLECULES | {"CCO": -1.0})
    with pytest.raises(error, match=name):
        EnvironmentSettings(**{"graphs": table, "target": "affinity"} | changes)


def test_each_graph_keeps_its_own_noise_where_bad_rows_are_left_out(tmp_path):
    rows = {"CCO": "1.5,0.1", "CCN": "low,0.2", "CCC": "3.5,low", "CCCC": "4.5,0.4"}
    path = tmp_path / "noisy.csv"
    path.write_text("smiles,affinity,sd\n" + "".join(f"{text},{cells}\n" for text, cells in rows.items()))
    own = read_own_graphs(PoolFile(source=str(path), target="affinity", noise_column="sd", skip_bad_rows=True))
    assert list(own.graphs.smiles) == ["CCO", "CCCC"]
    assert [f"{mean},{noise}" for mean, noise in zip(own.means, own.noise, strict=True)] == [rows["CCO"], rows["CCCC"]]
    settings = EnvironmentSettings(graphs=str(path), target="affinity", noise_column="sd", skip_bad_rows=True)
    assert "rows that cannot be read (2; the first is 3: " in settings.note


@pytest.mark.filterwarnings("ignore::graph_bandit_env.graphs.NotReadWarning")
def test_graphs_of_networkx_can_be_drawn_with_directions_or_without(tmp_path):
    path = write_graphs(tmp_path / "rings.jsonl")
    arrows = EnvironmentSettings(graphs=path, target="value", resample_graphs="round", num_graphs=(2, 4))
    edges = replace(arrows, directed=False)
    assert [read_own_graphs(each.pool).graphs.directed for each in (arrows, edges)] == [True, False]
    assert replace(arrows, directed=True).to_dict() == arrows.to_dict() != edges.to_dict()
    assert planned(arrows, "gntk-ucb")[0].to_arguments()["num_graphs"] == [2, 4]
    drawn = EnvironmentSettings(graphs=path, reward_model="linear")
    assert planned(drawn, "random")[0].to_arguments()["reward_model"] == "linear"
    with pytest.raises(ValueError, match="molecule-ucb"):
        planned(drawn, "molecule-ucb")
    names = name_environments([each.describe() for each in (arrows, drawn, EnvironmentSettings(num_graphs=8))])
    assert len(set(names)) == 3
    assert "None" not in "".join(names)


def test_agents_are_read_as_they_are_written():
    text = "gnn-ts:width=8,exploration_scale=1e-1,covariance=diagonal,standardize=False"
    settings = {"width": 8, "exploration_scale": 0.1, "covariance": "diagonal", "standardize": False}
    assert AgentSpec.parse(text) == AgentSpec("gnn-ts", settings, text)
    assert AgentSpec.parse("mine_i:Mine:scale=3").name == "mine_i:Mine"
    for wrong in ("gnn-ts:width", "gnn-ts:=3", "gnn-ts:width=1,width=2", "gnn-ts:", "mine_i:Mine:scale"):
        with pytest.raises(ValueError, match="gnn-ts|mine_i"):
            AgentSpec.parse(wrong)
    with pytest.raises(ValueError, match="json:loads"):
        AgentSpec.admit(["random", "json:loads"])


def test_rows_of_one_molecule_are_entries_or_replicates_as_it_is_said(tmp_path):
    (tmp_path / "runs.csv").write_text("smiles,temp,y\nCCO,60,1\nCCO,80,3\nCCN,60,2\n")
    given = {"graphs": str(tmp_path / "runs.csv"), "target": "y"}
    with pytest.raises(ValueError, match="--slot temp"):
        EnvironmentSettings(**given).to_dict()
    assert EnvironmentSettings(**given, ignore_column=("temp",)).contents.num_graphs == 2
    assert EnvironmentSettings(**given, slot="temp") == EnvironmentSettings(**given, slot=["temp"])  # sweep files
    entries = read_own_graphs(EnvironmentSettings(**given, slot=("temp",)).pool)
    assert entries.means.tolist() == [1, 3, 2]
    assert [slot.name for slot in entries.graphs.slots] == ["smiles", "temp"]
