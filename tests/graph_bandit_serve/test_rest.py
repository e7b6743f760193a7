"""Programs that look at campaigns and change them, one case an operation; jobs run in a process as in a server."""

import json
import re

import pytest
from support.served import NAMES, POOL, VALUES, Served, table, write_campaign
from support.tooled import Tooled

from graph_bandit_campaign import digest_of
from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.operations import OPERATIONS

ONE = f"/campaigns/{key_of('one.campaign.json')}"


# --- Reading


def test_the_list_has_a_line_for_each_campaign_and_each_has_all_of_its_file(served):
    path = served.folder / "one.campaign.json"
    (line,) = served.get("/campaigns")["campaigns"]
    assert (line["id"], line["name"], line["goals"]) == (ONE.removeprefix("/campaigns/"), "one", ["maximize affinity"])
    assert (line["results"], line["pending"], line["failed"], line["rounds"]) == (2, 1, 1, 1)
    campaign = served.get(ONE)
    assert campaign["version"] == line["version"] == digest_of(path.read_bytes())
    assert (campaign["failed"], campaign["past"], campaign["state"]["target"]) == (["b"], [], "affinity")


@pytest.mark.parametrize("place", ["/campaigns", ONE])
def test_a_version_that_is_known_is_not_sent_again(place, served):
    first = served.ask(f"/api/v1{place}")
    known = [("if-none-match", first.headers["etag"])]
    assert served.ask(f"/api/v1{place}", headers=known).status_code == 304
    write_campaign(served.folder / "one.campaign.json", seed=7)
    assert served.ask(f"/api/v1{place}", headers=known).headers["etag"] != first.headers["etag"]
    assert served.ask("/api/v1/campaigns/nothing").status_code == 404


def test_each_operation_is_described_with_its_arguments(served):
    schema = served.get("/openapi.json")
    for name, operation in OPERATIONS.items():
        path = f"/api/v1/{name}" if operation.of_folder else f"/api/v1/campaigns/{{campaign}}/{name}"
        about = schema["paths"][path]["post"]
        assert about["description"] == operation.help
        fields = schema["components"]["schemas"][operation.asked.__name__].get("properties", {})
        assert all(field.get("description") for field in fields.values()), name


# --- Changing


def test_three_rounds_of_a_robot(robot):
    campaign = robot.start()
    for number in (1, 2, 3):
        entries = [{"id": name, "value": VALUES[name]} for name in robot.last(campaign)]
        robot.done(f"/campaigns/{campaign}/tell", {"results": entries, "by": "a robot"})
        result = robot.done(f"/campaigns/{campaign}/ask", {})
        assert result["answer"]["round"] == number + 1
        assert result["version"] == robot.version(campaign)
        assert result["answer"]["suggested"] == robot.last(campaign)
    measured = robot.state(campaign)["measured"]
    assert (len(measured), {each["by"] for each in measured}) == (9, {"a robot"})
    names = sorted(path.name for path in (robot.folder / "One").iterdir() if path.name[0] != ".")
    assert names == ["pool.csv", "predictions.csv", "suggestions.campaign.json", "suggestions.csv"]


def test_a_model_does_the_same_to_a_campaign_as_a_robot(robot, tmp_path_factory, jobs):
    states = []
    other = Served(tmp_path_factory.mktemp("tools"), jobs=jobs)
    for served in (robot, other):
        campaign = served.start()
        first, second, third = served.last(campaign)
        for name, asked in (
            ("tell", {"results": [{"id": first, "value": 1.5}]}),
            ("mark", {"id": second, "veto": "no stock", "by": "Ann"}),
            ("mark", {"id": third, "pin": True, "comment": "ask <i>Bob</i>"}),
            ("ask", {"changes": {"n": 2, "require": ["mw<900"]}}),
        ):
            if served is robot:
                robot.done(f"/campaigns/{campaign}/{name}", asked)
            else:
                Tooled(other.folder, jobs).call(name, campaign=campaign, asked=asked)
        states.append(re.sub(r'"at": "[^"]*"', "", json.dumps(served.state(campaign))))
    assert states[0] == states[1]


def test_what_is_said_of_molecules_is_kept_and_undone(robot):
    campaign = robot.start()
    first, at = robot.last(campaign), f"/campaigns/{campaign}"
    robot.done(f"{at}/mark", {"id": first[0], "comment": "ask Bob", "by": "Ann"})
    robot.done(f"{at}/mark", {"id": first[1], "veto": "no stock", "by": "Ann"})
    assert first[1] not in robot.done(f"{at}/ask", {})["answer"]["suggested"]
    robot.done(f"{at}/mark", {"id": first[1], "pin": True})
    state = robot.state(campaign)
    assert (state["pinned"], state["vetoed"]) == ([first[1]], [])
    assert [(each["text"], each["by"]) for each in state["comments"]] == [("ask Bob", "Ann")]
    assert [each["id"] for each in robot.done(f"{at}/why", {"ids": first[:1]})] == first[:1]
    assert robot.done(f"{at}/enough", {})
    assert [each["about"] for each in robot.get(at)["past"]][-1] == f"a pin of {first[1]}"
    assert robot.done(f"{at}/undo", {})["answer"]["verb"] == "mark"
    assert robot.state(campaign)["pinned"] == []
    robot.done(f"{at}/redo", {})
    assert robot.state(campaign)["pinned"] == [first[1]]


def test_an_old_version_is_refused_with_what_has_changed(robot):
    campaign = robot.start()
    first, old, at = robot.last(campaign), robot.version(campaign), f"/campaigns/{campaign}"
    known = ("if-match", f'"{old}"')
    robot.done(f"{at}/tell", {"results": [{"id": first[0], "value": 1.5}]}, known)
    now = robot.version(campaign)
    answer = robot.post(f"{at}/ask", {"next_batch": True}, known)
    assert answer.status_code == 412
    assert all(word in answer.json()["detail"] for word in (now, old, first[0]))


def test_tables_are_looked_at_first(robot):
    campaign = robot.start()
    first, before = robot.last(campaign), robot.version(campaign)
    upload = robot.send("new.csv", table(("id", "logp"), (first[0], 1.5), (first[1], ">2"), ("nobody", "failed")))
    preview = robot.done(f"/campaigns/{campaign}/preview", {"table": upload})
    shown = [(row["id"], row["values"]["logp"], bool(row["problem"])) for row in preview["rows"]]
    assert shown == [(first[0], "1.5", False), (first[1], ">2", False), ("nobody", "failed", True)]
    assert robot.version(campaign) == before
    sent = robot.send("p.csv", table(("id", "smiles"), ("a", "C"), ("b", "C(C")))
    assert [robot.done("/look", {"pool": sent})[name] for name in ("count", "bad_count")] == [1, 1]
    (robot.folder / "sub").mkdir()
    (robot.folder / "sub" / "pool.csv").write_bytes(POOL)
    assert "sub/pool.csv" in robot.get("/tables")["tables"]
    assert robot.done("/look", {"pool": "sub/pool.csv"})["count"] == len(NAMES)
    rows = robot.done(f"/campaigns/{campaign}/rows", {"count": 5})
    assert (rows["count"], len(rows["rows"])) == (len(NAMES), 5)
    assert robot.done(f"/campaigns/{campaign}/file", {"kind": ".xlsx"})


WRONG = [
    ("ask", {"changes": {"agent": "os:system"}}, "agent"),
    ("ask", {"changes": {"forbid": ["/etc/x.txt"]}}, "x.txt"),
    ("ask", {"changes": {"only": 5}}, "only"),
    ("ask", {"mroe": True}, "mroe"),
    ("tell", {"results": [{"id": "m1", "value": "much"}]}, "much"),
    ("tell", {"results": []}, "results"),
    ("tell", {"results": [{"id": "m1", "value": "1,500"}]}, "1,500"),
    ("mark", {"id": "nobody", "veto": True}, "nobody"),
    ("redo", {}, "redo"),
    ("why", {"ids": ["nobody"]}, "nobody"),
    ("preview", {"table": "/etc/passwd"}, ""),
]


def test_what_is_wrong_is_refused_and_nothing_changes(robot):
    campaign = robot.start()
    before = robot.version(campaign)
    for name, content, word in WRONG:
        answer = robot.post(f"/campaigns/{campaign}/{name}", content)
        assert (answer.status_code, word in answer.json()["detail"]) == (422 if word else 404, True), name
    assert robot.version(campaign) == before
