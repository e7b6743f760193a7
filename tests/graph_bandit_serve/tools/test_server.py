"""All tools on a campaign, from its first round to the next one."""

import json

import pytest
from support.molecules import some_molecules
from support.tables import write
from support.tooled import Tooled

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))
WISHES = {"maximize": ["logp"], "n": 3}


@pytest.fixture(scope="module")
def tooled(tmp_path_factory):
    root = tmp_path_factory.mktemp("folder")
    write(root / "pool.csv", [("id", "smiles", "stock"), *((name, SMILES[name], "yes") for name in NAMES)])
    write(root / "old.csv", [("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])])
    tooled = Tooled(root)
    yield tooled
    tooled.service.jobs.close()


@pytest.fixture(scope="module")
def started(tooled):
    return tooled.call("start_campaign", name="First try", pool="pool.csv", measured=["old.csv"], wishes=WISHES)


@pytest.fixture
def campaign(started):
    return started["campaign"]["id"]


@pytest.fixture
def now(tooled, campaign):
    return lambda **more: tooled.call("read_campaign", campaign=campaign, **more)


def results_of(ids):
    return [{"id": name, "value": VALUES[name]} for name in ids]


def test_a_campaign_starts_with_suggestions(tooled, started, now):
    assert len(started["suggestions"]["suggested"]) == 3
    assert [row[1] for row in started["suggestions"]["rows"]] == started["suggestions"]["suggested"]
    listed = tooled.call("list_campaigns")["campaigns"]
    assert started["campaign"]["id"] in [each["id"] for each in listed]
    seen = now()
    assert (seen["rounds_in_all"], seen["results_in_all"]) == (1, 6)
    assert now(results=2)["campaign"]["results"] == seen["campaign"]["results"][-2:]
    assert now(rounds=0, results=0)["campaign"]["rounds"] == []


def test_recorded_results_lead_to_the_next_round(tooled, campaign, now):
    first = [each["id"] for each in now()["campaign"]["pending"]]
    again = tooled.call("suggest", campaign=campaign)
    assert again["suggestions"]["suggested"] == first
    version = again["campaign"]["version"]
    recorded = tooled.call("record", campaign=campaign, results=results_of(first), version=version)
    assert (recorded["campaign"]["results"], recorded["campaign"]["pending"]) == (9, 0)
    assert recorded["suggestions"] is None
    assert tooled.call("record", campaign=campaign, results=results_of(first))["campaign"]["results"] == 9
    told = tooled.call("suggest", campaign=campaign, wishes={"n": 2, "only": ["stock=yes"]})
    assert told["suggestions"]["round"] == 2
    assert len(told["suggestions"]["suggested"]) == 2
    assert not set(told["suggestions"]["suggested"]) & set(first)


def test_a_veto_leads_to_another_suggestion_and_is_lifted(tooled, campaign, now):
    last = [each["id"] for each in now()["campaign"]["rounds"][0]["suggestions"]]
    told = tooled.call("veto", campaign=campaign, id=last[0], reason="sold out", by="a model")
    assert last[0] not in told["suggestions"]["suggested"]
    assert now()["campaign"]["vetoed"][0]["reason"] == "sold out"
    tooled.call("lift", campaign=campaign, id=last[0])
    tooled.call("pin", campaign=campaign, id=last[0])
    tooled.call("comment", campaign=campaign, id=last[0], text="Back in stock.", by="a model")
    seen = now()["campaign"]
    assert (seen["vetoed"], seen["pinned"]) == ([], [last[0]])
    assert seen["comments"][0]["text"] == "Back in stock."


def test_predictions_are_explained_and_the_outlook_is_told(tooled, campaign):
    (graph,) = tooled.call("why", campaign=campaign, ids=["m30"])["graphs"]
    assert (graph["id"], graph["smiles"]) == ("m30", MOLECULES.smiles[30])
    assert graph["reasons"]["logp"]
    assert tooled.call("enough", campaign=campaign)["text"]


def test_a_version_that_has_passed_is_refused_with_the_new_one(tooled, campaign, now):
    version = now()["campaign"]["version"]
    refusal = tooled.refusal("pin", campaign=campaign, id="m31", version="0" * len(version))
    assert "the campaign has changed" in refusal
    assert "Call `read_campaign`" in refusal
    said = json.loads(refusal[refusal.index("{") :])
    assert said["version"] == version
    assert version in said["changes"]
    assert now()["campaign"]["version"] == version


WRONG = [
    ("record", {"results": [{"id": "nobody", "value": 1.0}]}, "nobody"),
    ("record", {"results": []}, "results"),
    ("suggest", {"wishes": {"require": ["mw<"]}}, "mw<"),
    ("suggest", {"wishes": {"agent": "greedy"}}, "agent"),
    ("suggest", {"n": 5}, "n"),
    ("why", {"ids": ["nobody"]}, "nobody"),
]


def test_what_is_wrong_is_refused_and_nothing_is_done(tooled, campaign, now):
    before = now()
    for tool, arguments, word in WRONG:
        assert word in tooled.refusal(tool, campaign=campaign, **arguments)
    assert now() == before


@pytest.mark.slow
def test_a_finished_table_is_replayed(tooled):
    rows = [(name, SMILES[name], VALUES[name]) for name in NAMES]
    write(tooled.service.folder.root / "done.csv", [("id", "smiles", "logp"), *rows])
    given = {"table": "done.csv", "aim": "maximize", "n": 5, "budget": 15, "starts": 5, "start": 10}
    report = tooled.call("backtest", column="logp", agents=["molecule-greedy"], **given)["text"]
    assert "logp" in report
    refusal = tooled.refusal("backtest", column="nothing", **given)
    assert "nothing" in refusal[refusal.index("{") :]


def test_tools_say_what_they_may_do_and_none_takes_anything_away(tooled):
    tools = {tool.name: tool for tool in tooled.ask(lambda client: client.list_tools()).tools}
    reads = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert reads == {"list_campaigns", "read_campaign", "list_tables", "read_pool", "why", "enough"}
    assert not {"undo", "take_back"} & tools.keys()
    for name, tool in tools.items():
        assert tool.description.endswith(".")
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.open_world_hint is False
        assert name in reads or tool.annotations.destructive_hint is False
