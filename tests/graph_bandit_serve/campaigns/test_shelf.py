"""Files of all kinds: one that cannot be read says why, and does no harm to the others."""

import json
import os

from support.served import fields_of_campaign, result, serve_app, suggestion, write_campaign

from graph_bandit_serve.campaigns.folder import CampaignFolder, key_of
from graph_bandit_serve.campaigns.shelf import Shelf
from graph_bandit_serve.settings import ServerLimits

GOOD = json.dumps(fields_of_campaign())
XSS = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{1234567*8}}"
REFUSED = {
    "no JSON": "{",
    "another object": '{"a": 1}',
    "another version": json.dumps({**fields_of_campaign(), "format": 99}),
    "deep brackets": "[" * 200_000,
    "a long number": '{"format": ' + "9" * 100_000 + "}",
    "infinity": GOOD.replace("0.25", "Infinity"),
    "half a character": GOOD.replace("affinity", "\\ud800"),
    "bytes": b"\xff\xfe\x00\x01" * 1000,
    "a pickle": b"\x80\x04\x95\x0f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.",
    "too large": b" " * 3_000_000,
}
SHOWN = {
    "infinite predictions": {"rounds": [[suggestion("a", low=None, high=None, mean=1e308, std=1e308)]]},
    "names that are programs": {"target": XSS, "agent": XSS, "pending": [XSS], "failed": [XSS + "2"]},
    "ids that are programs": {"rounds": [[suggestion(XSS), suggestion("x" * 100_000)]], "structures": {XSS: XSS}},
    "goals that are programs": {
        "target": "",
        "goals": [{"name": XSS, "aim": "maximize"}, {"name": "b", "aim": "limit", "low": 1}],
        "measured": [result("a", 1.0, goal=XSS)],
        "failed": [],
    },
    "a command of other types": {"command": {"out": "a.csv", "require": 5, "only": True, "price": ["a"]}},
    "a command that is a page": {"command": {"out": "a.csv"} | dict.fromkeys(("price", "per", "n", "budget"), XSS)},
    "a factory as agent": {"agent": "subprocess:getoutput:cmd=touch pwned"},
    "thousands of suggestions": {"rounds": [[suggestion("a")] * 2_000]},
    "an empty round": {"rounds": [[]]},
}


def serve(folder, contents, **limits):
    """Return the application of a folder with these files and a good one, and the names of the files by their keys."""
    write_campaign(folder / "good.campaign.json")
    for name, content in contents.items():
        (folder / f"{name}.campaign.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    return serve_app(folder, **limits), {key_of(f"{name}.campaign.json"): name for name in contents}


def assert_harmless(served, key):
    """Every page of a campaign is answered, escaped and with its headers."""
    for path in (f"/campaigns/{key}", f"/campaigns/{key}/rounds/1"):
        answer = served.ask(path)
        assert answer.status in (200, 404), path
        answer.assert_headers()
        answer.assert_safe()
        assert str(8 * 1_234_567) not in answer.text
        assert "Traceback" not in answer.text
        assert len(answer.body) < 2_000_000


def test_a_file_that_is_not_a_campaign_says_why_and_does_no_harm(tmp_path):
    served, keys = serve(tmp_path, REFUSED, file_bytes=2_000_000)
    listed = {one["name"]: one["problem"] for one in served.ask("/api/v1/campaigns").json()["campaigns"]}
    assert listed.pop("good") is None
    assert listed.keys() == REFUSED.keys()
    assert all(problem and len(problem) < 400 and str(tmp_path) not in problem for problem in listed.values())
    for key, name in keys.items():
        answer = served.ask(f"/api/v1/campaigns/{key}")
        assert (answer.status, answer.json()) == (422, {"detail": listed[name]})
        assert_harmless(served, key)
    served.ask("/").assert_safe()


def test_a_campaign_with_anything_in_it_is_shown_and_escaped(tmp_path):
    contents = {name: json.dumps(fields_of_campaign(**changes)) for name, changes in SHOWN.items()}
    served, keys = serve(tmp_path, contents)
    for key, name in keys.items():
        answer = served.ask(f"/api/v1/campaigns/{key}")
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json"), name
        assert len(answer.json()["rounds"]) == len(SHOWN[name].get("rounds", [1]))
        assert_harmless(served, key)
    served.ask("/").assert_safe()
    assert not list(tmp_path.rglob("pwned"))


def shelf_of(folder, **limits):
    limits = ServerLimits(**limits)
    return Shelf(CampaignFolder(folder, limits), limits)


def test_a_file_is_read_again_after_it_has_changed_and_not_before(tmp_path, monkeypatch):
    path = write_campaign(tmp_path / "one.campaign.json")
    shelf, key = shelf_of(tmp_path), key_of("one.campaign.json")
    first = shelf.read(key)
    assert shelf.read(key) is first
    assert shelf.list_campaigns().campaigns == [first.summary]
    write_campaign(path.with_name("new"), pending=[])
    os.replace(path.with_name("new"), path)
    second = shelf.read(key)
    assert second.version != first.version
    assert (first.summary.pending, second.summary.pending) == (1, 0)
    assert shelf.list_campaigns().campaigns == [second.summary]
    path.unlink()
    assert shelf.read(key) is None
    assert shelf.list_campaigns().campaigns == []


def test_memory_holds_what_was_asked_for_last(tmp_path):
    for k in range(5):
        write_campaign(tmp_path / f"{k}.campaign.json")
    size = (tmp_path / "0.campaign.json").stat().st_size
    shelf = shelf_of(tmp_path, kept_bytes=2 * size)
    shelf.list_campaigns()
    readings = [shelf.read(key_of(f"{k}.campaign.json")) for k in (3, 4)]
    assert [shelf.read(key_of(f"{k}.campaign.json")) for k in (3, 4)] == readings
    assert shelf.read(key_of("3.campaign.json")) is readings[0]
    shelf.read(key_of("0.campaign.json"))
    assert shelf.read(key_of("3.campaign.json")) is readings[0]
    assert shelf.read(key_of("4.campaign.json")) is not readings[1]
