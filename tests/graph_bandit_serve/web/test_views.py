"""What the page of a campaign shows."""

import pytest
from support.served import result, suggestion, write_campaign

from graph_bandit_campaign import digest_of
from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.service import Service
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.web.views import CampaignPage, plots_of, ticks_of

AIMS = {"affinity": {"aim": "maximize"}, "logd": {"aim": "target", "low": 1, "high": 3}, "tox": {"aim": "minimize"}}
TABLE = b"rank,id,smiles,predicted_logp,nearest,price\n1,'=a,CCO,1.5,m1,12\n2,b,CC,1.2,,3.5\n"
COMMAND = {"out": "out.csv", "price": "price", "budget": 20.0}
WRITTEN = {"written": [digest_of(TABLE)], "rounds": [[suggestion("=a"), suggestion("b")]]}


def show(folder, table=TABLE, **changes):
    """Return what the page shows of a campaign, next to the table of its batch."""
    write_campaign(folder / "one.campaign.json", **changes)
    (folder / "out.csv").write_bytes(table)
    service = Service(folder, None, ServerLimits())
    return CampaignPage(service.shelf.read(key_of("one.campaign.json")), service.folder)


def test_each_suggestion_says_what_came_of_it_and_what_people_say(tmp_path):
    marks = {"pinned": ["d"], "comments": [{"id": "a", "text": "odd", "by": "Ann"}]}
    page = show(tmp_path, rounds=[[suggestion(name) for name in "abcd"]], **marks)
    cards = page.cards(page.state.rounds[-1])
    assert [card["status"] for card in cards] == ["measured", "failed", "waiting", "not asked for"]
    assert [card["smiles"] for card in cards] == ["CCO", "c1ccccc1", "CCN", ""]
    assert [card["chance"] for card in cards[:3]] == ["", "", "25 %"]
    assert [card["pinned"] for card in cards] == [False, False, False, True]
    assert cards[0]["comments"] == [{"text": "odd", "by": "Ann"}]
    (value,) = cards[0]["values"]
    assert (value["goal"], value["known"], value["mean"], value["interval"]) == ("affinity", ["2"], "1", "0 to 2")


def test_several_goals_have_a_prediction_each_and_a_chance_of_their_range(tmp_path):
    entry = {"id": "a", "probability": 0.5, "by_goal": {name: suggestion("a", k) for k, name in enumerate(AIMS)}}
    measured = [result("a", 7.0, 1, goal="affinity"), result("b", 2.0, 0, goal="tox")]
    goals = [{"name": name, **aim} for name, aim in AIMS.items()]
    page = show(tmp_path, goals=goals, target="", measured=measured, failures=[], rounds=[[entry]])
    (card,) = page.cards(page.state.rounds[-1])
    values = [f"{each['send']} {each['mean']} {each['chance']}" for each in card["values"]]
    assert values == ["affinity 0 ", "logd 1 25 %", "tox 2 "]
    best = [f"{each['goal']} {each['id']} {each['value']}" for each in page.head()["best"]]
    assert best == ["affinity a 7", "tox b 2"]


def test_the_table_of_the_batch_gives_prices_and_details_unless_it_was_changed(tmp_path):
    page = show(tmp_path, command=COMMAND, **WRITTEN)
    head, card = page.head(), page.cards(page.state.rounds[-1])[0]
    assert (head["bill"], head["budget"], card["price"], card["facts"]) == ("15.5", "20", "12", {"nearest": "m1"})
    assert show(tmp_path, TABLE.replace(b"3.5", b"0.5"), command=COMMAND, **WRITTEN).head()["bill"] == ""


@pytest.mark.parametrize("out", ["../out.csv", "/etc/out.csv", "out.xlsx", "a\0.csv", "nothing.csv"])
def test_no_other_file_is_opened(tmp_path, out):
    (tmp_path / "out.csv").write_bytes(TABLE)
    assert show(tmp_path / "served", command={**COMMAND, "out": out}, **WRITTEN).head()["bill"] == ""


def test_what_waits_is_first_in_the_table_and_then_the_newest(tmp_path):
    page = show(tmp_path, measured=[result("z", 0.5, by="Ann", at="2026-01-02T03:04:05Z"), result("a", 2.0, 1)])
    rows = page.table(9)
    assert [f"{row['id']} {row['status']}" for row in rows] == ["c waiting", "a measured", "b failed", "z measured"]
    assert (rows[3]["by"], rows[3]["at"]) == ("Ann", "2026-01-02 03:04")


def test_figures_have_a_point_for_each_result_and_each_prediction_that_came_true(tmp_path):
    progress, pairs = plots_of(show(tmp_path).state)
    assert [point["id"] for point in progress["points"]] == ["z", "a"]
    assert [point["id"] for point in pairs["points"]] == ["a"]
    assert progress["line"] == "0.0,100.0 100.0,0.0"


@pytest.mark.parametrize("values", [[], [3.0], [0.0, 1e-12], [-7.0, 1234.5], [1e300, -1e300]])
def test_ticks_are_few_and_enclose_all_values(values):
    ticks = ticks_of(values)
    assert 2 <= len(ticks) <= 8
    assert all(ticks[0] <= value <= ticks[-1] for value in values)
