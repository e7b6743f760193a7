"""All tools on a campaign, from its first round to the next one."""

import pytest
from support.served import MOLECULES, NAMES, VALUES, table
from support.tooled import Tooled


@pytest.fixture(scope="module")
def tooled(tmp_path_factory, jobs):
    return Tooled(tmp_path_factory.mktemp("folder"), jobs)


@pytest.fixture(scope="module")
def started(tooled):
    root = tooled.service.folder.root
    rows = zip(NAMES, MOLECULES.smiles, VALUES.values(), ["yes"] * len(NAMES), strict=True)
    (root / "pool.csv").write_bytes(table(("id", "smiles", "logp", "stock"), *rows))
    (root / "old.csv").write_bytes(table(("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])))
    wishes = {"maximize": ["logp"], "n": 3}
    return tooled.call("start_campaign", name="First try", pool="pool.csv", measured=["old.csv"], wishes=wishes)


@pytest.fixture
def campaign(started):
    return started["campaign"]["id"]


@pytest.fixture
def now(tooled, campaign):
    return lambda **more: tooled.call("read_campaign", campaign=campaign, **more)


def test_a_campaign_starts_with_suggestions(tooled, started, now):
    assert [row[1] for row in started["suggestions"]["rows"]] == started["suggestions"]["suggested"]
    assert started["campaign"]["id"] in [each["id"] for each in tooled.call("list_campaigns")["campaigns"]]
    seen = now()
    assert (seen["rounds_in_all"], seen["results_in_all"]) == (1, 6)
    assert now(results=2)["campaign"]["results"] == seen["campaign"]["results"][-2:]
    assert now(rounds=0, results=0)["campaign"]["rounds"] == []


def test_predictions_are_explained_and_the_outlook_is_told(tooled, campaign):
    (graph,) = tooled.call("why", campaign=campaign, ids=["m30"])["graphs"]
    assert (graph["id"], graph["smiles"], bool(graph["reasons"]["logp"])) == ("m30", MOLECULES.smiles[30], True)
    assert tooled.call("enough", campaign=campaign)["text"]


def test_what_is_no_argument_is_refused(tooled, campaign):
    for tool, arguments, word in (
        ("suggest", {"wishes": {"agent": "greedy"}}, "agent"),
        ("suggest", {"n": 5}, "n"),
        ("why", {"ids": ["nobody"]}, "nobody"),
    ):
        assert word in tooled.refusal(tool, campaign=campaign, **arguments)


@pytest.mark.slow
def test_a_finished_table_is_replayed(tooled, started):
    given = {"table": "pool.csv", "aim": "maximize", "n": 5, "budget": 15, "starts": 5, "start": 10}
    assert "logp" in tooled.call("backtest", column="logp", agents=["molecule-greedy"], **given)["text"]
    assert "nothing" in tooled.refusal("backtest", column="nothing", **given)


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
