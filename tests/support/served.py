"""Campaigns that are served: their files, the application asked in this process, and the command in another one."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from html.parser import HTMLParser

import httpx2
from starlette.testclient import TestClient

from graph_bandit_campaign.store import FORMAT
from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.guard import HEADERS
from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.app import make_app
from graph_bandit_serve.service import FUNCTIONS
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs
from support import ROOT
from support.molecules import some_molecules

HOST = "127.0.0.1:8765"
BUSY = ("waiting", "running")
STRUCTURES = {"a": "CCO", "b": "c1ccccc1", "c": "CCN"}
MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))


def table(*rows):
    """A table as a file."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


POOL = table(("id", "smiles"), *zip(NAMES, MOLECULES.smiles, strict=True))


def suggestion(identifier, mean=1.0, **changes):
    numbers = {"mean": mean, "std": 0.5, "noise_std": 0.1, "probability": 0.25, "low": mean - 1, "high": mean + 1}
    return {"id": identifier, **numbers, **changes}


def result(identifier, value, number=0, **changes):
    return {"id": identifier, "value": value, "round": number, **changes}


def write_campaign(path, **changes):
    """Write a file of one result before, and a round of three, of which one is measured and one has failed."""
    fields = {
        "format": FORMAT,
        "agent": "molecule-ucb",
        "maximize": True,
        "seed": 0,
        "measured": [result("z", 0.5), result("a", 2.0, 1)],
        "failures": [{"id": "b"}],
        "pending": ["c"],
        "rounds": [[suggestion("a"), suggestion("b"), suggestion("c")]],
        "target": "affinity",
        "structures": STRUCTURES,
        **changes,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fields), encoding="utf-8")
    return path


class NoDrawer:
    """Draws nothing, and starts no process."""

    def draw(self, smiles, scores=(), part=""):
        return None


class SafePage(HTMLParser):
    """Asserts that a page runs nothing but our script, and leads nowhere else."""

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in ("style", "srcdoc", "formaction")
            assert name not in ("href", "src", "action") or re.match(r"/(?!/)|#", value)
        assert tag != "script" or dict(attrs)["src"] == "/static/page.js"

    def handle_data(self, data):
        assert self.cdata_elem != "script" or not data.strip()


class Program:
    """A program that works on campaigns by REST, with the key of programs unless that is not wanted."""

    def __init__(self, http, key):
        self.http, self.key = http, key

    def ask(self, path="/", method="GET", headers=(), key=True, **content):
        """Return an answer, which has the headers of every answer, and is safe if it is a page."""
        self.http.cookies.clear()
        pairs = [("authorization", f"Bearer {self.key}")] * key
        answer = self.http.request(method, path, headers=[*pairs, *headers], **content)
        assert not [name for name in answer.headers if name.startswith("access-control") or name == "server"]
        assert HEADERS.items() <= dict(answer.headers).items() or path.startswith("/structure")  # which is kept
        if answer.headers.get("content-type", "").startswith("text/html"):
            SafePage().feed(answer.text)
        return answer

    def get(self, path):
        return self.ask(f"/api/v1{path}").json()

    def post(self, path, content, *headers):
        return self.ask(f"/api/v1{path}", "POST", headers, json=content)

    def done(self, path, content, *headers):
        """Return the result of a job that is done."""
        return self.job(path, content, *headers)["result"]

    def job(self, path, content, *headers):
        """Return a job when it is done: a busy machine takes long."""
        answer = self.post(path, content, *headers)
        assert answer.status_code in (200, 202), answer.text
        job = answer.json()
        while job["status"] in BUSY:
            job = self.get(f"/jobs/{job['id']}?wait=10")
        assert job["status"] == "done", job
        return job

    def start(self, **changes):
        """Start a campaign of a pool that is sent, and return its id."""
        settings = {"maximize": ["logp"], "n": 3, **changes}
        self.done("/new", {"name": "One", "pool": self.send("molecules.csv", POOL), "settings": settings})
        return self.get("/campaigns")["campaigns"][0]["id"]

    def send(self, name, content):
        """Send a file, and return how requests name it."""
        kind = [("content-type", "application/octet-stream")]
        return self.ask(f"/api/v1/uploads?name={name}", "POST", kind, content=content).json()["table"]

    def last(self, campaign):
        return [suggestion["id"] for suggestion in self.state(campaign)["rounds"][-1]]

    def state(self, campaign):
        return self.get(f"/campaigns/{campaign}")["state"]

    def version(self, campaign):
        return self.get(f"/campaigns/{campaign}")["version"]


class Served(Program):
    """The application of a folder, in this process; without jobs of others, it starts some when there is one."""

    def __init__(self, folder, drawer=None, public="", jobs=None, **limits):
        limits = ServerLimits(**limits)
        self.folder, self.keys, self.jobs = folder, Keys(limits), jobs or Jobs(limits, FUNCTIONS)
        addresses = find_addresses("127.0.0.1", 8765, public)
        self.app = make_app(folder, self.keys, addresses, drawer or NoDrawer(), self.jobs, limits)
        http = TestClient(self.app, f"http://{HOST}", raise_server_exceptions=False, follow_redirects=False)
        super().__init__(http, self.keys.program)

    def enter(self, token, *headers):
        """Return the answer to a link, and the header by which a browser is known then."""
        answer = self.ask(f"/enter?token={token}", headers=headers, key=False)
        return answer, ("cookie", answer.headers.get("set-cookie", "").partition(";")[0])


class Running(Program):
    """`graph-bandit serve` of a folder in a process, with further flags, on a free port."""

    def __init__(self, folder, *flags):
        command = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", "serve", folder, "--port", "0", *flags]
        here = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
        pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(command, text=True, encoding="utf-8", env=here, **pipes)
        printed = ""
        while "Bearer" not in printed:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            printed += line
        self.address = re.search(r"http://127\.0\.0\.1:\d+", printed)[0]
        self.tokens = re.findall(r"token=(\S+)", printed)
        super().__init__(httpx2.Client(base_url=self.address, timeout=60), re.search(r"Bearer (\S+)", printed)[1])

    def stop(self):
        """Stop as Ctrl-C does, and return what it said to stderr."""
        self.http.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT if os.name != "nt" else signal.SIGTERM)
        return self.process.communicate(timeout=30)[1]
