"""The laboratory plays on graphs of one's own, which it knows by their content."""

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import registry
from graph_bandit_env import MoleculeSet
from graph_bandit_env.files import read_pool
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Sweep, read_sweep
from graph_bandit_lab.design import own_graphs
from graph_bandit_lab.design.names import describe_environment, name_environments
from graph_bandit_lab.design.own_graphs import PoolFile, read_outline, read_own_graphs
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.design.sweep_file import Overrides

MOLECULES = {"CCO": 1.5, "CCN": 2.5, "c1ccccc1": 0.5, "CC(=O)O": None, "CCCC": 4.0}


def write_table(path, values=MOLECULES, column="affinity"):
    rows = [f"{text},{'' if value is None else value}" for text, value in values.items()]
    text = "\n".join([f"smiles,{column}", *rows, ""]).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)


def write_graphs(path, count=6):
    graphs = [nx.cycle_graph(k + 3, create_using=nx.Graph) for k in range(count)]
    for k, graph in enumerate(graphs):
        nx.set_node_attributes(graph, {node: [1.0, float(k)] for node in graph}, "x")
        graph.graph["value"] = k / 2
    path.write_text("".join(json.dumps(nx.node_link_data(graph, edges="edges")) + "\n" for graph in graphs))
    return str(path)


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "hits.csv")


def planned(environment, *agents):
    return plan([Grid((environment,), tuple(map(AgentSpec.parse, agents)))], (1,))


def test_values_of_a_column_are_the_mean_rewards_and_graphs_without_one_are_left_out(table):
    environment = EnvironmentSettings(graphs=table, target="affinity")
    own = read_own_graphs(environment.pool)
    np.testing.assert_array_equal(own.means, [1.5, 2.5, 0.5, 4.0])
    assert (environment.contents.num_graphs, environment.contents.left_out, environment.rewards) == (4, 1, "target")
    assert environment.note == "hits.csv (affinity): left out graphs without a value (1)."


def test_agents_see_molecules_and_no_values(table):
    own = read_own_graphs(PoolFile(source=table, target="affinity"))
    assert isinstance(own.graphs, MoleculeSet)
    assert not own.graphs.known.any()


def test_small_values_may_be_wanted(table):
    environment = EnvironmentSettings(graphs=table, target="affinity", minimize=True)
    (repetition,) = planned(environment, "random")
    arguments = repetition.to_arguments()
    np.testing.assert_array_equal(arguments["reward_model"], [-1.5, -2.5, -0.5, -4.0])
    assert planned(replace(environment, minimize=False), "random")[0].key != repetition.key


def test_results_know_graphs_by_their_content(tmp_path, table):
    keys = set()
    for path, column in (("hits.csv", "affinity"), ("moved.csv", "affinity"), ("packed.csv.gz", "pKi")):
        environment = EnvironmentSettings(graphs=write_table(tmp_path / path, column=column), target=column)
        keys.add(planned(environment, "random")[0].key.settings_hash)
    assert len(keys) == 1
    other = EnvironmentSettings(graphs=write_table(tmp_path / "other.csv", MOLECULES | {"CCO": 1.6}), target="affinity")
    assert planned(other, "random")[0].key.settings_hash not in keys


def test_people_know_them_by_the_name_of_their_file(tmp_path, table):
    one = EnvironmentSettings(graphs=table, target="affinity", horizon=3, replacement=False)
    assert describe_environment(one.describe()) == "hits.csv (affinity), N = 3 to 6, K = 4, T = 3, each graph once"
    two = EnvironmentSettings(graphs=write_graphs(tmp_path / "rings.jsonl"), target="value", horizon=3)
    random = EnvironmentSettings(num_graphs=8, horizon=3)
    names = name_environments([environment.describe() for environment in (one, two, random)])
    assert names[0].startswith("hits.csv (affinity)")
    assert names[1].startswith("rings.jsonl (value)")
    assert "K = 8" in names[2]
    assert "None" not in "".join(names)


def test_a_random_reward_function_can_be_drawn_on_own_graphs(tmp_path):
    environment = EnvironmentSettings(graphs=write_graphs(tmp_path / "rings.jsonl"), reward_model="linear")
    assert planned(environment, "random")[0].to_arguments()["reward_model"] == "linear"


def test_without_values_all_graphs_stay_and_their_values_change_nothing(tmp_path):
    path = Path(write_graphs(tmp_path / "rings.jsonl"))
    settings = {"graphs": str(path), "reward_model": "linear"}
    all_graphs = EnvironmentSettings(**settings)
    path.write_text(path.read_text().replace('"value": 0.5', '"value": null'))
    os.utime(path, ns=(1, 1))
    assert EnvironmentSettings(**settings).to_dict() == all_graphs.to_dict()
    assert all_graphs.contents.num_graphs == 6


def test_rows_that_cannot_be_read_are_counted_and_the_first_is_named(tmp_path):
    path = write_table(tmp_path / "hits.csv", MOLECULES | {"not a molecule": 1.0, "nor this": 2.0})
    environment = EnvironmentSettings(graphs=path, target="affinity", skip_bad_rows=True)
    assert "left out rows that cannot be read (2; the first is 7: " in environment.note
    assert environment.note.endswith("and graphs without a value (1).")


def test_different_environments_on_one_file_have_different_names(tmp_path):
    path = write_graphs(tmp_path / "rings.jsonl")
    changes = [{"reward_model": "linear"}, {"reward_model": "gp_gntk"}, {"target": "value"}]
    changes += [{"target": "value", "resample_graphs": "round", "num_graphs": count} for count in (2, 3)]
    names = name_environments([EnvironmentSettings(graphs=path, **change).describe() for change in changes])
    assert len(set(names)) == len(changes)
    assert all(names)


def test_some_of_the_graphs_can_be_drawn_for_each_round(tmp_path):
    path = write_graphs(tmp_path / "rings.jsonl")
    environment = EnvironmentSettings(graphs=path, target="value", resample_graphs="round", num_graphs=(2, 4))
    assert environment.to_dict()["num_graphs"] == [2, 4]
    assert planned(environment, "gntk-ucb")[0].to_arguments()["num_graphs"] == [2, 4]


def write_noisy(path, *noise):
    rows = zip(MOLECULES, MOLECULES.values(), noise, strict=False)
    path.write_text("smiles,affinity,sd\n" + "".join(f"{s},{'' if a is None else a},{sd}\n" for s, a, sd in rows))
    return {"graphs": str(path), "target": "affinity", "noise_column": "sd"}


def test_each_graph_has_the_noise_of_its_column(tmp_path):
    noise = [0.1, 0.2, 0.0, 0.4, 0.5]
    environment = EnvironmentSettings(**write_noisy(tmp_path / "noisy.csv", *noise), horizon=2)
    (repetition,) = planned(environment, "random")
    kept = [sd for sd, value in zip(noise, MOLECULES.values(), strict=True) if value is not None]
    np.testing.assert_array_equal(repetition.to_arguments()["noise_std"], kept)
    assert repetition.key.environment["noise_std"] == "column"
    other = EnvironmentSettings(**write_noisy(tmp_path / "other.csv", 0.3, *noise[1:]), horizon=2)
    same = EnvironmentSettings(**write_noisy(tmp_path / "moved.csv", *noise), horizon=2)
    assert planned(same, "random")[0].key == repetition.key != planned(other, "random")[0].key
    env = registry.make_environment(**repetition.to_arguments())
    env.reset(seed=0)
    assert [env.step(k)[1] == kept_mean for k, kept_mean in ((2, 0.5), (3, 4.0))] == [True, False]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise_std": 0.5}, "either `noise_column` or `noise_std`. Got both, 0.5 for the latter"),
        ({"reward_scale": "unit"}, "because it is in their units. Got rewards target of scale unit"),
        ({"target": None, "reward_model": "linear"}, "because it is in their units. Got rewards linear"),
        ({"resample_graphs": "round", "num_graphs": 2}, "one number, since the graphs change"),
        ({"noise_column": "spread"}, "Expected a column `spread`"),
    ],
)
def test_refuses_noise_that_fits_no_values(tmp_path, changes, message):
    settings = write_noisy(tmp_path / "noisy.csv", 0.1, 0.2, 0.0, 0.4, 0.5) | {"horizon": 2} | changes
    with pytest.raises(ValueError, match=message):
        EnvironmentSettings(**settings)


@pytest.mark.parametrize(("bad", "message"), [("", "Got none for"), (-0.1, "Got -0.1 for")])
def test_refuses_graphs_without_noise(tmp_path, bad, message):
    with pytest.raises(
        ValueError, match=f"Expected a number >= 0 in `sd` of .* for each graph with a value. {message}"
    ):
        EnvironmentSettings(**write_noisy(tmp_path / "noisy.csv", 0.1, bad, 0.1, 0.1, 0.1))


@pytest.mark.parametrize(
    ("bad", "left"),
    [
        ({"CCN": "low,0.2"}, ["CCO", "CCC", "CCCC"]),
        ({"CCN": "2.5,low"}, ["CCO", "CCC", "CCCC"]),
        ({"CCN": "low,low"}, ["CCO", "CCC", "CCCC"]),
        ({"CCN": "low,0.2", "CCC": "3.5,low"}, ["CCO", "CCCC"]),
    ],
)
def test_each_graph_keeps_its_own_noise_where_bad_rows_are_left_out(tmp_path, bad, left):
    rows = {"CCO": "1.5,0.1", "CCN": "2.5,0.2", "CCC": "3.5,0.3", "CCCC": "4.5,0.4"}
    path = tmp_path / "noisy.csv"
    path.write_text("smiles,affinity,sd\n" + "".join(f"{text},{cells}\n" for text, cells in (rows | bad).items()))
    own = read_own_graphs(PoolFile(source=str(path), target="affinity", noise_column="sd", skip_bad_rows=True))
    assert list(own.graphs.smiles) == left
    assert [f"{mean},{noise}" for mean, noise in zip(own.means, own.noise, strict=True)] == [rows[k] for k in left]
    assert len(own.contents.skipped) == len(bad)


def test_a_bad_noise_is_refused_like_any_bad_row(tmp_path):
    with pytest.raises(ValueError, match="3: expected a number in `sd`. Got 'low'"):
        EnvironmentSettings(**write_noisy(tmp_path / "noisy.csv", 0.1, "low", 0.1, 0.1, 0.1))


def test_rows_of_one_molecule_have_the_mean_of_their_noise_and_agents_do_not_see_it(tmp_path):
    path = tmp_path / "noisy.csv"
    path.write_text("smiles,affinity,sd\nCCO,1,0.1\nOCC,3,0.3\nCCN,5,0.5\n")
    own = read_own_graphs(PoolFile(source=str(path), target="affinity", noise_column="sd"))
    np.testing.assert_allclose(own.noise, [0.2, 0.5])
    assert own.graphs.column_names == ()


def test_graphs_that_are_not_molecules_have_noise_too(tmp_path):
    path = Path(write_graphs(tmp_path / "rings.jsonl", count=3))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for k, line in enumerate(lines):
        line["graph"]["sd"] = (k + 1) / 8
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    own = read_own_graphs(PoolFile(source=str(path), target="value", noise_column="sd"))
    np.testing.assert_array_equal(own.noise, [0.125, 0.25, 0.375])


def test_a_pool_with_a_name_needs_no_file():
    environment = EnvironmentSettings(graphs="library", target="logp", horizon=5)
    assert environment.contents.num_graphs == 4419
    assert environment.describe()["graphs"] == "library (logp)"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graphs": None}, "Expected `target` with `graphs`, a file of your own graphs. Got no file"),
        ({"reward_model": "linear"}, "either the values of the file or a reward function .* Got linear with `target`"),
        ({"target": None}, "Expected `target`, the column of the values .* Got neither"),
        ({"target": "afinity"}, "column `afinity`"),
        ({"num_nodes": 7}, "Got both"),
        ({"replacement": False, "horizon": 5}, "Got 5 rounds of 4 graphs"),
        ({"reward_seed": 3}, "`reward_seed` with random graphs"),
    ],
)
def test_says_what_does_not_fit(table, changes, message):
    with pytest.raises(ValueError, match=message):
        EnvironmentSettings(**{"graphs": table, "target": "affinity"} | changes)


def write_arrows(path):
    arrows = nx.DiGraph([(0, 1), (1, 2)])
    nx.set_node_attributes(arrows, 1.0, "x")
    lines = [json.dumps(nx.node_link_data(arrows.reverse() if k else arrows, edges="edges")) for k in range(2)]
    path.write_text("\n".join(lines))
    return str(path)


def test_directions_of_a_file_are_kept_or_dropped_as_one_says(tmp_path):
    path = write_arrows(tmp_path / "arrows.jsonl")
    arrows = EnvironmentSettings(graphs=path, reward_model="linear")
    assert read_own_graphs(arrows.pool).graphs.directed
    assert not read_own_graphs((edges := replace(arrows, directed=False)).pool).graphs.directed
    assert replace(arrows, directed=True).to_dict() == arrows.to_dict()  # known by their content
    assert edges.to_dict() != arrows.to_dict()
    assert edges.to_dict().keys() == arrows.to_dict().keys()
    assert planned(arrows, "random")[0].to_arguments()["graphs"].directed


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"skip_bad_rows": True}, "where bad rows can be skipped"),
        ({"smiles": "text"}, "with SMILES in a column `text`"),
    ],
)
def test_options_of_molecules_are_refused_for_other_graphs(tmp_path, option, message):
    with pytest.raises(ValueError, match=message):
        EnvironmentSettings(graphs=write_graphs(tmp_path / "rings.jsonl"), target="value", **option)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        EnvironmentSettings(graphs=str(tmp_path / "nothing.csv"), target="affinity")


def test_agents_that_need_molecules_play_on_molecules_only(table, tmp_path):
    assert len(planned(EnvironmentSettings(graphs=table, target="affinity"), "molecule-ucb")) == 1
    rings = EnvironmentSettings(graphs=write_graphs(tmp_path / "rings.jsonl"), target="value")
    for environment in (rings, EnvironmentSettings()):
        with pytest.raises(ValueError, match="`molecule-ucb` needs molecules"):
            planned(environment, "molecule-ucb")


def test_a_file_that_changed_since_is_not_played(table):
    (repetition,) = planned(EnvironmentSettings(graphs=table, target="affinity"), "random")
    write_table(Path(table), MOLECULES | {"CCO": 9.0})
    os.utime(table, ns=(1, 1))
    with pytest.raises(ValueError, match="to hold what it held when this was planned"):
        repetition.to_arguments()


def test_a_sweep_file_finds_graphs_in_its_own_folder(tmp_path, monkeypatch):
    folder = tmp_path / "study"
    folder.mkdir()
    write_table(folder / "hits.csv")
    write_graphs(folder / "rings.jsonl")
    (folder / "study.toml").write_text(
        'agents = ["random"]\n'
        '[[grid]]\nenvironment = {graphs = "hits.csv", target = "affinity", horizon = 3}\n'
        '[[grid]]\nenvironment = {graphs = "rings.jsonl", target = "value", horizon = 3}\n'
        "[[grid]]\nenvironment = {num_graphs = 3, horizon = 3}\n"
    )
    write_table(tmp_path / "hits.csv", {"CCO": 9.0})  # in the working folder, which does not count
    monkeypatch.chdir(tmp_path)
    sweep = read_sweep(folder / "study.toml")
    assert isinstance(sweep, Sweep)
    pools = [repetition.pool and repetition.pool.name for repetition in sweep.plan().repetitions]
    assert pools == ["hits.csv (affinity)", "rings.jsonl (value)", None]
    assert sweep.plan().notes == ("hits.csv (affinity): left out graphs without a value (1).",)


@pytest.mark.parametrize("overrides", [Overrides(), Overrides(horizon=2)])
def test_planning_reads_each_of_many_files_once(tmp_path, monkeypatch, overrides):
    names, read = [f"hits{k}.csv" for k in range(4)], []
    for name in names:
        write_table(tmp_path / name, MOLECULES | {"CCO": float(name[4])})
    (tmp_path / "study.toml").write_text(
        f'agents = ["random"]\n[[grid]]\nenvironment = {{horizon = [3, 4], graphs = {names}, target = "affinity"}}\n'
    )

    def count(path, *arguments, **keywords):
        read.append(Path(path).name)
        return read_pool(path, *arguments, **keywords)

    monkeypatch.setattr(own_graphs, "read_pool", count)
    assert len(read_sweep(tmp_path / "study.toml", overrides).plan().repetitions) == (4 if overrides.horizon else 8)
    assert read == names


def test_planning_holds_no_graph_of_a_file(table):
    file = PoolFile(source=table, target="affinity")
    own, outline = read_own_graphs(file), read_outline(file)
    assert outline.graphs.largest_sizes == (1, 0)
    assert outline.contents == own.contents
    assert len(outline.graphs) == len(own.graphs) == 4
    np.testing.assert_array_equal(outline.means, own.means)


def test_a_sweep_file_does_not_look_for_its_graphs_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "study").mkdir()
    write_table(tmp_path / "hits.csv")
    (tmp_path / "study" / "study.toml").write_text(
        'agents = ["random"]\n[[grid]]\nenvironment = {graphs = "hits.csv", target = "affinity"}\n'
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="hits.csv"):
        read_sweep("study/study.toml")
