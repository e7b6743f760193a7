"""Answers that go on, of an application behind a guard."""

import asyncio
import socket

import pytest
from support.served import HOST, PORT, ask, serve_in_thread

from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.guard import Guard
from graph_bandit_serve.access.keys import Access, Keys
from graph_bandit_serve.settings import ServerLimits

EVENTS = [(b"Content-Type", b"Text/Event-Stream; charset=utf-8")]


def guarded(app, **limits):
    limits = ServerLimits(**limits)
    keys = Keys(False, limits)
    guard = Guard(app, keys, find_addresses("127.0.0.1", PORT), limits)
    pairs = [("host", HOST), ("authorization", f"Bearer {keys.program}")]
    return lambda path="/", method="GET", more=(), **rest: ask(guard, path, method, [*pairs, *more], **rest)


async def begin(send, headers=EVENTS):
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})


async def go_on_for_ever(scope, receive, send):
    if scope["path"] == "/page":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a page"})
        return
    await begin(send)
    await asyncio.Event().wait()


def test_events_last_longer_than_a_request_and_end_as_if_they_were_complete():
    ended = []

    async def app(scope, receive, send):
        try:
            await begin(send)
            await asyncio.sleep(0.2)
            await send({"type": "http.response.body", "body": b"data: 2\n\n", "more_body": True})
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    answer = asyncio.run(guarded(app, request_seconds=0.05, stream_seconds=0.5)())
    assert (answer.status, answer.text, ended) == (200, "data: 1\n\ndata: 2\n\n", [True])
    answer.assert_headers()


def test_another_answer_that_goes_on_is_cut_off():
    async def app(scope, receive, send):
        await begin(send, [(b"content-type", b"text/plain")])
        await asyncio.Event().wait()

    with pytest.raises(ConnectionAbortedError):
        asyncio.run(guarded(app, request_seconds=0.05)())


def test_the_application_learns_that_the_browser_has_gone():
    received = []

    async def app(scope, receive, send):
        await begin(send)
        received.extend([await receive() for _ in range(2)])

    asyncio.run(guarded(app)(is_gone=True))
    assert [message["type"] for message in received] == ["http.request", "http.disconnect"]


def test_an_application_that_does_not_listen_ends_too_when_the_browser_has_gone(monkeypatch, caplog):
    monkeypatch.setattr("graph_bandit_serve.access.exchanges.TOLD_SECONDS", 0.05)
    ended = []

    async def app(scope, receive, send):
        try:
            await go_on_for_ever(scope, receive, send)
        finally:
            ended.append(True)

    async def leave():
        await guarded(app)(is_gone=True)
        await asyncio.sleep(0)
        return list(ended)

    assert asyncio.run(leave()) == [True]
    assert not caplog.records


def test_events_take_up_the_room_of_events_alone():
    async def ask_at_once():
        asks = guarded(go_on_for_ever, requests=1, streams=2, stream_seconds=0.3)
        streams = []
        for _ in range(3):
            streams.append(asyncio.ensure_future(asks()))
            await asyncio.sleep(0.01)
        page = await asks("/page")
        return page.status, [answer.status for answer in await asyncio.gather(*streams)], (await asks()).status

    assert asyncio.run(ask_at_once()) == (200, [200, 200, 503], 200)


def test_events_that_stop_by_an_error_end_and_the_terminal_says_it(caplog):
    async def app(scope, receive, send):
        await begin(send)
        await asyncio.sleep(0.01)
        raise ValueError("a secret")

    answer = asyncio.run(guarded(app)())
    assert answer.text == "data: 1\n\n"
    assert [record.getMessage() for record in caplog.records] == ["GET /: ValueError: a secret"]


def test_the_time_of_a_request_begins_when_its_body_has_arrived():
    async def app(scope, receive, send):
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    asks = guarded(app, request_seconds=0.1)
    answer = asyncio.run(asks("/", "POST", parts=[b"{", b"}"], pause=0.1, more=[("content-type", "application/json")]))
    assert (answer.status, answer.body) == (200, b"{}")


def test_the_application_knows_who_asks_and_can_make_links():
    states = []

    async def app(scope, receive, send):
        states.append(scope["state"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    asyncio.run(guarded(app)())
    (state,) = states
    assert state["access"] is Access.MEMBER
    assert state["keys"].enter(state["keys"].invite(Access.MEMBER))


@pytest.mark.parametrize("path", ["/mcp", "/"])
def test_programs_may_ask_to_end_a_session(path):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 204 if scope["path"] == "/mcp" else 405, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    assert asyncio.run(guarded(app)(path, "DELETE")).status == (204 if path == "/mcp" else 405)


def test_events_do_not_keep_the_server_from_stopping(caplog):
    ended = []

    async def app(scope, receive, send):
        await begin(send)
        ended.extend([(await receive())["type"] for _ in range(2)])

    limits, guards = ServerLimits(), []

    async def later(scope, receive, send):
        await guards[0](scope, receive, send)

    with serve_in_thread(later, limits) as (port, stop):
        keys = Keys(False, limits)
        guards.append(Guard(app, keys, find_addresses("127.0.0.1", port), limits))
        head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {keys.program}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(head.encode())
            assert b" 200 " in connection.recv(4096)
            stop()
    assert ended == ["http.request", "http.disconnect"]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
