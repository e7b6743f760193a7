"""Campaigns that are served: their files, an application that is asked without a network, and a server that runs."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from html.parser import HTMLParser

import uvicorn

from graph_bandit_campaign.file import FORMAT
from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.guard import HEADERS, Guard
from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.app import make_app
from graph_bandit_serve.service import OPERATIONS
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs
from support import ROOT

PORT = 8765
HOST = f"127.0.0.1:{PORT}"
COMMAND = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", "serve"]
STRUCTURES = {"a": "CCO", "b": "c1ccccc1", "c": "CCN"}


def suggestion(identifier, mean=1.0, **changes):
    numbers = {"mean": mean, "std": 0.5, "noise_std": 0.1, "probability": 0.25, "low": mean - 1, "high": mean + 1}
    return {"id": identifier, **numbers, **changes}


def result(identifier, value, number=0, **changes):
    return {"id": identifier, "value": value, "round": number, **changes}


def fields_of_campaign(**changes):
    """The content of a file: one result before, a round of three, of which one is measured and one has failed."""
    return {
        "format": FORMAT,
        "agent": "molecule-ucb",
        "maximize": True,
        "seed": 0,
        "measured": [result("z", 0.5), result("a", 2.0, 1)],
        "failed": ["b"],
        "pending": ["c"],
        "rounds": [[suggestion("a"), suggestion("b"), suggestion("c")]],
        "target": "affinity",
        "structures": STRUCTURES,
        **changes,
    }


def write_campaign(path, **changes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fields_of_campaign(**changes)), encoding="utf-8")
    return path


class NoDrawer:
    """Draws nothing, and starts no process."""

    def draw(self, smiles, scores=()):
        return None


class Elements(HTMLParser):
    """What a page is made of, as a browser reads it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.scripts = set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def places(self):
        """Return where it leads, and what it loads."""
        return [value for name, value in self.attributes if name in ("href", "src", "action")]

    def handle_data(self, data):
        """Remember what stands in elements that run."""
        if (self.get_starttag_text() or "").startswith("<script") and data.strip():
            self.scripts.append(data)


RUN = ("style", "srcdoc", "formaction")


@dataclass
class Answer:
    """An answer as it was sent."""

    status: int
    fields: list[tuple[str, str]]
    body: bytes

    @property
    def headers(self):
        return dict(self.fields)

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)

    def assert_safe(self):
        """A page runs nothing but our script, and leads nowhere else."""
        page = Elements(self.text)
        assert [value for name, value in page.attributes if name == "src" and "script" in page.tags][:1] == ["/page.js"]
        assert not page.scripts
        assert not [name for name, _ in page.attributes if name.startswith("on") or name in RUN]
        assert not [place for place in page.places() if not re.match(r"/(?!/)|#", place)]

    def assert_headers(self):
        """Every answer has these, once each and as they are meant."""
        for name, value in HEADERS.items():
            assert [text for other, text in self.fields if other == name] == [value]
        assert not [name for name, _ in self.fields if name.startswith("access-control") or name == "server"]


@dataclass
class Served:
    """An application, asked directly, and its keys."""

    app: Guard
    keys: Keys

    def ask(self, path="/", method="GET", headers=(), host=HOST, key=True, query="", body=b""):
        """Return the answer to a request, with the key of programs unless that is not wanted."""
        pairs = [("host", host)] * bool(host) + [("authorization", f"Bearer {self.keys.program}")] * key
        return asyncio.run(ask(self.app, path, method, [*pairs, *headers], query, body))


async def ask(app, path, method, pairs, query="", body=b""):
    """Ask an application as a server does.

    Args:
        app: the application.
        path: the address.
        method: the method.
        pairs: the headers; the length of the body is added.
        query: what stands behind the address.
        body: the body.
    """
    sent, left = [], [body]

    async def receive():
        if not left:
            await asyncio.sleep(60)  # until the answer is complete
        return {"type": "http.request", "body": left.pop(), "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "replace"),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", PORT),
    }
    if body:
        scope["headers"].append((b"content-length", str(len(body)).encode()))
    await app(scope, receive, send)
    start, *bodies = sent
    fields = [(name.decode(), value.decode()) for name, value in start["headers"]]
    return Answer(start["status"], fields, b"".join(message["body"] for message in bodies))


def serve_app(folder, guests=False, drawer=None, public="", jobs=None, **limits):
    """Return the application of a folder."""
    limits = ServerLimits(**limits)
    keys = Keys(guests, limits)
    addresses = find_addresses("127.0.0.1", PORT, public)
    jobs = jobs or Jobs(limits, OPERATIONS)  # starts no process before there is a job
    return Served(make_app(folder, keys, addresses, drawer or NoDrawer(), jobs, limits), keys)


@contextlib.contextmanager
def serve_in_thread(app):
    """Serve an application in a thread for a `with` block; yields its port."""
    config = uvicorn.Config(app, http="h11", ws="none", lifespan="off", log_config=None, server_header=False)
    config.timeout_graceful_shutdown = 5
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


class Running:
    """`graph-bandit serve` in a process, on a free port.

    Args:
        folder: folder of campaigns.
        flags: further flags of the command.
    """

    def __init__(self, folder, *flags):
        command = [*COMMAND, str(folder), "--port", "0", *flags]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
        pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(command, text=True, encoding="utf-8", env=environment, **pipes)
        printed = ""
        while "Bearer" not in printed:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            printed += line
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)", printed)[1])
        self.tokens = re.findall(r"token=(\S+)", printed)
        self.key = re.search(r"Bearer (\S+)", printed)[1]

    def ask(self, method, path, headers, body=None):
        """Return the answer to a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            fields = [(name.lower(), value) for name, value in answer.getheaders()]
            return Answer(answer.status, fields, answer.read())

    def get(self, path="/"):
        """Return the answer to a request with the key."""
        return self.ask("GET", path, {"Authorization": f"Bearer {self.key}"})

    def post(self, path, content):
        """Return the answer to a request with the key and JSON."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        return self.ask("POST", path, headers, json.dumps(content))

    def wait(self, answer):
        """Return the content of an answer, or its job once that has ended: a busy machine takes long."""
        content = answer.json()
        while content.get("status") in ("waiting", "running"):
            content = self.get(f"/api/v1/jobs/{content['id']}?wait=10").json()
        return content

    def stop(self):
        """Stop as Ctrl-C does, and return what it said to stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT if os.name != "nt" else signal.SIGTERM)
        _, said = self.process.communicate(timeout=30)
        return said
