"""Connections to a server in a thread, with short limits."""

import socket
import threading
import time

import pytest
import uvicorn
from support.served import parse_answer

from graph_bandit_serve.access.connections import connections_within
from graph_bandit_serve.settings import ServerLimits


async def say_yes(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
    await send({"type": "http.response.body", "body": b"yes"})


@pytest.fixture
def port():
    http = connections_within(ServerLimits(head_seconds=0.3, connections=3))
    config = uvicorn.Config(say_yes, http=http, ws="none", lifespan="off", log_config=None, timeout_keep_alive=1)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


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


def test_too_many_connections_are_told(port):
    first = [connect(port) for _ in range(3)]
    time.sleep(0.05)
    with connect(port) as connection:
        answer = parse_answer(read_to_end(connection))
    assert answer.status == 503
    answer.assert_headers()
    for connection in first:
        connection.close()
    time.sleep(0.1)
    with connect(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_to_end(connection).endswith(b"yes")
