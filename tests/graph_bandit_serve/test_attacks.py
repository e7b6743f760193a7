"""Hostile requests by kind: each is refused with the headers of every answer, and shows nothing of a campaign."""

import json

import pytest
from support.links import make_link
from support.served import HOST, serve_app, write_campaign

from graph_bandit_serve.campaigns.folder import key_of

ONE, OUT = key_of("one.campaign.json"), key_of("out.campaign.json")
SECRET, INSIDE = "a secret of another folder", "name of what is inside"
LIST, RESULTS = "/api/v1/campaigns", f"/api/v1/campaigns/{ONE}/results"
PROGRAM, MEMBER = ("authorization", "Bearer {program}"), ("cookie", "{member}")
OURS, EVIL = ("origin", f"http://{HOST}"), ("origin", "https://evil.example")
CROSS, NAVIGATE = ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")
JSON, FORM = ("content-type", "application/json"), ("content-type", "application/x-www-form-urlencoded")
DEEP = '{"results": ' + "[" * 100_000 + "]" * 100_000 + "}"
ROWS = {
    "no key": ("GET", LIST, (), 401),
    "another key": ("GET", LIST, (("authorization", "Bearer AAAA"),), 401),
    "the key of a link": ("GET", LIST, (("authorization", "Bearer {spent}"),), 401),
    "the key as a cookie": ("GET", LIST, (("cookie", "graph-bandit-member-8765={program}"),), 401),
    "another key before a right cookie": ("GET", LIST, (("authorization", "Bearer x"), MEMBER), 401),
    "tools without a key": ("POST", "/mcp", (JSON,), 401),
    "a link for the second time": ("GET", "/enter?token={spent}", (), 403),
    "a link that leads on": ("GET", "/enter?token={guests}&next=//evil.example", (), 403),
    "a name of somebody else's that leads here": ("GET", LIST, (PROGRAM, ("host", "evil.example")), 421),
    "a form of another site": ("POST", "/invite", (MEMBER, EVIL), 403),
    "a form of a frame that names no site": ("POST", "/invite", (MEMBER, ("origin", "null")), 403),
    "a form that names no page": ("POST", "/invite", (MEMBER,), 403),
    "a script of another site": ("GET", LIST, (MEMBER, CROSS, ("sec-fetch-mode", "no-cors")), 403),
    "a frame of another site": ("GET", "/", (MEMBER, CROSS, NAVIGATE, ("sec-fetch-dest", "iframe")), 403),
    "a preflight of another site": ("OPTIONS", LIST, (MEMBER, EVIL), 403),
    "a form of a guest": ("POST", "/invite", (("cookie", "{guest}"), OURS), 403),
    "a change by a guest": ("POST", RESULTS, (("cookie", "{guest}"), OURS, JSON), 403),
    "a path out of the folder": ("GET", "/campaigns/..%2fsecret.campaign.json", (PROGRAM,), 404),
    "a path in place of a key": ("GET", "/campaigns/one.campaign.json", (PROGRAM,), 404),
    "a link out of the folder": ("GET", f"/campaigns/{OUT}", (PROGRAM,), 404),
    "a page in an address": ("GET", "/campaigns/<script>alert(1)</script>", (PROGRAM,), 404),
    "a body without a length": ("POST", RESULTS, (PROGRAM, JSON, ("transfer-encoding", "chunked")), 411),
    "a body that is too long": ("POST", RESULTS, (PROGRAM, JSON, ("content-length", "1000001")), 413),
    "a file that is too long": ("POST", "/new/pool", (PROGRAM, ("content-length", "200000001")), 413),
}
BODIES = {
    "deep brackets": (RESULTS, JSON, DEEP, 400),
    "half a character": (RESULTS, JSON, '{"results": [{"id": "\\ud800", "value": 1}]}', 422),
    "a table by its path": ("/api/v1/pools/preview", JSON, '{"pool": "../secret.csv"}', 404),
    "a file that was sent by a path": (f"{RESULTS}/table", JSON, '{"table": "upload:../secret"}', 404),
    "a page in a form": (f"/campaigns/{ONE}/results", FORM, "value-1:<script>alert(1)</script>=1", 422),
    "a page as a table": ("/new/pool", FORM, "table=<script>alert(1)</script>", 404),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """An application next to files that it must not show, and what the rows name."""
    above = tmp_path_factory.mktemp("above")
    write_campaign(above / "secret.campaign.json", target=SECRET)
    (above / "secret.csv").write_text("id,smiles\n")
    write_campaign(above / "served" / "one.campaign.json", target=INSIDE)
    make_link(above / "served" / "out.campaign.json", above / "secret.campaign.json")
    served = serve_app(above / "served", guests=True)
    links = {"member": served.keys.link, "guest": served.keys.guest_link}
    entered = {name: served.ask("/enter", key=False, query=f"token={token}") for name, token in links.items()}
    cookies = {name: answer.headers["set-cookie"].partition(";")[0] for name, answer in entered.items()}
    for cookie in cookies.values():  # both let in
        assert INSIDE in served.ask("/", key=False, headers=[("cookie", cookie)]).text
    keys = served.keys
    return served, {"program": keys.program, "spent": keys.link, "guests": keys.guest_link, **cookies}


def ask(served, method, target, headers, body=b""):
    app, values = served
    path, _, query = target.format(**values).partition("?")
    pairs = dict([("host", HOST), *((name, text.format(**values)) for name, text in headers)])
    answer = app.ask(path, method, pairs.items(), key=False, host=None, query=query, body=body)
    answer.assert_headers()
    assert not [text for text in (SECRET, INSIDE, values["program"]) if text in answer.text]
    if answer.headers["content-type"].startswith("text/html"):
        answer.assert_safe()
    assert "set-cookie" not in answer.headers
    return answer.status


@pytest.mark.parametrize("name", ROWS)
def test_a_hostile_request_is_refused(name, served):
    *request, status = ROWS[name]
    assert ask(served, *request) == status


@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_body_of_a_member_is_refused(name, served):
    target, kind, body, status = BODIES[name]
    assert ask(served, "POST", target, (PROGRAM, kind), body.encode()) == status
    assert json.loads(served[0].ask(LIST).body)["campaigns"][0]["name"] == "one"
