"""What an entry may hold: each rule refuses what breaks it, and says what was expected, what came and what to do."""

import sys
from dataclasses import replace

import pytest
from support.entries import little_rules, play, read_little, rename, send

from graph_bandit_env.extras import MissingExtraError, packages
from graph_bandit_lab.board import Rules, read_entry, read_rules
from graph_bandit_lab.board.rules import find_replayable, is_ours

SET = "UPDATE repetitions SET {} = {}".format
VERSION = "UPDATE repetitions SET versions = json_set(versions, '$.{}', '{}')".format


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    return little_rules(tmp_path_factory.mktemp("rules"))


@pytest.fixture
def faults(rules, tmp_path):
    """Play agents on the board, change what they sent, and return what is wrong with the entry."""

    def find(*statements, agents=("random",), earlier=(), **changes):
        return rules.find_faults(read_entry(send(play(tmp_path / "mine", *agents, **changes), *statements)), earlier)

    return find


def test_repetitions_of_the_sweep_keep_the_rules(faults):
    assert faults(agents=("random", "ucb1", "lin-ucb:exploration_scale=0.5")) == ()


def test_a_wrong_seed_is_refused(faults, rules):
    others = (1, 2, 3)
    (fault,) = faults(agents=("ucb1",), seeds=others, environments=("task=few",))
    assert fault == (
        f"Expected the seeds of `little board`: {', '.join(map(str, rules.sweep.seeds))}. Got 3 repetitions with "
        "others: 'ucb1' with the seed 1; 'ucb1' with the seed 2; 'ucb1' with the seed 3. Play "
        "`graph-bandit sweep little board --agents ...` into a new folder, and change nothing of "
        "it: instances and noise follow from the seeds."
    )


def test_repetitions_that_are_missing_are_refused(faults):
    (fault,) = faults("DELETE FROM repetitions WHERE rowid = 1")
    assert fault.startswith("Expected 3 repetitions of 'random' on each task that it plays. Got 2 on few.")
    assert "`--retry-failed`" in fault


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"horizon": 5}, "differs from `few` in horizon 5."),
        ({"text": {"noise_std = 0.1, horizon = 12": "horizon = 12"}}, "differs from `few` in noise_std 0.01."),
        ({"text": {"num_graphs = 5": "num_graphs = 3"}}, "differs from `few` in num_graphs 3."),
    ],
)
def test_an_environment_that_is_not_a_task_is_refused_by_what_differs(faults, changes, said):
    assert any(said in fault and "change nothing of it" in fault for fault in faults(**changes))


def test_a_task_may_be_left_out(faults):
    assert faults(environments=("task=few",)) == ()


def test_a_finished_repetition_has_all_rounds(rules, tmp_path):
    entry = read_entry(send(play(tmp_path / "mine", "random")))
    entry.plays[0].__dict__["actions"] = entry.plays[0].actions[:-1]
    (fault,) = rules.find_faults(entry)
    assert fault == "Expected 12 rounds of a finished repetition. Got 11 of 'random'."


def test_an_agent_that_the_board_has_is_refused_by_the_name_of_its_entry(faults, rules, tmp_path):
    first = read_entry(send(play(tmp_path / "first", "random", "ucb1")))
    (fault,) = faults(agents=("lin-ucb", "ucb1"), earlier=[first])
    assert fault == (
        "Expected agents that the board does not have yet. Got 'ucb1', which the entry `first` has played, with the "
        "same settings. Export a folder without it."
    )


def test_an_agent_under_other_settings_may_come(faults, tmp_path):
    first = read_entry(send(play(tmp_path / "first", "lin-ucb")))
    assert faults(agents=("lin-ucb:exploration_scale=0.5",), earlier=[first]) == ()


def test_there_is_a_limit_to_the_agents_of_an_entry(faults, monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.board.rules.MOST_AGENTS", 1)
    assert faults(agents=("random", "ucb1")) == ("Expected at most 1 agents. Got 2. Send several entries.",)


def test_one_label_for_two_agents_is_refused(faults):
    agents = ("lin-ucb", "lin-ucb:exploration_scale=0.5")
    found = faults(SET("label", "'lin-ucb'"), agents=agents)
    assert any("one agent under each label. Got 'lin-ucb', 'lin-ucb'." in fault for fault in found)


def test_two_labels_for_one_agent_are_refused(faults):
    found = faults(SET("label", "'random:a=1'") + " WHERE rowid = 1")
    assert any("Expected one label for each agent" in fault for fault in found)


@pytest.mark.parametrize("label", ["gnn-ts", "lin-ucb:exploration_scale=2", "lin-ucb:exploration_scale"])
def test_a_label_that_tells_of_another_agent_is_refused(faults, label):
    found = faults(SET("label", f"'{label}'"), agents=("lin-ucb:exploration_scale=0.5",))
    assert any(f"Expected labels as `--agents` takes them: name:setting=value. Got '{label}'" in x for x in found)


@pytest.mark.parametrize("label", ["a\u202egod", "x" * 81, " random", "random\n", "gnn\u2011ts", "gnn-t\u0455"])
def test_a_label_that_a_page_cannot_show_is_refused(faults, label):
    found = faults(("UPDATE repetitions SET label = ?", (label,)))
    assert any("names of at most 80 printable characters of ASCII" in fault for fault in found)
    assert "\u202e" not in "".join(found)


@pytest.mark.parametrize("label", ["lin-ucb", "lin-ucb:best=true"])
def test_a_label_of_ours_that_does_not_tell_its_settings_is_refused(faults, label):
    found = faults(SET("label", f"'{label}'"), agents=("lin-ucb:exploration_scale=0.5",))
    assert found[0].startswith(f"Expected a label that tells all settings that are not defaults. Got '{label}' for ")


def test_a_label_of_others_may_not_tell_settings_that_there_are_not(rules, tmp_path):
    entry = of_another_package(read_entry(send(play(tmp_path / "mine", "random"))), "mine:made")
    plays = tuple(replace(one, label="mine:made:best=true") for one in entry.plays)
    (fault,) = rules.find_faults(replace(entry, plays=plays))
    assert fault.endswith("Got 'mine:made:best=true' for an agent without the setting 'best'.")


def test_versions_must_be_named(faults):
    (fault,) = faults("UPDATE repetitions SET versions = json_remove(versions, '$.torch') WHERE rowid = 2")
    assert fault == "Expected the versions of graph-bandit-env, torch, numpy, python in each row. Got none of torch."


def test_settings_that_an_agent_of_ours_does_not_take_are_refused(rules, tmp_path):
    entry = read_entry(send(rename(play(tmp_path / "mine", "ucb1"), "ucb1", settings={"secret": 1})))
    (fault,) = rules.find_faults(entry)
    assert fault.startswith("Expected settings that 'ucb1' takes. Got: ")
    assert "secret" in fault


def test_settings_that_are_not_all_of_them_are_refused(rules, tmp_path):
    few = {"exploration_scale": 0.7}
    entry = read_entry(send(rename(play(tmp_path / "mine", "lin-ucb"), "lin-ucb", settings=few)))
    (fault,) = rules.find_faults(entry)
    assert "under another key: it cannot play there, or its settings are not all that it has" in fault


# --- Whose agent it is


def test_agents_of_this_package_are_ours():
    assert [name for name in ("gnn-ts", "random", "evil:factory", "other") if is_ours(name)] == ["gnn-ts", "random"]


def of_another_package(entry, name, plug_in=""):
    plays = (replace(p, key=replace(p.key, agent=name, plug_in=plug_in), label=name) for p in entry.plays)
    return replace(entry, plays=tuple(plays))


@pytest.mark.parametrize(("name", "plug_in"), [("evil:factory", ""), ("other", "other 1.0"), ("other", "")])
def test_an_agent_of_others_keeps_the_rules_and_nothing_of_it_is_imported(rules, tmp_path, name, plug_in, monkeypatch):
    (tmp_path / "evil.py").write_text("import pathlib; pathlib.Path('pwned').touch()\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = of_another_package(read_entry(send(play(tmp_path / "mine", "random"))), name, plug_in)
    assert rules.find_faults(entry) == ()
    assert find_replayable(entry.plays) == ([], "an agent of another package or file")
    assert "evil" not in sys.modules
    assert not (tmp_path / "pwned").exists()


def test_an_agent_of_others_may_not_have_the_name_of_ours(rules, tmp_path):
    entry = of_another_package(read_entry(send(play(tmp_path / "mine", "ucb1"))), "random", "other 1.0")
    assert rules.find_faults(entry) == (
        "Expected another name than that of an agent of graph-bandit-env. Got 'random'. Rename yours.",
    )


@pytest.mark.parametrize("name", ["graph-bandit-env:gnn-ts", "gnn_ts:made", "mine.gnn_ts:make"])
def test_nor_a_name_that_contains_one_of_ours(rules, tmp_path, name):
    entry = of_another_package(read_entry(send(play(tmp_path / "mine", "ucb1"))), name)
    (fault,) = rules.find_faults(entry)
    assert fault == f"Expected another name than that of an agent of graph-bandit-env. Got '{name}'. Rename yours."


@pytest.mark.parametrize("algorithm", [0, 9])
def test_a_new_entry_may_not_have_an_agent_of_ours_that_cannot_be_played_again(rules, tmp_path, algorithm):
    entry = read_entry(send(play(tmp_path / "mine", "random")))
    plays = tuple(replace(one, key=replace(one.key, algorithm=algorithm)) for one in entry.plays)
    (fault,) = rules.find_faults(replace(entry, plays=plays), is_new=True)
    assert fault == (
        f"Expected agents of graph-bandit-env as this version has them. Got 'random', played by version {algorithm} of "
        "its algorithm, and this one has 1. Play it again, with this version."
    )
    assert rules.find_faults(entry, is_new=True) == ()


def test_what_another_version_played_is_replayed_while_the_algorithm_is_the_same(rules, tmp_path):
    entry = read_entry(send(play(tmp_path / "mine", "random"), VERSION("graph-bandit-env", "0.0.1")))
    ours, why = find_replayable(entry.plays)
    assert (len(ours), why) == (9, "")
    assert rules.find_faults(entry) == ()


@pytest.mark.parametrize("settings", [{"secret": 1}, {"exploration_scale": 0.7}])
def test_settings_of_another_version_are_not_replayed_and_not_refused(rules, tmp_path, settings):
    folder = rename(play(tmp_path / "mine", "lin-ucb"), "lin-ucb", settings=settings)
    entry = read_entry(send(folder, VERSION("graph-bandit-env", "0.0.1")))
    ours, why = find_replayable(entry.plays)
    assert not ours
    assert why.startswith("played with graph-bandit-env 0.0.1, where it had other settings than in ")
    assert rules.find_faults(entry) == ()


def test_what_another_version_of_the_algorithm_played_is_not_replayed(rules, tmp_path):
    entry = read_entry(send(play(tmp_path / "mine", "random")))
    plays = [replace(play_, key=replace(play_.key, algorithm=9)) for play_ in entry.plays]
    assert find_replayable(plays) == ([], "played by version 9 of its algorithm, and this one has 1")


def test_of_two_versions_the_repetitions_of_the_one_that_plays_so_can_be_played(rules, tmp_path):
    folder = rename(play(tmp_path / "mine", "lin-ucb"), "lin-ucb", settings={"exploration_scale": 0.7})
    entry = read_entry(send(folder, VERSION("graph-bandit-env", "0.0.1") + " WHERE rowid <= 4"))
    ours, why = find_replayable(entry.plays)
    assert (len(ours), why) == (5, "")


# --- The rules themselves


def test_a_sweep_without_tasks_has_no_board(tmp_path):
    sweep = read_little(
        tmp_path, text={'task = "once"\nhard = "No graph comes twice, and three rounds are random."': ""}
    )
    with pytest.raises(ValueError, match="Expected a sweep of tasks, .* Got 1 of 3 grids without that"):
        Rules(sweep)


@pytest.mark.slow
def test_the_testbed_has_its_tasks_without_tables():
    rules = read_rules()
    assert (rules.sweep.title, len(rules.sweep.seeds)) == ("testbed", 5)
    names = [task.name for task in rules.tasks.values()]
    assert len(names) == 16
    assert (names[0], names[-1]) == ("linear", "qed")


def test_without_rdkit_the_board_says_which_extra_it_needs(monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda module: None)
    with pytest.raises(MissingExtraError, match=r"The board needs RDKit: pip install 'graph-bandit-env\[chem\]'"):
        read_rules()
