"""Files of all kinds: one that cannot be read says why, and does no harm to the others."""

import os

import pytest
from starlette.exceptions import HTTPException
from support.served import Served, result, suggestion, write_campaign

from graph_bandit_serve.campaigns.folder import CampaignFolder, key_of
from graph_bandit_serve.campaigns.listing import Shelf
from graph_bandit_serve.settings import ServerLimits

XSS = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{1234567*8}}"
REFUSED = {
    "another object": b'{"a": 1}',
    "deep brackets": b"[" * 200_000,
    "a long number": b'{"format": ' + b"9" * 100_000 + b"}",
    "bytes": b"\xff\xfe\x00\x01" * 1000,
    "too large": b" " * 3_000_000,
}
SHOWN = {
    "infinite predictions": {"rounds": [[suggestion("a", low=None, high=None, mean=1e308, std=1e308)]]},
    "names that are programs": {"target": XSS, "agent": XSS, "pending": [XSS], "failures": [{"id": XSS + "2"}]},
    "ids that are programs": {"rounds": [[suggestion(XSS), suggestion("x" * 100_000)]], "structures": {XSS: XSS}},
    "goals that are programs": {
        "target": "",
        "goals": [{"name": XSS, "aim": "maximize"}, {"name": "b", "aim": "limit", "low": 1}],
        "measured": [result("a", 1.0, goal=XSS)],
        "failures": [],
    },
    "a command of other types": {"command": {"out": "a.csv", "require": 5, "filter": True, "price": ["a"], "n": XSS}},
    "thousands of suggestions": {"rounds": [[suggestion("a")] * 2_000]},
    "an empty round": {"rounds": [[]]},
}


def test_a_file_that_is_not_a_campaign_says_why_and_does_no_harm(tmp_path):
    write_campaign(tmp_path / "good.campaign.json")
    for name, content in REFUSED.items():
        (tmp_path / f"{name}.campaign.json").write_bytes(content)
    served = Served(tmp_path, file_bytes=2_000_000)
    listed = {one["name"]: one["problem"] for one in served.get("/campaigns")["campaigns"]}
    assert listed.pop("good") is None
    assert listed.keys() == REFUSED.keys()
    assert all(problem and len(problem) < 400 and str(tmp_path) not in problem for problem in listed.values())
    for name, problem in listed.items():
        answer = served.ask(f"/api/v1/campaigns/{key_of(f'{name}.campaign.json')}")
        assert (answer.status_code, answer.json()) == (422, {"detail": problem})
    assert served.ask("/").status_code == 200


@pytest.mark.parametrize("name", SHOWN)
def test_a_campaign_with_anything_in_it_is_shown_and_escaped(name, tmp_path):
    write_campaign(tmp_path / "one.campaign.json", **SHOWN[name])
    served, key = Served(tmp_path), key_of("one.campaign.json")
    assert len(served.state(key)["rounds"]) == len(SHOWN[name].get("rounds", [1]))
    tabs = [f"/campaigns/{key}?tab={tab}" for tab in ("batch", "candidates", "results", "history")]
    for path in (*tabs, "/"):
        answer = served.ask(path)
        assert (answer.status_code, len(answer.content) < 2_000_000) == (200, True)
        assert str(8 * 1_234_567) not in answer.text


def test_a_file_is_read_again_after_it_has_changed_and_not_before_and_the_oldest_are_forgotten(tmp_path):
    paths = [write_campaign(tmp_path / f"{k}.campaign.json") for k in range(3)]
    first, *others = (key_of(path.name) for path in paths)
    limits = ServerLimits(kept_bytes=2 * paths[0].stat().st_size)
    shelf = Shelf(CampaignFolder(tmp_path, limits), limits)
    reading = shelf.read(first)
    assert shelf.read(first) is reading
    write_campaign(tmp_path / "new", pending=[])
    os.replace(tmp_path / "new", paths[0])
    changed = shelf.read(first)
    assert (reading.summary()["pending"], changed.summary()["pending"]) == (1, 0)
    for key in others:
        shelf.read(key)
    assert shelf.read(first) is not changed
    paths[0].unlink()
    with pytest.raises(HTTPException):
        shelf.read(first)
