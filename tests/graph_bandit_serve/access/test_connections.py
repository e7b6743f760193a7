"""Connections to a server in a thread, with short limits."""

import asyncio
import socket
import time
from contextlib import ExitStack

import pytest
from support.served import parse_answer, serve_in_thread

from graph_bandit_serve.settings import ServerLimits

ASK = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


async def say_yes(scope, receive, send):
    if scope["path"] != "/":
        await go_on(scope, receive, send)
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
    await send({"type": "http.response.body", "body": b"yes"})


async def go_on(scope, receive, send):
    scope["state"]["goes_on"] = scope["path"] == "/events"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"begun", "more_body": True})
    await receive()
    gone = asyncio.ensure_future(receive())
    while scope["path"] == "/flood" and not gone.done():
        await send({"type": "http.response.body", "body": bytes(1_000_000), "more_body": True})
    await gone


@pytest.fixture
def server():
    """A server, as its port and what stops it."""
    with serve_in_thread(say_yes, ServerLimits(head_seconds=0.3, request_seconds=0.3, connections=3)) as server:
        yield server


@pytest.fixture
def port(server):
    return server[0]


@pytest.fixture
def full(port):
    """Makes connections, which are closed in the end."""
    with ExitStack() as stack:
        yield lambda count: [stack.enter_context(connect(port)) for _ in range(count)]


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def read_to_end(connection):
    data = b""
    try:
        while part := connection.recv(4096):
            data += part
    except ConnectionError:
        pass
    return data


@pytest.mark.parametrize("begun", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_head_that_does_not_arrive_closes_the_connection(begun, port):
    started = time.monotonic()
    with connect(port) as connection:
        connection.sendall(begun)
        assert read_to_end(connection) == b""
    assert 0.2 < time.monotonic() - started < 5


def test_a_second_head_has_the_same_time(port):
    started = time.monotonic()
    with connect(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.1)
        connection.sendall(b"GET / HT")
        assert read_to_end(connection).endswith(b"yes")
    assert 0.3 < time.monotonic() - started < 5


def test_a_head_in_two_parts_is_answered(port):
    with connect(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHo")
        time.sleep(0.1)
        connection.sendall(b"st: x\r\nConnection: close\r\n\r\n")
        assert read_to_end(connection).endswith(b"yes")


def test_a_new_connection_takes_the_place_of_the_one_that_was_idle_longest(port, full):
    first = full(3)
    time.sleep(0.05)
    with connect(port) as connection:
        connection.sendall(ASK)
        assert read_to_end(connection).endswith(b"yes")
        assert read_to_end(first[0]) == b""
    for connection in first[1:]:
        connection.sendall(ASK)
        assert read_to_end(connection).endswith(b"yes")


def test_too_many_connections_are_told_if_all_are_answered(port, full):
    busy = full(3)
    for connection in busy:
        connection.sendall(ASK.replace(b"/", b"/forever", 1))
        assert connection.recv(4096)
    with connect(port) as connection:
        answer = parse_answer(read_to_end(connection))
    assert answer.status == 503
    answer.assert_headers()
    for connection in busy:
        connection.close()
    time.sleep(0.1)
    with connect(port) as connection:
        connection.sendall(ASK)
        assert read_to_end(connection).endswith(b"yes")


def test_an_answer_that_nobody_reads_closes_the_connection(port, full):
    busy = full(3)
    for connection in busy:
        connection.sendall(ASK.replace(b"/", b"/flood", 1))
    deadline = time.monotonic() + 10
    status = 503
    while status == 503 and time.monotonic() < deadline:
        with connect(port) as connection:
            connection.sendall(ASK)
            status = parse_answer(read_to_end(connection)).status
    assert status == 200


@pytest.mark.parametrize("more", [b"lo", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"])
def test_what_follows_a_body_is_not_taken_for_another_request(more, port):
    with connect(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nhel" + more)
        data = read_to_end(connection)
    assert parse_answer(data).status == 400
    assert data.count(b"HTTP/1.1") == 1


def test_an_answer_that_goes_on_does_not_keep_the_server_from_stopping(server, caplog):
    port, stop = server
    with connect(port) as connection:
        connection.sendall(ASK.replace(b"/", b"/events", 1))
        assert b"200" in connection.recv(4096)
        stop()
        assert b"HTTP" not in read_to_end(connection)
    assert "Exception" not in caplog.text
    assert "Cancel" not in caplog.text
