"""A program by REST, as is the page, and a model by MCP do the same to a campaign, and are refused alike.

Each front takes a robot, a campaign, the version that it is to have, a step, and its arguments; it returns why the step
is refused, "" if it is done.
"""

import pytest
from support.served import BUSY, Served
from support.tooled import Tooled

BY = "Ann"


def asked_of(step, name, text, value, require):
    """Return the operation of a step, and its arguments."""
    return {
        "record": ("tell", {"results": [{"id": name, "value": value}]}),
        "suggest": ("ask", {"changes": {"n": 2, "require": [require]}}),
        "comment": ("mark", {"id": name, "comment": text, "by": BY}),
        "veto": ("mark", {"id": name, "veto": text, "by": BY}),
        "lift": ("mark", {"id": name, "veto": False, "pin": False, "by": BY}),
        "pin": ("mark", {"id": name, "pin": True, "by": BY}),
    }[step]


def by_rest(robot, campaign, version, step, name="", text="", value=None, require="mw<900"):
    operation, asked = asked_of(step, name, text, value, require)
    answer = robot.post(f"/campaigns/{campaign}/{operation}", asked, ("if-match", f'"{version}"'))
    job = answer.json()
    while job.get("status") in BUSY:
        job = robot.get(f"/jobs/{job['id']}?wait=10")
    return job["problem"] if "problem" in job else job["detail"]


def by_mcp(robot, campaign, version, step, name="", text="", value=None, require="mw<900"):
    operation, asked = asked_of(step, name, text, value, require)
    given = {"campaign": campaign, "version": version, "asked": asked}
    answer = Tooled(robot.folder, robot.jobs).ask(lambda client: client.call_tool(operation, given))
    return answer.content[0].text if answer.is_error else ""


def play(front, robot):
    """Return what a campaign has after a script of each operation, by a front."""
    campaign = robot.start()
    first, second, third = robot.last(campaign)
    for step, *given in (
        ("record", first, "", 1.5),
        ("comment", second, "ask <i>Bob</i>"),
        ("veto", second, "no stock"),
        ("veto", third, "too greasy"),
        ("lift", second),
        ("pin", second),
        ("suggest",),
    ):
        assert front(robot, campaign, robot.version(campaign), step, *given) == ""
    state = robot.state(campaign)
    assert second in robot.last(campaign)
    assert not {first, third} & {*robot.last(campaign)}
    assert [mark["reason"] for mark in state["vetoed"]] == ["too greasy"]
    results = [{**each, "at": "", "by": ""} for each in state["measured"]]
    return results, {name: state[name] for name in ("pending", "vetoed", "pinned", "comments", "rounds")}


def test_every_front_does_the_same_to_a_campaign(robot, tmp_path_factory, jobs):
    assert play(by_mcp, robot) == play(by_rest, Served(tmp_path_factory.mktemp("rest"), jobs=jobs))


WRONG = [
    (("record", "nobody", "", 1.0), "nobody"),
    *((("record", "m1", "", value), value) for value in ("much", "1,500", "nan")),
    (("suggest", "", "", None, "mw&"), "mw&"),
    (("veto", "nobody", "no stock"), "nobody"),
]


@pytest.mark.parametrize("front", [by_rest, by_mcp])
def test_what_is_wrong_or_of_an_old_version_is_refused_and_nothing_changes(front, robot):
    campaign = robot.start()
    old, first = robot.version(campaign), robot.last(campaign)[0]
    assert front(robot, campaign, old, "comment", first, "ask") == ""
    now = robot.version(campaign)
    for step, word in WRONG:
        assert word in front(robot, campaign, now, *step), step
    assert now in front(robot, campaign, old, "pin", first)
    assert robot.version(campaign) == now
