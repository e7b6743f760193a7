import dataclasses
import json
import re
import sys
from functools import cache

import pytest

import registry
from agents.contract import plays_changing_graphs
from graph_bandit_cli.main import main
from graph_bandit_lab.design import Overrides, list_presets, read_sweep
from graph_bandit_lab.design.sweep_file import check_sweep
from graph_bandit_lab.execution import planning

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
def little(tmp_path):
    path = tmp_path / "little.toml"
    path.write_text(TOML)
    return path


def test_a_sweep_is_the_product_of_its_lists(little):
    found = read_sweep(little)
    assert found.title == "in little"
    assert [(e.num_graphs, e.reward_model) for e in found.grids[0].environments] == [
        (3, "linear"),
        (3, "gp_gntk"),
        (5, "linear"),
        (5, "gp_gntk"),
    ]
    assert len(found.plan().repetitions) == 4 * 2 * 2


def test_settings_multiply_agents(tmp_path):
    path = tmp_path / "tune.toml"
    path.write_text(
        'seeds = [7]\n[[grid]]\nagents = ["gnn-ts:width=8", "gnn-ucb"]\n'
        "[grid.settings]\nlearning_rate = [0.1, 0.01]\nstandardize = false\n"
    )
    assert tuple(spec.label for spec in read_sweep(path).grids[0].agents) == (
        "gnn-ts:width=8,learning_rate=0.1,standardize=False",
        "gnn-ts:width=8,learning_rate=0.01,standardize=False",
        "gnn-ucb:learning_rate=0.1,standardize=False",
        "gnn-ucb:learning_rate=0.01,standardize=False",
    )
    assert read_sweep(path).seeds == (7,)


MINE = """import registry
@registry.agent_factory
def pi(width=1, margin=0.1):
    return object()
"""


@pytest.fixture
def outsider(tmp_path, monkeypatch):
    """A working folder with an agent of a file, which is not admitted yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.setattr(registry, "_ADMITTED", {})
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    (tmp_path / "mine.py").write_text(MINE)


def test_settings_multiply_agents_of_a_file(outsider, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'seeds = [7]\n[[grid]]\nagents = ["mine:pi", "mine:pi:width=8"]\n[grid.settings]\nmargin = [0.1, 0.3]\n'
    )
    specs = read_sweep(path, Overrides(admit=("mine:pi",))).grids[0].agents
    assert [spec.label for spec in specs] == [
        "mine:pi:margin=0.1",
        "mine:pi:margin=0.3",
        "mine:pi:width=8,margin=0.1",
        "mine:pi:width=8,margin=0.3",
    ]
    assert {spec.name for spec in specs} == {"mine:pi"}


def test_a_sweep_file_loads_no_agent_that_nobody_named(outsider, little):
    little.write_text(TOML.replace('"random"', '"mine:pi"'))
    for read in (read_sweep, check_sweep, lambda path: read_sweep(path, Overrides(admit=("mine:other",)))):
        with pytest.raises(ValueError, match=r"little.toml: .*`mine:pi`.*never loads code.*`--admit`"):
            read(little)
    assert "mine" not in sys.modules


def test_only_agents_of_files_are_admitted():
    with pytest.raises(ValueError, match="`admit` to name agents of files, as `module:factory`. Got 'random'"):
        Overrides(admit=("random",))


@pytest.mark.parametrize(
    "change",
    [
        ("repetitions = 2", "repetitions = 0"),
        ("repetitions = 2", "repetitions = 2\nunknown = 1"),
        ("repetitions = 2", "repetitions = 2\ntunes = 1"),
        ('title = "in little"', "title = 1"),
        ('["gnn-ts:width=8,steps=2", "random"]', "1"),
        ('"random"', '"randon"'),
        ('"random"', '"random:scale"'),
        ("[[grid]]", "[[grid]]\ntable = 1"),
        ("num_nodes = 4", "num_nodes = 0"),
    ],
)
def test_a_mistake_is_found_before_a_table_is_read_an_agent_made_or_a_process_started(change, little, monkeypatch):
    def refuse(*arguments):
        raise AssertionError(f"It went on to {arguments}.")

    for name in ("registry.make_agent", "graph_bandit_lab.design.own_graphs.read_pool"):
        monkeypatch.setattr(name, refuse)
    monkeypatch.setattr(planning, "Processes", refuse)
    text = TOML + '[[grid]]\n[grid.environment]\ngraphs = "library"\ntarget = "logp"\n'
    little.write_text(text)
    with pytest.raises(AssertionError, match="It went on to"):
        planning.plan_sweep(little, Overrides())
    little.write_text(text.replace(*change, 1))
    for read in (read_sweep, lambda path: planning.plan_sweep(path, Overrides())):
        with pytest.raises(ValueError, match="xpected|nknown"):
            read(little)


def test_settings_of_agents_are_refused_before_a_table_is_read(little, monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.design.own_graphs.read_pool", lambda *_, **__: 1 / 0)
    text = TOML + '[[grid]]\n[grid.environment]\ngraphs = "library"\ntarget = "logp"\n'
    little.write_text(text.replace("width=8", "widht=8"))
    with pytest.raises(ValueError, match="Did you mean `width`"):
        read_sweep(little)


SIZES = {
    "paper-figure1": 6 * 6 * 10,
    "paper-figure2": 4 * 6 * 10,
    "paper-figure3": 8 * 10,
    "paper-rdpg": 48 * 6 * 10,
    "paper-table1": 192 * 6 * 10,
    "quick": 18 * 6 * 3,
    "tune": 2 * 3 * 64 * 10,
}


def test_the_presets_are_those_of_the_paper_one_of_graphs_that_change_and_the_testbed():
    assert set(list_presets()) == {*SIZES, "changing", "testbed"}


def test_the_preset_of_graphs_that_change_has_all_agents_that_play_them():
    (grid,) = read_sweep("changing").grids
    assert {spec.name for spec in grid.agents} == set(filter(plays_changing_graphs, registry.list_agents()))


def test_two_numbers_in_a_list_of_their_own_are_the_least_and_the_most(tmp_path):
    file = tmp_path / "sizes.toml"
    file.write_text('agents = ["random"]\n[[grid]]\n[grid.environment]\nnum_graphs = [[5, 40], 10, 12]\n')
    (grid,) = read_sweep(file).grids
    assert [environment.num_graphs for environment in grid.environments] == [(5, 40), 10, 12]


@cache
def planned(name, fit):
    return read_sweep(name, Overrides(fit=fit)).plan().repetitions


@pytest.mark.parametrize("fit", ["steps", "passes"])
@pytest.mark.parametrize("name", SIZES)
def test_a_preset_has_the_repetitions_that_the_paper_has(name, fit):
    repetitions = planned(name, fit)
    assert len(repetitions) == SIZES[name]
    assert {one.key.agent_settings["fit"] for one in repetitions} == {"epochs" if fit == "passes" else "steps"}
    assert {one.key.agent_settings["covariance"] for one in repetitions} == {"diagonal"}


ER = {"edge_prob": {0.2, 0.4, 0.6, 0.8}, "num_nodes": {10, 50, 100, 500}, "num_graphs": {10, 50, 100, 200}}
REWARDS = {"linear", "gp_gntk", "gp_representation"}
VALUES = {
    "paper-figure1": {"graph_model": {"er", "rdpg"}, "edge_prob": {0.4}, "num_nodes": {50}, "num_graphs": {100}},
    "paper-figure2": {"graph_model": {"rdpg"}, "num_nodes": {100}, "num_graphs": {10, 50, 100, 200}},
    "paper-figure3": {"graph_model": {"er"}, "edge_prob": {0.4}, "num_nodes": {50}, "num_graphs": {100}},
    "paper-rdpg": {**ER, "graph_model": {"rdpg"}, "edge_prob": {0.4}, "reward_model": REWARDS},
    "paper-table1": {**ER, "graph_model": {"er"}, "reward_model": REWARDS},
    "quick": {"edge_prob": {0.4}, "num_nodes": {10, 50}, "num_graphs": {10, 50, 100}, "reward_model": REWARDS},
    "tune": {"graph_model": {"er", "rdpg"}, "num_nodes": {50}, "num_graphs": {100}, "reward_model": {"gp_gntk"}},
}


@pytest.mark.parametrize("name", SIZES)
def test_a_preset_has_the_values_of_the_paper(name):
    repetitions = planned(name, "steps")
    environments = [one.key.environment for one in repetitions]
    horizon = {500} if name == "quick" else {1000}
    for setting, values in {**VALUES[name], "horizon": horizon, "noise_std": {0.01}, "feature_dim": {10}}.items():
        assert {environment[setting] for environment in environments} == values, setting
    agents = [one.key.agent_settings for one in repetitions]
    assert {agent["depth"] for agent in agents} == {2}
    assert {agent["width"] for agent in agents} == ({32, 128, 512, 2048} if name == "paper-figure3" else {512})
    if name == "tune":
        assert {agent["exploration_scale"] for agent in agents} == {0.01, 0.1, 1, 10}
        for setting in ("learning_rate", "regularization"):
            assert {agent[setting] for agent in agents} == {0.1, 0.01, 0.001, 0.0001}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("title", "titel"), "unknown key `titel`"),
        (("num_nodes", "nodes"), "unknown key `nodes`"),
        (("[grid.environment]", "[grid.world]"), "unknown key `world`"),
        (("repetitions = 2", "seeds = [1]\nseed = 2"), "either `seeds`, or `seed` and `repetitions`"),
        (('agents = ["gnn-ts:width=8,steps=2", "random"]', ""), "expected `agents`"),
        (('"random"', '"randon"'), "Did you mean `random`"),
        (("horizon = 8", "horizon = 0"), "`horizon`"),
        (("title =", "title"), "to be a TOML file"),
        (("repetitions = 2", "seeds = 7"), "`seeds` to be a list of integers >= 0. Got 7"),
        (("repetitions = 2", "seeds = [1, 1]"), "each of `seeds` once"),
        (("repetitions = 2", "repetitions = 0"), "`repetitions` >= 1. Got 0 and 0"),
        (("repetitions = 2", 'repetitions = "5"'), "Got 0 and '5'"),
        (("[[grid]]", "[grid]"), "under `[[grid]]`"),
        (('["gnn-ts:width=8,steps=2", "random"]', '"random"'), "a list of names"),
        (("num_graphs = [3, 5]", "num_graphs = []"), "at least one value of `num_graphs`"),
        (("[[grid]]\n[grid.environment]", "[[grid]]\nenvironment = 3\n[grid.settings]"), "`environment` to be a table"),
        (("[[grid]]\n[grid.environment]", "grid = [1]\n[other]"), "unknown key `other`"),
        (("num_nodes = 4", "graph_model = 1"), "`graph_model`"),
        (
            (
                'agents = ["gnn-ts:width=8,steps=2", "random"]',
                'agents = {"a {fit}" = "random", "a paper-steps" = "ucb1"}',
            ),
            "Expected a label for each agent",
        ),
    ],
)
def test_refuses_a_file_with_a_mistake(little, change, message):
    little.write_text(TOML.replace(*change))
    with pytest.raises(ValueError, match=re.escape(message)):
        read_sweep(little).plan()


def test_the_command_tells_of_a_mistake_before_anything_is_played(little, tmp_path, capsys):
    little.write_text(TOML.replace('"random"', '"randon"'))
    assert main(["sweep", str(little), "--out", str(tmp_path / "out"), "--workers", "1"]) == 1
    assert capsys.readouterr().err.startswith("graph-bandit: Unknown agent `randon`. Did you mean `random`?")
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_neither_file_nor_preset_comes_with_those_that_are(tmp_path, capsys):
    assert main(["sweep", "qick", "--out", str(tmp_path)]) == 1
    assert "paper-figure1, paper-figure2" in capsys.readouterr().err


def test_the_steps_preset_is_the_papers_but_for_the_number_of_steps():
    literal, steps = (registry.make_agent("gnn-ts", preset=name).settings for name in ("paper", "paper-steps"))
    assert dataclasses.replace(steps, fit="epochs", steps=literal.steps) == literal


LABELS = """
repetitions = 2
[agents]
"mine ({fit})" = "gnn-ts:preset={fit},{tuned}"
"NN" = "nn-ts:{tuned}"
[[grid]]
[grid.environment]
graph_model = ["er", "rdpg"]
num_graphs = 3
num_nodes = 4
"""


@pytest.fixture
def tuned(tmp_path):
    cells = {"er": {"gnn-ts": {"width": 8}}, "rdpg": {"gnn-ts": {"width": 16, "history": "frozen"}}}
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps({"settings": cells, "chosen_from": []}))
    return path


def test_tuned_settings_depend_on_the_graphs_and_labels_do_not(tmp_path, tuned):
    path = tmp_path / "labels.toml"
    path.write_text(LABELS)
    found = read_sweep(path, Overrides(fit="passes", tuned=tuned)).plan().repetitions
    assert {(one.label, one.key.environment["graph_model"], one.key.agent_settings["width"]) for one in found} == {
        ("mine (paper)", "er", 8),
        ("mine (paper)", "rdpg", 16),
        ("NN", "er", 8),  # takes those of its twin
        ("NN", "rdpg", 16),
    }
    assert {one.key.agent_settings["penalty"] for one in found if one.label != "NN"} == {"constant"}


def test_settings_that_nobody_tuned_are_asked_for(tmp_path, tuned):
    path = tmp_path / "labels.toml"
    path.write_text(LABELS.replace('"nn-ts:{tuned}"', '"gntk-ts:{tuned}"'))
    with pytest.raises(ValueError, match=r"of gntk-ts on er in .*tuned.json. Got gnn-ts on er, gnn-ts on rdpg"):
        read_sweep(path, Overrides(tuned=tuned))


def test_a_file_of_tuned_settings_is_one_that_we_wrote(little, tmp_path):
    other = tmp_path / "other.json"
    other.write_text('["gnn-ts"]')
    with pytest.raises(ValueError, match="to hold tuned settings, as `graph-bandit tuned` writes them"):
        read_sweep(little, Overrides(tuned=other))
    with pytest.raises(FileNotFoundError, match="`graph-bandit tuned` writes one"):
        read_sweep(little, Overrides(tuned=tmp_path / "none.json"))


def test_agents_and_repetitions_can_stand_in_for_those_of_the_file(little):
    found = read_sweep(little, Overrides(agents=("gntk-ts",), repetitions=3))
    assert {one.label for one in found.plan().repetitions} == {"gntk-ts"}
    assert found.grids[0].environments == read_sweep(little).grids[0].environments
    assert found.seeds[:2] == read_sweep(little).seeds
    assert len(found.seeds) == 3


def test_seeds_that_are_named_can_be_fewer_but_not_more(little):
    little.write_text(TOML.replace("repetitions = 2", "seeds = [5, 6]"))
    assert read_sweep(little, Overrides(repetitions=1)).seeds == (5,)
    with pytest.raises(ValueError, match="at most 2 repetitions, one for each of its `seeds`. Got 3"):
        read_sweep(little, Overrides(repetitions=3))


@pytest.mark.parametrize("change", [{"fit": "step"}, {"repetitions": 0}])
def test_changes_are_checked_when_made(change):
    with pytest.raises(ValueError, match=f"Expected `{next(iter(change))}`"):
        Overrides(**change)
