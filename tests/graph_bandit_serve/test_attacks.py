"""Hostile requests to a server that runs: none gets in, none stops it, and every answer has its headers."""

import pytest
from support.hostile_bodies import BODIES
from support.hostile_writes import WRITES
from support.intruders import CLOSED, TABLE
from support.links import make_link
from support.served import Running, write_campaign

from graph_bandit_serve.campaigns.folder import key_of

ROWS = [*TABLE, *BODIES, *WRITES]
SECRET = "a secret of another folder"
INSIDE = "name of what is inside"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A server, whose first link was used, next to a file that it must not show."""
    above = tmp_path_factory.mktemp("above")
    write_campaign(above / "secret.campaign.json", target=SECRET)
    write_campaign(above / "served" / "one.campaign.json", target=INSIDE)
    running = Running(above / "served", "--guests")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def values(running):
    """What the rows of the table name."""
    host, (first, guests) = f"127.0.0.1:{running.port}", running.tokens
    cookies = []
    for token in (first, guests):
        answer = running.send(f"GET /enter?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert (answer.status, answer.headers["location"]) == (303, "/")
        cookies.append(answer.headers["set-cookie"].partition(";")[0])
    for cookie in cookies:  # both let in
        answer = running.send(f"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode())
        assert answer.status == 200
        assert INSIDE in answer.text
    names = {"member": cookies[0], "guest": cookies[1], "name": cookies[0].partition("=")[0]}
    ids = {"id": key_of("one.campaign.json"), "outside": key_of("../secret.campaign.json")}
    return {"host": host, "key": running.key, "spent": first, "guests": guests, **names, **ids}


OWN_SCRIPT = '<script src="/page.js" defer></script>'


@pytest.mark.parametrize(("text", "statuses"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_hostile_request_is_refused_and_the_next_one_answered(text, statuses, running, values):
    request = text.format(**values)
    answer = running.send(request.encode("utf-8" if "٣" in request else "latin-1"))
    if answer is None:
        assert CLOSED in statuses
    else:
        assert answer.status in statuses
        answer.assert_headers()
        assert "set-cookie" not in answer.headers
        is_json = answer.headers.get("content-type") == "application/json"  # which no browser runs
        for hidden in (
            SECRET,
            INSIDE,
            "Traceback",
            "root:",
            values["key"],
            *["<script", "onerror=alert(1)>"][is_json * 2 :],
        ):
            assert hidden not in answer.text.replace(OWN_SCRIPT, "")
    assert running.get("/api/v1/campaigns").status == 200


def test_the_table_is_long():
    assert len(ROWS) >= 300
    assert len(WRITES) >= 100
    assert len({name for name, *_ in ROWS}) == len(ROWS)


def test_a_link_out_of_the_folder_is_not_there(running, values, tmp_path):
    served = write_campaign(tmp_path / "served" / "one.campaign.json").parent
    write_campaign(tmp_path / "secret.campaign.json", target=SECRET)
    (tmp_path / "elsewhere").mkdir()
    write_campaign(tmp_path / "elsewhere" / "two.campaign.json", target=SECRET)
    make_link(served / "out.campaign.json", tmp_path / "secret.campaign.json")
    make_link(served / "folder", tmp_path / "elsewhere")
    other = Running(served)
    try:
        listed = other.get("/api/v1/campaigns")
        assert [campaign["name"] for campaign in listed.json()["campaigns"]] == ["one"]
        for place in ("out.campaign.json", "folder/two.campaign.json"):
            for page in ("/campaigns/", "/api/v1/campaigns/"):
                answer = other.get(page + key_of(place))
                assert (answer.status, SECRET in answer.text) == (404, False)
    finally:
        other.stop()


def test_nothing_was_said_of_errors_but_a_line_each(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    other = Running(tmp_path)
    other.send(b"\x00garbage\r\n\r\n")
    head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{other.port}\r\n"
    assert other.send(f"{head}Transfer-Encoding: chunked\r\n\r\nno chunk\r\n".encode()).status == 400
    assert other.send(f"{head}\r\n\x00\r\n\r\n".encode()).status == 401
    assert other.get("/").status == 200
    said = other.stop()
    assert "Traceback" not in said
    assert "Exception" not in said
    assert "The campaigns stay as they are." in said
