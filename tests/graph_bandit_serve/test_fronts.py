"""A program by REST, a model by MCP and a person by forms do the same to a campaign."""

import pytest
from support.served import Served
from support.tooled import Tooled

BY = "Ann"


def by_rest(robot, campaign, step, name="", text="", value=None):
    path, content = {
        "record": ("results", {"results": [{"id": name, "value": value}]}),
        "suggest": ("suggestions", {"changes": {"n": 2, "require": ["mw<900"]}}),
        "comment": ("comments", {"id": name, "text": text, "by": BY}),
        "veto": ("vetoes", {"id": name, "text": text, "by": BY}),
        "lift": ("lifts", {"id": name}),
        "pin": ("pins", {"id": name}),
    }[step]
    robot.done(f"/campaigns/{campaign}/{path}", content)


def by_mcp(robot, campaign, step, name="", text="", value=None):
    marked = {"id": name, "by": BY, "reason" if step == "veto" else "text": text}
    arguments = {
        "record": {"results": [{"id": name, "value": value}], "version": robot.version(campaign)},
        "suggest": {"wishes": {"n": 2, "require": ["mw<900"]}},
        **dict.fromkeys(("comment", "veto"), marked),
        **{kind: {"id": name} for kind in ("lift", "pin")},
    }[step]
    Tooled(robot.folder, robot.jobs).call(step, campaign=campaign, **arguments)


def by_forms(robot, campaign, step, name="", text="", value=None):
    path, fields = {
        "record": ("results", {f"value-0:{name}": f"{value}", "value-0:x": ""}),
        "suggest": ("suggest", {"n": "2", "require": "mw<900\r\n"}),
    }.get(step, ("mark", {"kind": step, "id": name, "text": text, "by": BY}))
    robot.submit(f"/campaigns/{campaign}/{path}", {"version": robot.version(campaign), **fields}.items())


def play(robot, do):
    """Return what a campaign has after a script of each operation."""
    campaign = robot.start()
    first, second, third = robot.last(campaign)
    do(robot, campaign, "record", first, value=1.5)
    do(robot, campaign, "comment", second, "ask <i>Bob</i>")
    do(robot, campaign, "veto", second, "no stock")
    do(robot, campaign, "veto", third, "too greasy")
    do(robot, campaign, "lift", second)
    do(robot, campaign, "pin", second)
    do(robot, campaign, "suggest")
    view = robot.get(f"/campaigns/{campaign}")
    assert second in robot.last(campaign)
    assert not {first, third} & {*robot.last(campaign)}
    assert [mark["reason"] for mark in view["vetoed"]] == ["too greasy"]
    return {name: view[name] for name in ("results", "pending", "vetoed", "pinned", "comments", "rounds")}


@pytest.fixture(scope="module")
def expected(tmp_path_factory, jobs):
    return play(Served(tmp_path_factory.mktemp("rest"), jobs=jobs), by_rest)


@pytest.mark.parametrize("do", [by_mcp, by_forms])
def test_every_front_does_the_same_to_a_campaign(do, expected, robot):
    assert play(robot, do) == expected
