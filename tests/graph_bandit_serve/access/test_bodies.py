"""Bodies that come to a guard in front of an application that answers with what it got."""

import asyncio
import itertools
import socket
import threading
import time

import pytest
from support.served import ask, is_whole, parse_answer, serve_in_thread

from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.guard import Guard
from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.settings import ServerLimits

JSON, FILE = ("content-type", "application/json"), ("content-type", "application/octet-stream")
SHORT = {"head_seconds": 0.3, "upload_seconds": 10.0, "form_bytes": 1_000, "upload_bytes": 1_000_000, "uploads": 1}


class Echo:
    """Answers with the body, and counts how often it is asked."""

    def __init__(self):
        self.asked = 0

    async def __call__(self, scope, receive, send):
        self.asked += 1
        body, is_more = b"", True
        while is_more:
            message = await receive()
            body, is_more = body + message["body"], message["more_body"]
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": body})


def guarded(app, port=8765, **limits):
    limits = ServerLimits(**{**SHORT, **limits})
    keys = Keys(False, limits)
    pairs = [("host", f"127.0.0.1:{port}"), ("authorization", f"Bearer {keys.program}")]
    return Guard(app, keys, find_addresses("127.0.0.1", port), limits), pairs


def post(parts, *pairs, is_gone=False, **limits):
    """Return the answer to a body in parts, and how often the application was asked."""
    echo = Echo()
    app, ours = guarded(echo, **limits)
    return asyncio.run(ask(app, "/", "POST", [*ours, *pairs], parts=parts, is_gone=is_gone)), echo.asked


@pytest.mark.parametrize("size", [1, 999, 1_000, 65_536, 70_000, 300_000])
def test_the_application_gets_the_body_as_it_came(size):
    body = bytes(k % 251 for k in range(size))
    parts = [body[k : k + 7_001] for k in range(0, size, 7_001)]
    answer, asked = post(parts, FILE)
    assert (answer.status, answer.body, asked) == (200, body, 1)


def test_a_post_without_a_body_needs_neither_length_nor_type():
    answer, asked = post([])
    assert (answer.status, answer.body, asked) == (200, b"", 1)


@pytest.mark.parametrize("length", [4, 6])
def test_another_length_than_announced_never_reaches_the_application(length):
    answer, asked = post([b"he", b"llo"], JSON, ("content-length", str(length)))
    assert (answer.status, answer.headers["connection"], asked) == (400, "close", 0)
    answer.assert_headers()


def test_a_browser_that_goes_away_in_the_middle_is_not_answered():
    echo = Echo()
    app, ours = guarded(echo)
    messages = iter([{"type": "http.request", "body": b"h", "more_body": True}, {"type": "http.disconnect"}])

    async def receive():
        return next(messages)

    async def send(message):
        pytest.fail(f"{message} was sent to nobody")

    pairs = [*ours, JSON, ("content-length", "5")]
    headers = [(name.encode(), value.encode()) for name, value in pairs]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": headers}
    asyncio.run(app(scope, receive, send))
    assert echo.asked == 0


@pytest.mark.parametrize(("kind", "most"), [(JSON, 1_000), (FILE, 1_000_000)])
def test_each_type_has_its_own_length(kind, most):
    assert post([bytes(most)], kind)[0].status == 200
    answer, asked = post([b"x"], kind, ("content-length", str(most + 1)))
    assert (answer.status, asked) == (413, 0)


@pytest.mark.parametrize(
    "kind", ["Application/JSON; charset=utf-8", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"]
)
def test_a_type_is_read_whatever_stands_behind_it(kind):
    assert post([b"x"], ("content-type", kind))[0].status == 200


def test_a_disk_without_room_is_said(monkeypatch):
    class Full:
        def __init__(self, max_size):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def write(self, part):
            raise OSError("no space left")

    monkeypatch.setattr("graph_bandit_serve.access.bodies.SpooledTemporaryFile", Full)
    answer, asked = post([b"x"], JSON)
    assert (answer.status, asked) == (507, 0)


# --- Through sockets


@pytest.fixture
def served():
    """An application that is served, its port, and the head of a POST."""
    echo = Echo()
    app, limits = None, ServerLimits(**SHORT)

    async def later(scope, receive, send):
        await app(scope, receive, send)

    with serve_in_thread(later, limits) as (port, _):
        app, pairs = guarded(echo, port)
        fields = "".join(f"{name}: {value}\r\n" for name, value in pairs)

        def head(length, kind="application/octet-stream"):
            return f"POST / HTTP/1.1\r\n{fields}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode()

        yield echo, lambda: socket.create_connection(("127.0.0.1", port), timeout=10), head


def answer_of(connection):
    data = b""
    while not is_whole(data, False) or b"content-length" not in data.lower():
        part = connection.recv(65_536)
        if not part:
            break
        data += part
    return parse_answer(data)


@pytest.mark.parametrize("begun", [b"", b"x" * 99])
def test_a_body_that_does_not_arrive_is_given_up(begun, served):
    echo, connect, head = served
    with connect() as connection:
        connection.sendall(head(100) + begun)
        answer = answer_of(connection)
    assert (answer.status, answer.headers["connection"], echo.asked) == (408, "close", 0)
    answer.assert_headers()


def test_a_body_by_drops_is_given_up(served):
    echo, connect, head = served
    with connect() as connection:
        connection.sendall(head(100_000))
        ended = threading.Event()

        def drop():
            try:
                while not ended.wait(0.02):
                    connection.sendall(b"x")
            except OSError:
                pass

        thread = threading.Thread(target=drop)
        thread.start()
        answer = answer_of(connection)
        ended.set()
        thread.join()
    assert (answer.status, echo.asked) == (408, 0)


def test_a_large_body_keeps_out_another_one_and_no_form(served):
    _, connect, head = served
    with connect() as first, connect() as second, connect() as third:
        first.sendall(head(5_000) + bytes(4_999))
        time.sleep(0.1)
        second.sendall(head(5_000))
        answer = answer_of(second)
        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        third.sendall(head(5, "application/json") + b"hello")
        assert answer_of(third).text == "hello"
        first.sendall(b"x")
        assert answer_of(first).status == 200
    with connect() as fourth:
        fourth.sendall(head(5_000) + bytes(5_000))
        assert answer_of(fourth).status == 200


def test_a_body_of_somebody_else_is_not_read(served):
    echo, connect, head = served
    with connect() as connection:
        connection.sendall(head(100_000).replace(b"Bearer ", b"Bearer x") + b"some")
        answer = answer_of(connection)
    assert (answer.status, answer.headers["connection"], echo.asked) == (401, "close", 0)


def test_who_waits_to_be_told_sends_the_body_after_it():
    received = []

    async def app(scope, receive, send):
        received.append(await receive())
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    guard = None

    async def later(scope, receive, send):
        await guard(scope, receive, send)

    with serve_in_thread(later, ServerLimits(**SHORT)) as (port, _):
        guard, pairs = guarded(app, port)
        more = [JSON, ("content-length", "5"), ("expect", "100-continue")]
        head = "".join(f"{name}: {value}\r\n" for name, value in itertools.chain(pairs, more))
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(f"POST / HTTP/1.1\r\n{head}\r\n".encode())
            assert b" 100 " in connection.recv(100)
            connection.sendall(b"hello")
            assert b" 204 " in connection.recv(100)
    assert received == [{"type": "http.request", "body": b"hello", "more_body": False}]
