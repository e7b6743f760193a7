import asyncio
import threading

import pytest
from support.served import HOST, PORT, ask, serve_app, write_campaign

from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.guard import Guard
from graph_bandit_serve.access.keys import Access, Keys
from graph_bandit_serve.settings import ServerLimits


@pytest.fixture
def served(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    return serve_app(tmp_path, guests=True)


def enter(served, token, *headers):
    return served.ask("/enter", query=f"token={token}", headers=headers, key=False)


def cookie_of(answer):
    return [("cookie", answer.headers["set-cookie"].partition(";")[0])]


def test_a_link_becomes_a_cookie_and_leaves_the_address(served):
    answer = enter(served, served.keys.link)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    name, *parts = answer.headers["set-cookie"].split("; ")
    assert name.startswith(f"graph-bandit-member-{PORT}=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} < set(parts)
    assert served.keys.link not in str(answer)
    assert served.ask("/", key=False, headers=cookie_of(answer)).status == 200
    assert enter(served, served.keys.link).status == 403


def test_a_link_in_mail_leads_on_by_a_page_since_redirects_from_another_site_carry_no_cookie(served):
    link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
    answer = enter(served, served.keys.guest_link, *link)
    assert answer.status == 200
    assert 'content="0;url=/"' in answer.text
    assert served.keys.guest_link not in answer.text
    assert served.ask("/", key=False, headers=cookie_of(answer)).status == 200


def test_behind_a_proxy_with_tls_the_cookie_is_sent_by_tls_alone(tmp_path):
    served = serve_app(tmp_path, public="https://lab.example.org")
    answer = served.ask("/enter", query=f"token={served.keys.link}", host="lab.example.org", key=False)
    assert answer.headers["set-cookie"].startswith("__Host-graph-bandit-")
    assert answer.headers["set-cookie"].endswith("; Secure")


def test_a_second_cookie_of_the_name_shuts_nobody_out(served):
    """A page on another port of this machine can set one."""
    ((_, cookie),) = cookie_of(enter(served, served.keys.link))
    name = cookie.partition("=")[0]
    for text in (f"{name}=evil; {cookie}", f"{cookie}; {name}=evil"):
        assert served.ask("/", key=False, headers=[("cookie", text)]).status == 200


def test_the_link_of_guests_takes_nothing_from_a_member_whose_browser_follows_it(served):
    member, guest = (cookie_of(enter(served, token))[0][1] for token in (served.keys.link, served.keys.guest_link))
    assert member.partition("=")[0] != guest.partition("=")[0]
    both = [("cookie", f"{guest}; {member}"), ("origin", f"http://{HOST}")]
    assert served.ask("/", "POST", key=False, headers=both).status == 405  # as a member, not 403 as a guest


def test_a_session_of_guests_under_the_name_of_members_lets_nobody_in(served):
    guest = cookie_of(enter(served, served.keys.guest_link))[0][1].replace("guest-", "member-", 1)
    assert served.ask("/", key=False, headers=[("cookie", guest)]).status == 401


def test_guests_read_and_do_nothing_else(served):
    guest = cookie_of(enter(served, served.keys.guest_link))
    member = cookie_of(enter(served, served.keys.link))
    ours = [("origin", f"http://{HOST}"), ("sec-fetch-site", "same-origin")]
    assert served.ask("/", key=False, headers=guest).status == 200
    assert served.ask("/", "POST", key=False, headers=[*guest, *ours]).status == 403
    assert served.ask("/", "POST", key=False, headers=[*member, *ours]).status == 405


def test_members_and_programs_may_send_a_body(served):
    member = cookie_of(enter(served, served.keys.link))
    for key, headers in ((False, [*member, ("origin", f"http://{HOST}")]), (True, [])):
        answer = served.ask("/", "POST", key=key, headers=[*headers, ("content-type", "application/json")], body=b"{}")
        assert answer.status == 405  # of the application, which has no such address


def test_browsers_say_in_forms_which_page_of_ours_they_are_on(served):
    """With the policy `no-referrer` they would send `Origin: null`, which is refused."""
    assert served.ask("/").headers["referrer-policy"] == "same-origin"


def test_an_invitation_is_a_link(served):
    answer = enter(served, served.keys.invite(Access.MEMBER))
    assert answer.status == 303
    assert served.ask("/", key=False, headers=cookie_of(answer)).status == 200


def test_head_is_get_without_a_body(served):
    whole, head = served.ask("/"), served.ask("/", "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"] == str(len(whole.body))


@pytest.mark.parametrize("path", ["/", "/nothing", "/api", "/api/v1/campaigns", "/api/v1/nothing", "/style.css"])
@pytest.mark.parametrize("key", [True, False])
def test_every_answer_has_the_headers(path, key, served):
    served.ask(path, key=key).assert_headers()


def test_a_refusal_without_a_key_is_not_a_page(served):
    answer = served.ask("/", key=False)
    assert answer.status == 401
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.count("\n") == 1


# --- Applications that do harm


def guard(app, **limits):
    limits = ServerLimits(**limits)
    keys = Keys(False, limits)
    headers = [("host", HOST), ("authorization", f"Bearer {keys.program}")]
    return Guard(app, keys, find_addresses("127.0.0.1", PORT), limits), headers


def test_an_error_is_told_in_a_line_on_the_terminal_and_not_to_who_asks(caplog):
    async def fail(scope, receive, send):
        raise ValueError("a secret\nand \x1b[31m a second line")

    app, headers = guard(fail)
    answer = asyncio.run(ask(app, "/x\n\x1b", "GET", headers))
    assert answer.status == 500
    answer.assert_headers()
    assert "secret" not in answer.text
    (record,) = caplog.records
    assert record.getMessage() == r"GET /x\n\x1b: ValueError: a secret\nand \x1b[31m a second line"
    assert record.exc_info is None


def test_an_answer_that_stops_in_the_middle_is_cut_off():
    async def stop(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError("in the middle")

    app, headers = guard(stop)
    with pytest.raises(ConnectionAbortedError):
        asyncio.run(ask(app, "/", "GET", headers))


def test_what_takes_long_is_given_up_and_takes_up_room_until_it_ends():
    ended = threading.Event()

    async def wait(scope, receive, send):
        await asyncio.shield(asyncio.to_thread(ended.wait, 30))

    async def ask_often():
        app, headers = guard(wait, requests=1, request_seconds=0.05)
        late = await ask(app, "/", "GET", headers)
        await asyncio.sleep(0)
        ended.set()
        return late

    assert asyncio.run(ask_often()).status == 503


def test_too_many_at_once_are_told_to_come_again():
    async def ask_at_once():
        go = asyncio.Event()

        async def wait(scope, receive, send):
            await go.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        app, headers = guard(wait, requests=2)
        asked = [asyncio.ensure_future(ask(app, "/", "GET", headers)) for _ in range(3)]
        await asyncio.sleep(0.01)
        go.set()
        return [answer.status for answer in await asyncio.gather(*asked)], (await ask(app, "/", "GET", headers)).status

    assert asyncio.run(ask_at_once()) == ([200, 200, 503], 200)


def test_sockets_are_closed():
    async def connect():
        sent = []

        async def send(message):
            sent.append(message)

        app, _ = guard(None)
        await app({"type": "websocket"}, None, send)
        return sent

    assert asyncio.run(connect()) == [{"type": "websocket.close", "code": 1008}]
