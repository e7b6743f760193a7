"""Time the server on a large pool, as ratios to the command: python -m benchmarks.speed.serve."""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pandas as pd
import psutil

from benchmarks.speed.measure import ROOT, Row, show
from benchmarks.speed.molecules import drug_like
from graph_bandit_campaign import Store

MOLECULES, OWN = 50_000, 100  # of the pool, results
SMALL = 5_000
PAIRS = 3
STATE = "out.campaign.json"


class Server(NamedTuple):
    """A server that runs."""

    start: str
    """Begin of its addresses."""
    key: str
    """Key of programs."""
    process: psutil.Process
    """Its process, which has those that work below it."""

    def ask(self, path: str, content: object = None) -> bytes:
        """Return the answer to a request; with content, to a POST of it as JSON."""
        body = None if content is None else json.dumps(content).encode()
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(self.start + path, body, headers)) as answer:  # noqa: S310
            return bytes(answer.read())

    def do(self, path: str, content: object) -> dict[str, object]:
        """Ask for a job, and return it once it has ended."""
        job = json.loads(self.ask(f"/api/v1{path}", content))
        while job["status"] in ("waiting", "running"):
            job = json.loads(self.ask(f"/api/v1/jobs/{job['id']}?wait=15"))
        if job["status"] != "done":
            raise RuntimeError(f"{path}: {job['problem']}")
        return dict(job)

    def memory(self) -> int:
        """Return the bytes that the server and its processes hold."""
        every = [self.process, *self.process.children(recursive=True)]
        return sum(process.memory_info().rss for process in every)


def suggest(folder: Path, *more: str) -> float:
    """Return the seconds of a round of the command, in a process of its own."""
    tables = ["pool.csv", "--measured", "results.csv", *more, "--out", "out.csv", "--predictions", "all.csv"]
    command = [sys.executable, "-m", "graph_bandit_cli", "suggest", *tables, "--maximize", "value", "--n", "8"]
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=True, env={"PYTHONPATH": str(ROOT)})
    return time.perf_counter() - begin


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    """Run a server, for a `with` block."""
    command = [sys.executable, "-m", "graph_bandit_cli", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = ""
            while "Bearer" not in said and process.stdout is not None:
                said += process.stdout.readline()
            start, key = re.findall(r"(http://\S+?)/api", said)[0], re.findall(r"Bearer (\S+)", said)[0]
            yield Server(start, key, psutil.Process(process.pid))
        finally:
            process.terminate()


def median_seconds(call: Callable[[int], object], times: int = 5) -> float:
    """Return the median time of a call, after a first one."""
    seconds = []
    for k in range(times + 1):
        begin = time.perf_counter()
        call(k)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:])


def operations(molecules: int = SMALL, own: int = OWN, times: int = 20) -> list[Row]:
    """Return the times of what people do between two rounds."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, molecules, own)
        suggest(folder)
        with served(folder) as server:
            (line,) = json.loads(server.ask("/api/v1/campaigns"))["campaigns"]
            at = f"/campaigns/{line['id']}"
            asked: dict[str, tuple[str, Callable[[int], object], float]] = {
                "a value saved": ("tell", lambda k: {"results": [{"id": f"m{7 * k + 1}", "value": k + 10}]}, 0.3),
                "a comment": ("annotate", lambda k: {"id": f"m{k}", "comment": "odd"}, 0.3),
                "a pin": ("annotate", lambda k: {"id": f"m{7 * k + 2}", "pin": True}, 0.3),
                "an explanation": ("why", lambda k: {"ids": [f"m{5 * k + 3}"]}, 1.0),
                "stopping advice": ("enough", lambda k: {}, 1.0),
            }
            rows = [
                Row.at_most(
                    f"{what}, {molecules:,} molecules, warm",
                    median_seconds(lambda k, n=name, make=make: server.do(f"{at}/{n}", make(k)), times),  # type: ignore[misc]
                    "s",
                    most,
                )
                for what, (name, make, most) in asked.items()
            ]
            seconds = median_seconds(lambda k: server.ask(at), times)
            rows.append(Row.at_most(f"the page of a campaign of {molecules:,} molecules, warm", seconds, "s", 0.3))
    return rows


def write_tables(folder: Path, molecules: int, own: int) -> None:
    """Write a pool, and results of some of its molecules."""
    smiles = pd.Series(drug_like(molecules), [f"m{k}" for k in range(molecules)], name="smiles").rename_axis("id")
    smiles.to_csv(folder / "pool.csv")
    smiles[: own * 7 : 7].str.len().rename("value").to_csv(folder / "results.csv")


def rows(molecules: int = MOLECULES, own: int = OWN, pairs: int = PAIRS) -> list[Row]:
    """Return the times of pages, and the ratio of a round by the server to one by the command."""
    ratios, by_server, by_command = [], [], []
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, molecules, own)
        suggest(folder)
        with served(folder) as server:
            campaign = json.loads(server.ask("/api/v1/campaigns"))["campaigns"][0]["id"]
            for _ in range(pairs):
                pending = json.loads(server.ask(f"/api/v1/campaigns/{campaign}"))["state"]["pending"]
                results = [{"id": each, "value": 10 + k} for k, each in enumerate(pending)]
                server.do(f"/campaigns/{campaign}/tell", {"results": results})
                copy = folder / "copy"
                shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("copy", ".*"))
                begin = time.perf_counter()
                server.do(f"/campaigns/{campaign}/ask", {})
                by_server.append(time.perf_counter() - begin)
                by_command.append(suggest(copy))
                ratios.append(by_server[-1] / by_command[-1])
                if Store(copy / STATE).state != Store(folder / STATE).state:
                    raise RuntimeError("The server has written another file than the command.")
                shutil.rmtree(copy)
            asked = {"sort": "predicted_value", "falling": True}
            predictions = median_seconds(lambda k: server.do(f"/campaigns/{campaign}/rows", asked))
            memory = server.memory() / 1e9
    return [
        Row("the table of its predictions, sorted, warm", predictions, "s"),
        Row.at_most("a round by the server, times as long as by the command", statistics.median(ratios), "", 1),
        Row("a round by the server", statistics.median(by_server), "s"),
        Row("a round by the command", statistics.median(by_command), "s"),
        Row("memory of the server and its processes after it", memory, "GB"),
    ]


if __name__ == "__main__":
    show([*operations(), *rows()])
