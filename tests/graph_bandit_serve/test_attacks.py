"""Hostile requests by kind: each is refused with the headers of every answer, and shows nothing of a campaign."""

import pytest
from support.links import make_link
from support.served import Served, write_campaign

from graph_bandit_serve.campaigns.folder import key_of

ONE, OUT = key_of("one.campaign.json"), key_of("out.campaign.json")
SECRET, INSIDE = "a secret of another folder", "name of what is inside"
LIST = "/api/v1/campaigns"
RESULTS, ASK = f"{LIST}/{ONE}/tell", f"{LIST}/{ONE}/ask"
PROGRAM, MEMBER = ("authorization", "Bearer {program}"), ("cookie", "{member}")
SCRIPT = (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"))
DEEP = '{"results": ' + "[" * 100_000 + "]" * 100_000 + "}"
JSON = ("content-type", "application/json")
ROWS = {
    "no key": ("GET", LIST, (), {}, 401),
    "another key before a right cookie": ("GET", LIST, (("authorization", "Bearer x"), MEMBER), {}, 401),
    "the key of programs as a cookie": ("GET", LIST, (("cookie", "graph-bandit-8765={program}"),), {}, 401),
    "tools without a key": ("POST", "/mcp", (), {"json": {}}, 401),
    "a link for the second time": ("GET", "/enter?token={spent}", (), {}, 403),
    "a name of somebody else's that leads here": ("GET", LIST, (PROGRAM, ("host", "evil.example")), {}, 421),
    "a form of another site": ("POST", "/invite", (MEMBER, ("origin", "https://evil.example")), {}, 403),
    "a form that names no page": ("POST", "/invite", (MEMBER,), {}, 403),
    "a script of another site": ("GET", LIST, (MEMBER, *SCRIPT), {}, 403),
    "a path out of the folder": ("GET", "/campaigns/..%2fsecret.campaign.json", (PROGRAM,), {}, 404),
    "a link out of the folder": ("GET", f"/campaigns/{OUT}", (PROGRAM,), {}, 404),
    "a table by its path": ("POST", "/api/v1/look", (PROGRAM,), {"json": {"pool": "../secret.csv"}}, 404),
    "a script in an address": ("GET", "/campaigns/<script>alert(1)</script>", (PROGRAM,), {}, 404),
    "a script as a tab": ("GET", f"/campaigns/{ONE}?tab=<script>", (PROGRAM,), {}, 422),
    "a body without a length": ("POST", RESULTS, (PROGRAM, JSON), {"content": iter([b"{}"])}, 411),
    "a body that is too long": ("POST", RESULTS, (PROGRAM, JSON), {"content": bytes(1_000_001)}, 413),
    "deep brackets": ("POST", RESULTS, (PROGRAM, JSON), {"content": DEEP}, 400),
    "half a character": ("POST", ASK, (PROGRAM, JSON), {"content": '{"changes": {"n": "\\ud800"}}'}, 422),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """An application next to files that it must not show, and what the rows name."""
    above = tmp_path_factory.mktemp("above")
    write_campaign(above / "secret.campaign.json", target=SECRET)
    (above / "secret.csv").write_text("id,smiles\n")
    write_campaign(above / "served" / "one.campaign.json", target=INSIDE)
    make_link(above / "served" / "out.campaign.json", above / "secret.campaign.json")
    served = Served(above / "served")
    _, cookie = served.enter(served.keys.link)
    assert INSIDE in served.ask(headers=[cookie], key=False).text
    return served, {"program": served.key, "spent": served.keys.link, "member": cookie[1]}


@pytest.mark.parametrize("name", ROWS)
def test_a_hostile_request_is_refused(name, served):
    app, values = served
    method, target, headers, content, status = ROWS[name]
    pairs = [(name, text.format(**values)) for name, text in headers]
    answer = app.ask(target.format(**values), method, pairs, key=False, **content)
    assert answer.status_code == status
    assert not [text for text in (SECRET, INSIDE, values["program"]) if text in answer.text]
    assert "set-cookie" not in answer.headers
