"""A campaign file that was edited by hand is read as it was meant, or refused with the place of the fault."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.results.facts import Comment, Failure, Measurement, Veto
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_campaign.store import read_file, write_file
from graph_bandit_env import GraphPool

STATE = CampaignState(
    "random",
    True,
    3,
    measured=(Measurement("a", 1.0, 0), Measurement("a", 2.0, 1)),
    failures=(Failure("b"),),
    pending=("c", "d"),
    rounds=((Suggestion("b"), Suggestion("c", 0.5, 0.1, 0.2, 0.9, 0.25, 0.75)), (Suggestion("d"),)),
    target="qed",
)


def read(text):
    return read_file(text.encode() if isinstance(text, str) else text, Path("mine.campaign.json"))[0]


def edited(**changes):
    return json.dumps({**json.loads(write_file(STATE)), **changes})


def test_what_is_written_is_read():
    for state in (STATE, replace(STATE, by_default=True), replace(STATE, features={"a": {"dock": 1.5}})):
        assert read(write_file(state)) == state


def test_a_campaign_of_the_format_before_keeps_its_command():
    old = edited(format=5, command={"at_most": 2, "per": "vendor", "also": ["a.csv"], "n": 8})
    assert read(old).command == {"max_per_group": 2, "group_by": "vendor", "related_assay": ("a.csv",), "n": 8}


REFUSED = {  # with what the message names
    "maximize": edited(maximize="no"),
    "seed": edited(seed=-1),
    "algorithm": edited(algorithm=0),
    r"pending\[0\]": edited(pending=[7]),
    r"structures": edited(structures={"c": 7}),
    r"measured\[0\]": edited(measured=[{"id": "a", "value": 1}]),
    r"value": edited(measured=[{"id": "a", "value": True, "round": 0}]),
    r"rounds\[0\]": edited(rounds=[[{"id": "a", "std": -1.0}]]),
    "`a`": edited(pending=["a"]),
    "`c`": edited(pending=["c", "c"]),
    "format 6.*format 99": edited(format=99),
    "format 6.*format 1": edited(format=1),
    "format 6.*format None": "{}",
    r"1e\+160": write_file(STATE).replace(b'"value": 1.0', b'"value": 1e160'),
    "recursion": '{"a":' * 100_000,
    "array": "[]",
    "truncated": write_file(STATE)[:100],
}


@pytest.mark.parametrize("named", REFUSED)
def test_what_is_not_a_campaign_is_refused_by_name(named):
    with pytest.raises(ValueError, match=r"mine\.campaign\.json") as error:
        read(REFUSED[named])
    assert re.search(named, str(error.value))


def test_a_file_saved_by_windows_is_read(tmp_path):
    path = tmp_path / "mine.json"
    path.write_bytes(edited(measured=[], pending=["1"]).replace("\n", "\r\n").encode("utf-8-sig"))
    assert Campaign(GraphPool([[[1.0]]] * 5, [[]] * 5), state=path).state.pending == ("1",)


def told(*results, maximize=True, goals=(), **more):
    measured = tuple(Measurement(key, value, number, *side) for key, value, number, *side in results)
    return CampaignState("random", maximize, 0, measured, goals=goals, **more)


@pytest.mark.parametrize(("maximize", "leader"), [(True, ("b", 5.0)), (False, ("c", -1.0))])
def test_the_leader_is_the_best_for_certain(maximize, leader):
    state = told(("a", 2.0, 0), ("a", 4.0, 1), ("b", 5.0, 1, "above"), ("c", -1.0, 1, "below"), maximize=maximize)
    assert state.means() == {"a": 3.0, "b": 5.0, "c": -1.0}
    assert state.means(exact=True) == {"a": 3.0}
    assert state.means(rounds=0) == {"a": 2.0}
    assert (state.leader(), state.best(), state.yardstick()) == (leader, leader[1], leader[1])
    assert (state.leader(0), state.best(0)) == (("a", 2.0), 2.0)
    assert (told().leader(), told().best(), told().yardstick()) == (None, None, None)


@pytest.mark.parametrize(
    "results",
    [[("a", 2.0, 0)], [("a", 2.0, 0), ("b", 2.0, 0)], [("a", 1.0, 0, "above"), ("b", 2.0, 0, "above")]],
)
def test_nothing_is_compared_with_results_that_tell_no_scale(results):
    assert told(*results).yardstick() is None


def test_bounds_of_a_graph_that_has_an_exact_value_do_not_count():
    state = told(("a", 9.0, 0, "above"), ("a", 2.0, 1), ("b", 3.0, 1, "below"))
    assert [(each.id, each.value) for each in state.counted()] == [("a", 2.0), ("b", 3.0)]
    assert [(each.id, each.value) for each in state.counted(0)] == [("a", 9.0)]


GOALS = (Goal("x"), Goal("y", "minimize"))


def of_goals(*results, **more):
    measured = tuple(Measurement(key, value, 0, goal=name) for key, name, value in results)
    return CampaignState("random", True, 0, measured, goals=GOALS, **more)


def test_results_of_a_goal_that_is_gone_are_left_out_and_settle_what_is_pending():
    state = of_goals(("a", "x", 1.0), ("b", "y", 2.0), pending=("a",), failures=(Failure("b", goal="x"),))
    kept = state.with_goals(GOALS[:1])
    assert [(each.id, each.goal) for each in kept.measured] == [("a", "x")]
    assert (kept.goals, kept.pending, kept.failed) == (GOALS[:1], (), ("b",))


def test_graphs_of_which_some_become_one_are_measured_failed_or_pending_in_this_order():
    state = told(("a", 1.0, 0), failures=(Failure("b"), Failure("c")), pending=("d", "e", "f"))
    assert state.renamed({"z": "y"}) is state
    one = state.renamed({"b": "a", "d": "c", "f": "e"})
    assert (list(one.means()), one.failed, one.pending) == (["a"], ("c",), ("e",))
    assert list(state.renamed({"a": "e"}).means()) == ["e"]
    assert state.renamed({"a": "e"}).pending == ("d", "f")


def test_rows_that_become_one_molecule_take_their_marks_along():
    state = CampaignState(
        "random", True, 0, vetoed=(Veto("a"), Veto("b", "x")), pinned=("c",), comments=(Comment("a", "t"),)
    )
    named = state.renamed({"a": "b", "c": "d"})
    assert named.vetoed == (Veto("b", "x"),)
    assert named.pinned == ("d",)
    assert named.comments == (Comment("b", "t"),)
