"""Who is let in, by which address and key."""

import socket

import pytest
from support.served import HOST, Served

from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.settings import ServerLimits

HERE = {"127.0.0.1:8000", "localhost:8000"}


@pytest.mark.parametrize(
    ("arguments", "hosts", "link"),
    [
        (("127.0.0.1", 8000), HERE, "http://127.0.0.1:8000"),
        (("::1", 8000), {"[::1]:8000", "localhost:8000"}, "http://[::1]:8000"),
        (("127.0.0.1", 80), {"127.0.0.1", "localhost"}, "http://127.0.0.1"),
        (("Lab-PC", 8000), {"lab-pc:8000"}, "http://lab-pc:8000"),
        (("0.0.0.0", 8000), {*HERE, f"{socket.gethostname().lower()}:8000"}, ""),
        (("127.0.0.1", 8000, "https://Lab.example.org"), {*HERE, "lab.example.org"}, "https://lab.example.org"),
    ],
)
def test_a_server_has_the_names_under_which_it_is_reached_and_no_other(arguments, hosts, link):
    addresses = find_addresses(*arguments)
    assert hosts <= addresses.hosts
    assert addresses.link.startswith(link)
    assert not {"0.0.0.0:8000", "evil.example:8000"} & addresses.hosts
    assert "http://lab.example.org" not in addresses.origins


def test_a_link_lets_in_once_and_no_key_stands_for_another():
    keys = Keys(ServerLimits())
    links = [keys.link, keys.invite("Ann")]
    sessions = [*map(keys.enter, links)]
    assert [*map(keys.name_of, sessions)] == ["", "Ann"]
    assert {*map(keys.enter, (*links, *sessions, keys.program, ""))} == {None}
    assert {*map(keys.name_of, (*links, keys.program, ""))} == {None}
    assert [*map(keys.is_program, (keys.program, *links, *sessions))] == [True, False, False, False, False]


def test_sessions_and_invitations_end():
    clock = [0.0]
    keys = Keys(ServerLimits(session_seconds=10, invitation_seconds=10), lambda: clock[0])
    session, first, second = keys.enter(keys.link), keys.invite(), keys.invite()
    clock[0] = 9.9
    assert keys.name_of(session) == ""
    assert keys.enter(first) is not None
    clock[0] = 10
    assert keys.name_of(session) is keys.enter(second) is None


def test_a_link_becomes_a_cookie_which_a_proxy_with_tls_sends_by_tls_alone(tmp_path):
    for public, start in (("", "graph-bandit-8765="), ("https://lab.example.org", "__Host-graph-bandit-")):
        served = Served(tmp_path, public=public)
        host = ("host", public.removeprefix("https://") or HOST)
        answer, cookie = served.enter(served.keys.link, host)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert cookie[1].startswith(start)
        parts = {*answer.headers["set-cookie"].split("; ")}
        assert {"HttpOnly", "SameSite=lax", "Path=/", *["Secure"] * bool(public)} <= parts
        assert served.keys.link not in str(answer.headers)
        assert served.ask("/", headers=[host, cookie], key=False).status_code == 200


def test_no_cookie_of_others_shuts_a_member_out(served):
    """A page on another port of this machine can set one."""
    _, (_, member) = served.enter(served.keys.link)
    name = member.partition("=")[0]
    for text in (f"{name}=evil; {member}", f"{member}; {name}=evil"):
        answer = served.ask("/", "POST", [("cookie", text), ("origin", f"http://{HOST}")], key=False)
        assert answer.status_code == 405  # which the application says
