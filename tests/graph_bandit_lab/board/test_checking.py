"""Entries are checked one after the other; each is accepted with what was played again, or refused with the reasons."""

import shutil

import numpy as np
import pytest
from support.entries import little_rules, play, rename, send

from graph_bandit_lab.board import Replays, check_entries, list_entries
from graph_bandit_lab.storage.rows import to_blob


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    return little_rules(tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """Entries: `a` of random and ucb1, `b` of lin-ucb, and `c`, which has the seeds 1, 2 and 3."""
    folder = tmp_path_factory.mktemp("sent")
    agents = {"a": ("random", "ucb1"), "b": ("lin-ucb",), "c": ("gaussian-ts",)}
    for name, played in agents.items():
        changes = {"seeds": (1, 2, 3), "environments": ("task=few",)} if name == "c" else {}
        send(play(folder / name, *played, **changes))
        shutil.rmtree(folder / name)
    return folder


def test_entries_are_listed_by_name_and_once(sent, tmp_path):
    paths = [sent / f"{name}.sqlite.xz" for name in "abc"]
    (sent / "notes.txt").touch()
    assert list_entries([sent]) == paths
    assert list_entries([paths[1], sent]) == [paths[1], paths[0], paths[2]]
    assert list_entries([tmp_path]) == []
    with pytest.raises(FileNotFoundError, match="There is none at"):
        list_entries([sent / "d.sqlite.xz"])


def test_two_of_three_are_accepted_and_a_wrong_seed_is_refused(sent, rules):
    told = []
    first, second, third = check_entries([sent], rules, Replays(share=0.2), tell=told.append)
    assert [agent.verdict for agent in first.agents] == ["replayed 2 of 9: 2 equal", "replayed 2 of 6: 2 equal"]
    assert [agent.verdict for agent in second.agents] == ["replayed 2 of 9: 2 equal"]
    assert not third.agents
    assert third.faults[0].startswith("Expected the seeds of `little board`: ")
    assert third.lines[0].endswith(": refused")
    assert first.lines[0] == f"a ({first.entry.size / 1000:,.0f} kB, sha256 {first.entry.digest[:12]}): accepted"
    assert first.lines[1:] == [f"  {agent.label}: {agent.verdict}" for agent in first.agents]
    assert told == [
        "Giving the actions of 24 repetitions to their environments ...",
        "Playing 4 repetitions of a again ...",
        "Playing 2 repetitions of b again ...",
    ]


def test_the_rules_alone_play_nothing(sent, rules, monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.board.checking.find_false_accounts", lambda *_: pytest.fail("It was played."))
    first, *_ = check_entries([sent], rules)
    assert [(agent.label, agent.verdict) for agent in first.agents] == [
        ("random", "not replayed"),
        ("ucb1", "not replayed"),
    ]
    assert first.lines[0].endswith(": keeps the rules")


def test_of_two_entries_with_one_agent_the_first_stays(sent, rules, tmp_path):
    again = shutil.copy(sent / "a.sqlite.xz", tmp_path / "z.sqlite.xz")
    faults = {one.entry.name: one.faults for one in check_entries([sent, again], rules)}
    assert not faults["a"]
    assert [fault[:68] for fault in faults["z"]] == [
        "Expected agents that the board does not have yet. Got 'random', whic",
        "Expected agents that the board does not have yet. Got 'ucb1', which ",
    ]


def test_agents_on_the_board_may_not_come_again_but_an_entry_may_take_its_own_place(sent, rules, tmp_path):
    again = shutil.copy(sent / "a.sqlite.xz", tmp_path / "z.sqlite.xz")
    (one,) = check_entries([again], rules, board=[sent])
    assert "which the entry `a` has played" in one.faults[0]
    (one,) = check_entries([shutil.copy(again, tmp_path / "a.sqlite.xz")], rules, board=[sent])
    assert not one.faults


def test_regret_that_is_invented_is_refused_by_task_and_seed(rules, tmp_path):
    folder = play(tmp_path / "mine", "random")
    nothing = to_blob(np.zeros(12))
    path = send(folder, ("UPDATE repetitions SET regret = ? WHERE length(regret) = ?", (nothing, len(nothing))))
    (one,) = check_entries([path], rules, Replays())
    assert not one.agents
    seeds = rules.sweep.seeds
    assert len(one.faults) == 3
    assert all(
        f"'random', seed {seed}, on few: its row has regret 0.0000 in round" in fault
        for seed, fault in zip(seeds, one.faults, strict=True)
    )


def test_plays_of_another_agent_are_refused(rules, tmp_path):
    """The plays of ucb1, which are what the environment pays, under the name of random play."""
    folder = play(tmp_path / "mine", "random", "lin-ucb")
    take = (
        "UPDATE repetitions AS r SET {0} = (SELECT {0} FROM repetitions AS s WHERE s.agent = 'lin-ucb' AND "
        "s.environment = r.environment AND s.seed = r.seed) WHERE agent = 'random'"
    )
    path = send(folder, *(take.format(name) for name in ("actions", "rewards")))
    (one,) = check_entries([path], rules, Replays(share=1))
    assert len(one.faults) == 4
    assert all(fault.startswith("'random', seed ") for fault in one.faults[:3])
    assert one.faults[3].startswith("And ")


def test_an_agent_of_a_file_is_accepted_and_its_code_never_runs(rules, tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text("import pathlib; pathlib.Path('pwned').touch()\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = send(rename(play(tmp_path / "mine", "random", "ucb1"), "random", "evil:factory"))
    (one,) = check_entries([path], rules, Replays())
    assert one.lines[1:] == [
        "  evil:factory: not replayed (an agent of another package or file)",
        "  ucb1: replayed 1 of 6: 1 equal",
    ]
    assert not (tmp_path / "pwned").exists()
