"""One table of operations, and its fronts: programs by REST, language models by MCP, and what pages show of results."""

import json
import re

import pytest
from support.served import POOL, VALUES, Served, table, write_campaign
from support.tooled import Tooled

from graph_bandit_campaign import digest_of
from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.operations import OPERATIONS

ONE, NEW = key_of("one.campaign.json"), key_of("One/suggestions.campaign.json")


def path_of(name, campaign=NEW):
    return f"/{name}" if OPERATIONS[name].of_folder else f"/campaigns/{campaign}/{name}"


def do(front, name, asked, version=""):
    """Return the result of an operation, by REST or as a tool."""
    if isinstance(front, Served):
        return front.done(path_of(name), asked, *[("if-match", f'"{version}"')] * bool(version))
    place = {} if OPERATIONS[name].of_folder else {"campaign": NEW, "version": version}
    return front.call(name, asked=asked, **place)


def test_each_operation_is_described_and_no_tool_takes_anything_away(served, tooled):
    tools = {tool.name: tool for tool in tooled.ask(lambda client: client.list_tools()).tools}
    schema = served.get("/openapi.json")
    assert "ValidationError" not in json.dumps(schema)
    for name, operation in OPERATIONS.items():
        about = schema["paths"][f"/api/v1{path_of(name, '{campaign}')}"]["post"]
        assert (about["description"], name in tools) == (operation.help, operation.for_tools)
        fields = schema["components"]["schemas"][operation.asked.__name__].get("properties", {})
        assert all(field.get("description") for field in fields.values()), name
    assert tools.keys() - OPERATIONS.keys() == {"list_campaigns", "read_campaign", "list_tables"}
    for name, tool in tools.items():
        hints, changes = tool.annotations, name in OPERATIONS and OPERATIONS[name].changes
        assert (hints.read_only_hint, hints.destructive_hint, hints.open_world_hint) == (not changes, False, False)
        assert tool.description.endswith(".")


def test_a_campaign_is_listed_and_read_as_its_file_has_it(served, tooled):
    listed, campaign = served.get("/campaigns"), served.get(f"/campaigns/{ONE}")
    (line,) = listed["campaigns"]
    assert (line["id"], line["name"], line["goals"]) == (ONE, "one", ["maximize affinity"])
    assert (line["results"], line["pending"], line["failed"], line["rounds"]) == (2, 1, 1, 1)
    assert campaign["version"] == line["version"] == digest_of((served.folder / "one.campaign.json").read_bytes())
    assert served.ask("/api/v1/campaigns/nothing").status_code == 404
    assert (campaign["failed"], campaign["past"], campaign["state"]["target"]) == (["b"], [], "affinity")
    assert tooled.call("list_campaigns") == listed
    assert tooled.call("read_campaign", campaign=ONE) == {**campaign, "rounds_in_all": 1, "measured_in_all": 2}
    end = tooled.call("read_campaign", campaign=ONE, rounds=0, results=1)["state"]
    assert (end["rounds"], end["measured"]) == ([], campaign["state"]["measured"][-1:])


@pytest.mark.parametrize("place", ["/campaigns", f"/campaigns/{ONE}"])
def test_a_version_that_is_known_is_not_sent_again(place, served):
    first = served.ask(f"/api/v1{place}")
    known = [("if-none-match", first.headers["etag"])]
    assert served.ask(f"/api/v1{place}", headers=known).status_code == 304
    write_campaign(served.folder / "one.campaign.json", seed=7)
    assert served.ask(f"/api/v1{place}", headers=known).headers["etag"] != first.headers["etag"]


def test_three_rounds_and_what_people_say_are_the_same_by_rest_and_by_tools(robot, tmp_path_factory, jobs):
    campaigns, other = [], Served(tmp_path_factory.mktemp("tools"), jobs=jobs)
    for served, front in (robot, robot), (other, Tooled(other.folder, jobs)):
        sent = {
            "pool": served.send("a.csv", POOL),
            "measured": [served.send("b.csv", table(("id", "logp"), ("m0", 1)))],
        }
        done = do(front, "new", {"name": "One", "settings": {"maximize": ["logp"], "n": 3}, **sent})
        for number in (1, 2, 3):
            assert (done["answer"]["suggested"], done["version"]) == (served.last(NEW), served.version(NEW))
            results = [{"id": name, "value": VALUES[name]} for name in served.last(NEW)]
            do(front, "tell", {"results": results, "by": "a robot"}, done["version"])
            done = do(front, "ask", {})
            assert done["answer"]["round"] == number + 1
        first, second, third = served.last(NEW)
        do(front, "annotate", {"id": first, "veto": "no stock", "by": "Ann"})
        assert first not in do(front, "ask", {})["answer"]["suggested"]
        do(front, "annotate", {"id": second, "comment": "ask <i>Bob</i>", "by": "Ann"})
        do(front, "annotate", {"id": third, "pin": True})
        if served is robot:  # models take nothing back
            assert do(front, "undo", {})["answer"]["about"] == f"a pin of {third}"
            assert served.state(NEW)["pinned"] == []
            do(front, "redo", {})
        assert served.state(NEW)["pinned"] == [third]
        told = do(front, "ask", {"changes": {"n": 2, "require": ["mw<900"]}, "next_batch": True})["answer"]
        assert (told["round"], len(told["suggested"])) == (5, 2)
        campaign = served.get(f"/campaigns/{NEW}")
        campaigns.append(re.sub(r'"(at|version)": "[^"]*"', "", json.dumps(campaign)))
    assert campaigns[0] == campaigns[1]
    state = campaign["state"]
    assert [each["verb"] for each in campaign["past"][-3:]] == ["annotate", "annotate", "ask"]
    assert [each["by"] for each in state["measured"]] == [""] + ["a robot"] * 9
    assert [(each["id"], each["reason"], each["by"]) for each in state["vetoed"]] == [(first, "no stock", "Ann")]
    assert [(each["text"], each["by"]) for each in state["comments"]] == [("ask <i>Bob</i>", "Ann")]
    names = sorted(path.name for path in (robot.folder / "One").iterdir() if path.name[0] != ".")
    assert names == ["pool.csv", "predictions.csv", "results-1.csv", "suggestions.campaign.json", "suggestions.csv"]


def test_a_table_of_experiments_is_looked_at_by_its_slots_and_starts_a_campaign(robot):
    rows = [(f"C{'C' * k}P", base, heat, k) for k in range(4) for base in ("KOH", "K3PO4") for heat in (60, 80)]
    asked = {"pool": robot.send("runs.csv", table(("ligand_smiles", "base", "heat", "rank"), *rows))}
    slot = ["ligand_smiles", "base", "heat"]
    for given, kind, checked in ([], "Which columns", []), (slot, "16 experiments", slot):
        job = robot.job(path_of("look"), {**asked, "slot": given})
        shown = " ".join(robot.ask(f"/jobs/{job['id']}/view").text.split())
        assert kind in shown
        assert re.findall(r'value="(\w+)" checked', shown) == checked
    settings = {"maximize": ["yield"], "slot": slot, "n": 3}
    done = do(robot, "new", {"name": "Two", "settings": settings, "measured": [], **asked})
    (campaign,) = robot.get("/campaigns")["campaigns"]
    shown, first = robot.ask(f"/campaigns/{campaign['id']}").text, done["answer"]["suggested"][0]
    for cell in first.split(" | "):
        assert f"<dd><bdi>{cell}</bdi></dd>" in shown
    assert shown.count('src="/structure.svg?') == 6  # on cards and in the order list


def test_what_is_looked_up_is_the_same_for_programs_and_models_and_is_shown_on_the_page(robot, tooled):
    robot.start()
    before, first = robot.version(NEW), robot.last(NEW)[0]
    results = robot.send("May.csv", table(("id", "logp"), (first, ">1.5"), ("nobody", "failed")))
    (robot.folder / "sub").mkdir()
    (robot.folder / "sub" / "pool.csv").write_bytes(POOL + b"bad,C(C\n")
    assert "sub/pool.csv" in robot.get("/tables")["tables"]
    looked = {
        "look": ({"pool": "sub/pool.csv"}, ["40 molecules", "1 row that cannot be read"]),
        "preview": ({"table": results}, ["1 of 2 rows can be added", "the pool has no `nobody`", "&gt;1.5"]),
        "rows": ({"contains": first, "part": "C"}, [f'class="id">{first}<']),
        "explain": ({"ids": [first]}, [f"<h2><bdi>{first}<"]),
        "stopping_advice": ({}, []),
        "file": ({"kind": ".xlsx"}, []),
    }
    for name, (asked, words) in looked.items():
        job = robot.job(path_of(name), asked)
        shown = " ".join(robot.ask(f"/jobs/{job['id']}/view").text.split())
        assert all(word in shown for word in words)
        assert "--" not in shown
        if OPERATIONS[name].for_tools:
            assert do(tooled, name, asked) in (job["result"], {"answer": job["result"]})
    assert robot.version(NEW) == before


WRONG = [
    ("ask", {"changes": {"agent": "os:system"}}, "agent"),
    ("ask", {"changes": {"forbid": ["/etc/x.txt"]}}, "x.txt"),
    ("ask", {"mroe": True}, "mroe"),
    ("tell", {"results": [{"id": None, "value": 1}]}, "results.0.id"),
    ("tell", {"results": [{"id": "m1", "value": "1,500"}]}, "1,500"),
    ("annotate", {"id": "nobody", "veto": True}, "nobody"),
    ("redo", {}, "redo"),
    ("explain", {"ids": ["nobody"]}, "nobody"),
    ("preview", {"table": "/etc/passwd"}, "table"),
]


def test_what_is_wrong_or_of_an_old_version_is_refused_and_nothing_changes(robot, tooled):
    robot.start()
    old = robot.version(NEW)
    for name, asked, word in WRONG:
        answer = robot.post(path_of(name), asked)
        assert (answer.status_code, word in answer.json()["detail"]) == (404 if name == "preview" else 422, True), name
        assert not OPERATIONS[name].for_tools or word in tooled.refusal(name, campaign=NEW, asked=asked), name
    assert robot.version(NEW) == old
    first, known = robot.last(NEW)[0], ("if-match", f'"{old}"')
    robot.done(path_of("tell"), {"results": [{"id": first, "value": 1.5}]}, known)
    now = robot.version(NEW)
    answer = robot.post(path_of("ask"), {"next_batch": True}, known)
    assert answer.status_code == 412
    assert all(word in answer.json()["detail"] for word in (now, old, first))
    refusal = tooled.refusal("annotate", campaign=NEW, asked={"id": first, "pin": True}, version=old)
    assert json.loads(refusal[refusal.index("{") :])["version"] == now == robot.version(NEW)
