"""What becomes of results that an earlier version of an agent's algorithm has played."""

import re

import pytest
from support.runs import rows, run, settings

import registry
from graph_bandit_cli import main
from graph_bandit_lab import load_results, write_report
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.execution import describe_work, plan_run


class Versioned:
    """Plays at random; its algorithm is what the test says it is."""

    algorithm = 1

    def __init__(self):
        agent = registry.make_agent("random")
        for name in ("reset", "select_action", "update", "state_dict", "load_state_dict", "settings"):
            setattr(self, name, getattr(agent, name))


@pytest.fixture
def changed(tmp_path, monkeypatch):
    """A folder in which one agent has played three repetitions before its algorithm changed, and its environment."""
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("versioned", Versioned)
    run(tmp_path, agents=("versioned", "random"), repetitions=3)
    monkeypatch.setattr(Versioned, "algorithm", 2)
    return tmp_path


def test_what_an_earlier_algorithm_played_is_kept_told_and_not_continued(changed, capsys):
    before = rows(changed)
    tally = run(changed, agents=("versioned", "random"), repetitions=3, progress=True)
    assert (tally.played, tally.reused, tally.earlier) == (3, 3, 3)
    assert "versioned: 3 stored repetitions were played by an earlier version" in capsys.readouterr().err
    results = load_results(changed)
    assert len(results) == 9
    assert [row.created for row in results.itertuples()][:6] == [row.created for row in before.values()]
    assert results.groupby("agent")["algorithm"].agg(sorted).to_dict() == {
        "random": [1] * 3,
        "versioned": [1, 1, 1, 2, 2, 2],
    }
    assert [versions.get("algorithm") for versions in results["versions"]] == [None] * 6 + ["2"] * 3
    old, new = (label for label in dict.fromkeys(results["label"]) if label != "random")
    assert re.fullmatch(r"versioned \[[0-9a-f]{6}, algorithm 1\]", old)
    assert re.fullmatch(r"versioned \[[0-9a-f]{6}, algorithm 2\]", new)
    again = run(changed, agents=("versioned", "random"), repetitions=3)
    assert (again.played, again.reused, again.earlier) == (0, 6, 3)


def test_stored_results_of_an_agent_without_a_version_come_with_a_warning(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("scripted", Versioned)
    run(tmp_path, agents=("scripted", "random"), progress=True)
    assert "not played again" not in capsys.readouterr().err
    assert run(tmp_path, agents=("scripted", "random"), progress=True).reused == 4
    printed = capsys.readouterr().err
    assert "scripted: 2 stored repetitions are not played again. A change of its code is not seen" in printed
    assert "random: " not in printed


def test_a_report_shows_both_algorithms_and_says_which_is_the_earlier(changed, capsys):
    run(changed, agents=("versioned", "random"), repetitions=3)
    old, new = (label for label in dict.fromkeys(load_results(changed)["label"]) if label != "random")
    page = write_report(changed).read_text()
    assert old in page
    assert new in page
    assert f"Played by an earlier version of the agent's algorithm, and not continued: {old}.</p>" in page
    main(["report", str(changed), "--markdown"])
    printed = capsys.readouterr().out
    assert f"| {new} |" in printed
    assert f"{old} was played by an earlier version of the agent's algorithm" in printed


def test_a_dry_run_tells_of_an_earlier_algorithm(changed):
    plan = plan_run(settings(changed, agents=("versioned", "random"), repetitions=3))
    text = describe_work(plan, changed, 1)
    assert "6 repetitions, 3 stored, 3 to play" in text
    assert "versioned: 3 stored repetitions were played by an earlier version of its algorithm" in text


def test_the_first_algorithm_has_the_hash_that_results_without_versions_have():
    key = RunKey("a", {}, {})
    assert RunKey("a", {}, {}, algorithm=1).settings_hash == key.settings_hash == RunKey("a", {}, {}, "").settings_hash
    second, third = RunKey("a", {}, {}, algorithm=2), RunKey("a", {}, {}, algorithm=3)
    assert third.earlier_hashes == (key.settings_hash, second.settings_hash)
    assert len({*third.earlier_hashes, third.settings_hash}) == 3
