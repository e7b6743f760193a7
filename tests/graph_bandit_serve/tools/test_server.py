"""Campaigns as tools of a language model, from a first round to the next one."""

import json

import pytest
from support.served import MOLECULES, NAMES, VALUES, table
from support.tooled import Tooled

from graph_bandit_serve.operations import OPERATIONS


@pytest.fixture(scope="module")
def tooled(tmp_path_factory, jobs):
    return Tooled(tmp_path_factory.mktemp("folder"), jobs)


@pytest.fixture(scope="module")
def started(tooled):
    root = tooled.service.folder.root
    rows = zip(NAMES, MOLECULES.smiles, VALUES.values(), ["yes"] * len(NAMES), strict=True)
    (root / "pool.csv").write_bytes(table(("id", "smiles", "logp", "stock"), *rows))
    (root / "old.csv").write_bytes(table(("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])))
    settings = {"maximize": ["logp"], "n": 3}
    asked = {"name": "First try", "pool": "pool.csv", "measured": ["old.csv"], "settings": settings}
    return tooled.call("new", asked=asked)


@pytest.fixture
def campaign(tooled, started):
    return tooled.call("list_campaigns")["campaigns"][0]["id"]


@pytest.fixture
def now(tooled, campaign):
    return lambda **more: tooled.call("read_campaign", campaign=campaign, **more)


def test_a_campaign_starts_with_suggestions_and_the_end_of_it_is_read(started, now):
    assert [row[1] for row in started["answer"]["rows"]] == started["answer"]["suggested"]
    seen = now()
    assert (seen["rounds_in_all"], seen["measured_in_all"]) == (1, 6)
    assert now(results=2)["state"]["measured"] == seen["state"]["measured"][-2:]
    assert now(rounds=0, results=0)["state"]["rounds"] == []


def test_results_lead_to_the_next_round_and_marks_are_kept(tooled, campaign, now):
    def do(name, version="", **asked):
        return tooled.call(name, campaign=campaign, asked=asked, version=version)

    first = now()["state"]["pending"]
    assert do("ask")["answer"]["suggested"] == first
    results = [{"id": name, "value": VALUES[name]} for name in first]
    do("tell", now()["version"], results=results)
    assert (len(now()["state"]["measured"]), now()["state"]["pending"]) == (9, [])
    told = do("ask", changes={"n": 2, "only": ["stock=yes"]})["answer"]
    assert (told["round"], len({*told["suggested"]} - {*first})) == (2, 2)
    do("mark", id=told["suggested"][0], veto="sold out", by="a model")
    assert told["suggested"][0] not in do("ask")["answer"]["suggested"]
    assert now()["state"]["vetoed"][0]["reason"] == "sold out"
    (graph,) = do("why", ids=["m30"])["answer"]
    assert (graph["id"], graph["smiles"], bool(graph["reasons"]["logp"])) == ("m30", MOLECULES.smiles[30], True)
    assert do("enough")["answer"]


WRONG = [
    ("tell", {"results": [{"id": "nobody", "value": 1.0}]}, "nobody"),
    ("ask", {"changes": {"require": ["mw<"]}}, "mw<"),
    ("ask", {"changes": {"agent": "greedy"}}, "agent"),
    ("ask", {"n": 5}, "n"),
    ("why", {"ids": ["nobody"]}, "nobody"),
]


def test_what_is_wrong_or_of_an_old_version_is_refused_and_nothing_is_done(tooled, campaign, now):
    before = now()
    for tool, asked, word in WRONG:
        assert word in tooled.refusal(tool, campaign=campaign, asked=asked)
    refusal = tooled.refusal("mark", campaign=campaign, asked={"id": "m31", "pin": True}, version="0" * 16)
    assert json.loads(refusal[refusal.index("{") :])["version"] == before["version"]
    assert now() == before


def test_tools_are_those_of_the_table_and_none_takes_anything_away(tooled):
    tools = {tool.name: tool for tool in tooled.ask(lambda client: client.list_tools()).tools}
    own = {name for name, operation in OPERATIONS.items() if operation.for_tools}
    assert tools.keys() == own | {"list_campaigns", "read_campaign", "list_tables"}
    reads = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert not {name for name in own if OPERATIONS[name].changes} & reads
    for name, tool in tools.items():
        assert tool.description.endswith(".")
        assert tool.annotations.open_world_hint is False
        assert name in reads or tool.annotations.destructive_hint is False
