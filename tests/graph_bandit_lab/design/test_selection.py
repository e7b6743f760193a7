"""A small part of a sweep: some of its environments, shorter episodes."""

import re
from pathlib import Path

import pytest

from graph_bandit_cli.main import main
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Sweep, load_results
from graph_bandit_lab.design import Overrides, read_sweep
from graph_bandit_lab.design.selection import parse_selection


def environments(name, *selection, **overrides):
    sweep = read_sweep(name, Overrides(environments=selection, **overrides))
    return [environment for grid in sweep.grids for environment in grid.environments]


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        ((), 192),
        (("num_graphs=10",), 48),
        (("K=10",), 48),
        (("num_graphs=10", "reward_model=linear,gp_gntk"), 32),
        (("K=10,50", "N=10", "p=0.4", "reward_model=gp_representation", "T=1000"), 2),
    ],
)
def test_environments_are_chosen_by_settings_or_by_the_symbols_of_reports(selection, count):
    chosen = environments("paper-table1", *selection)
    assert len(chosen) == count
    assert len(environments("paper-table1", *selection, horizon=20)) == count
    if "num_graphs=10" in selection:
        assert {environment.num_graphs for environment in chosen} == {10}


def test_a_setting_that_is_none_is_chosen_as_messages_write_it():
    sweep = Sweep(
        title="drift",
        grids=(Grid((EnvironmentSettings(), EnvironmentSettings(drift="walk")), (AgentSpec.parse("random"),)),),
        seeds=(0,),
    )
    for text, expected in (("drift=None", [None]), ("drift=walk", ["walk"]), ("drift=None,walk", [None, "walk"])):
        (grid,) = sweep.select(parse_selection([text])).grids
        assert [environment.drift for environment in grid.environments] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("graphs=hits.csv", ["affinity", "weight"]),
        ("graphs=hits.csv (weight)", ["weight"]),
        ("graphs=hits.csv,other.csv", ["affinity", "weight", "affinity"]),
        ("graphs=other.csv,None", ["affinity", None]),
    ],
)
def test_own_graphs_are_chosen_by_their_file_with_or_without_the_column(tmp_path, text, expected):
    files = [str(tmp_path / name) for name in ("hits.csv", "other.csv")]
    for path in files:
        Path(path).write_text("smiles,affinity,weight\nCCO,1.5,46\nCCN,2.5,45\n")
    own = [(files[0], "affinity"), (files[0], "weight"), (files[1], "affinity")]
    settings = [EnvironmentSettings(graphs=path, target=column) for path, column in own]
    grid = Grid((*settings, EnvironmentSettings(num_graphs=3)), (AgentSpec.parse("random"),))
    (part,) = Sweep(title="own", grids=(grid,), seeds=(0,)).select(parse_selection([text])).grids
    assert [environment.target for environment in part.environments] == expected


def test_a_grid_without_such_an_environment_is_left_out():
    sweep = read_sweep("paper-figure1").select({"graph_model": ["er"]})
    assert len(read_sweep("paper-figure1").grids) == 2
    assert [environment.graph_model for grid in sweep.grids for environment in grid.environments] == ["er"] * 3


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (["num_graph=10"], "Unknown setting `num_graph` of environments. Did you mean `num_graphs`?"),
        (["num_graphs=11"], "Expected `num_graphs` to be one of 10, 50, 100, 200. Got 11."),
        (["reward_model=gp_gntq"], "Got gp_gntq. Did you mean `gp_gntk`?"),
        (["num_graphs"], "Expected environments as `setting=value` or `setting=value,value`. Got `num_graphs`."),
        (["num_graphs="], "Got `num_graphs=`."),
        (["K=10", "num_graphs=50"], "Got `num_graphs` twice"),
    ],
)
def test_typos_get_the_nearest_name_and_what_there_is(selection, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        environments("paper-table1", *selection)


def test_settings_that_no_environment_has_together_are_refused_with_those_that_there_are():
    grids = tuple(
        Grid((EnvironmentSettings(num_graphs=k, num_nodes=n, horizon=8),), (AgentSpec.parse("random"),))
        for k, n in ((3, 4), (5, 6))
    )
    sweep = Sweep(title="two", grids=grids, seeds=(1,))
    with pytest.raises(ValueError, match=r"There are: num_graphs=3, num_nodes=4; num_graphs=5, num_nodes=6\."):
        sweep.select({"num_graphs": [3], "num_nodes": [6]})


def test_a_shorter_horizon_is_that_of_every_repetition_and_is_checked():
    whole, short = read_sweep("quick").plan(), read_sweep("quick").select(horizon=7).plan()
    assert len(short.repetitions) == len(whole.repetitions)
    assert {repetition.key.environment["horizon"] for repetition in short.repetitions} == {7}
    with pytest.raises(ValueError, match="`horizon`"):
        read_sweep("quick", Overrides(horizon=0))


def test_a_part_has_the_keys_of_the_whole_so_that_the_sweep_goes_on_from_it():
    whole = {repetition.identity for repetition in read_sweep("quick").plan().repetitions}
    part = {
        repetition.identity for repetition in read_sweep("quick", Overrides(environments=("K=10",))).plan().repetitions
    }
    assert len(part) == len(whole) / 3
    assert part < whole


def test_the_command_plays_a_part_of_a_preset(tmp_path, capsys):
    part = ["--environments", "K=10", "N=10", "reward_model=linear", "--horizon", "4", "--repetitions", "1"]
    command = ["sweep", "quick", "--out", str(tmp_path), *part, "--agents", "random", "ucb1", "--workers", "None"]
    assert main(command) == 0
    results = load_results(tmp_path)
    assert len(results) == 2
    assert set(results["rounds"]) == {4}
    capsys.readouterr()
    other = [text.replace("K=10", "K=11") for text in command]
    assert main(other) == 1
    assert "Expected `num_graphs` to be one of 10, 50, 100. Got 11." in capsys.readouterr().err
