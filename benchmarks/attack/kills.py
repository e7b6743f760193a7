"""Kill commands while they write, and run them again.

Nothing may be lost, doubled or left over: at the end the folder must hold what it holds without kills.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.attempts import Attempt, run_command
from benchmarks.attack.deaths import LONGEST, draw_moment, run_command_until
from graph_bandit_lab import load_results

SWEEP = """
title = "sixty short runs"
repetitions = {repetitions}
agents = ["gnn-ts:width=8,steps=2", "random"]

[[grid]]
[grid.environment]
num_graphs = [3, 5]
num_nodes = 4
reward_model = ["linear", "gp_gntk"]
horizon = 8
"""


PROGRAM = """
import csv, sys, zlib
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
with open(sys.argv[2], "w", encoding="utf-8", newline="") as file:
    table = csv.writer(file)
    table.writerow(["id", "value"])
    table.writerows([row["id"], zlib.crc32(row["id"].encode()) % 1000] for row in rows if row["id"][-1] != "7")
"""  # of `screen`; it has no value for a tenth of the molecules


@dataclass(frozen=True)
class Job:
    """A command that writes into a folder."""

    kind: str
    """What the attempt is called."""
    prepare: Callable[[Path], object]
    """Makes the folder of an attempt."""
    arguments: tuple[str, ...]
    """The command; `{folder}` is the folder of the attempt."""
    read: Callable[[Path], object]
    """Returns what the folder holds, without what differs from run to run. A part is smaller, as sets are."""

    def command(self, folder: Path) -> list[str]:
        """Return the command on a folder."""
        return [argument.format(folder=folder) for argument in self.arguments]


def attack(generator: np.random.Generator, folder: Path, named: str = "") -> Iterator[Attempt]:
    """Kill a sweep, a campaign, a screen and others in turn, each in a new folder, and run the same command again.

    Args:
        generator: draws when they are killed.
        folder: for what they read and write.
        named: a part of the name of those that are killed.
    """
    chosen = [job for job in jobs(folder) if named in job.kind]
    if not chosen:
        raise ValueError(f"Expected a part of the name of a command that is killed. Got {named!r}.")
    for kill in cycle(Kills(job, generator, folder / str(number)) for number, job in enumerate(chosen)):
        yield kill()


class Kills:
    """Kills of one command.

    Args:
        job: the command.
        generator: draws the moments.
        folder: is made, for a run without kills and for one attempt at a time.
    """

    def __init__(self, job: Job, generator: np.random.Generator, folder: Path) -> None:
        self.job, self.generator, self.folder = job, generator, folder
        folder.mkdir()
        whole = folder / "whole"
        job.prepare(whole)
        end = run_command_until(job.command(whole), whole)
        if end.code != 0:
            raise RuntimeError(f"{job.kind}: without a kill it ends with {end.code}: {end.said}")
        self.events = end.events
        self.truth, self.names = job.read(whole), names_in(whole)

    def __call__(self) -> Attempt:
        """Kill the command once, and run it again to its end."""
        target = self.folder / "killed"
        code: int | None = 0  # the killer's is another
        while code == 0:  # it may end before the delay does
            shutil.rmtree(target, ignore_errors=True)
            self.job.prepare(target)
            moment = draw_moment(self.generator, self.events)
            code = run_command_until(self.job.command(target), target, moment).code
        code, printed = run_command(self.job.command(target), seconds=LONGEST)
        return Attempt(self.job.kind, self._fault(target, code, printed))

    def _fault(self, target: Path, code: int | None, printed: str) -> str:
        if code != 0:
            return f"the next command ends with {code}: {printed.strip()[-200:]!r}"
        if self.job.read(target) != self.truth:
            return "the next command leaves other content than a run without a kill"
        strange = names_in(target) ^ self.names
        return f"files are left over or missing: {', '.join(sorted(strange))}" if strange else ""


def names_in(folder: Path) -> set[str]:
    """Return the names of the files in a folder."""
    return {path.name for path in folder.iterdir()}


def jobs(folder: Path, workers: int = 2, repetitions: int = 1) -> list[Job]:
    """Return the commands that are killed: a sweep, rounds of campaigns, a report, `prepare`, and a screen.

    Args:
        folder: for what they read.
        workers: processes of the sweep.
        repetitions: of the sweep, of two agents on four environments.
    """
    (folder / "sweep.toml").write_text(SWEEP.format(repetitions=repetitions), encoding="utf-8")
    sweep = ("sweep", str(folder / "sweep.toml"), "--out", "{folder}", "--workers", str(workers))
    names = ("library", "first", "second", "played", "prepared", "streamed")
    library, first, second, played, prepared, streamed = (folder / name for name in names)
    question = ("--measured", "{folder}/measured.csv", "--n", "3", "--maximize", "qed", "--agent", "molecule-ucb")
    files = ("--out", "{folder}/next.csv", "--html", "{folder}/page.html")
    suggest = ("suggest", "{folder}/pool.csv", *question, *files)
    parts = ("--part-rows", "4096", "--traits", "torsions", "properties", "--workers", "None")
    pool = ("prepare", str(library / "pool.csv"), "--out", "{folder}", *parts)
    scan = ("suggest", str(prepared), *question, *files, "--workers", "None")
    (folder / "score.py").write_text(PROGRAM, encoding="utf-8")
    score = ("--score", f'"{sys.executable}" -S "{folder / "score.py"}"', "--chunk", "3", "--jobs", "2")
    budget = ("--n", "6", "--evaluations", "20", "--maximize", "qed", "--out", "{folder}/scores.csv")
    screen = ("screen", "{folder}/pool.csv", "--measured", "{folder}/measured.csv", *score, *budget)

    def run(command: Sequence[str], target: Path) -> None:
        code, printed = run_command([argument.format(folder=target) for argument in command], seconds=LONGEST)
        if code != 0:
            raise RuntimeError(f"`graph-bandit {command[0]}` ends with {code} before any kill: {printed}")

    def make_library() -> None:
        if not library.exists():
            run(("library", "--out", "{folder}", "--measured", "1"), library)

    def prepare_pool(target: Path) -> None:
        make_library()
        target.mkdir()

    def prepare_first(target: Path) -> None:
        make_library()
        target.mkdir()
        pool = _read_csv(library / "pool.csv")
        _write_csv(target / "pool.csv", pool[:61])
        _write_csv(target / "measured.csv", _results(identity for identity, _ in pool[1:61:6]))

    def prepare_second(target: Path) -> None:
        if not first.exists():
            prepare_first(first)
            run(suggest, first)
            shutil.copytree(first, second)
            _measure_suggested(second)
        shutil.copytree(second, target)

    def prepare_streamed(target: Path) -> None:
        if not streamed.exists():
            make_library()
            run(pool, prepared)
            streamed.mkdir()
            measured = [identity for identity, _ in _read_csv(library / "pool.csv")[1:400:20]]
            _write_csv(streamed / "measured.csv", _results(measured))
            run(scan, streamed)
            _measure_suggested(streamed)
        shutil.copytree(streamed, target)

    def prepare_report(target: Path) -> None:
        if not played.exists():
            run(sweep, played)
        shutil.copytree(played, target)

    return [
        Job("a sweep killed while it writes", Path.mkdir, sweep, rows_in),
        Job("molecule-ucb killed while it writes", prepare_first, suggest, read_campaign),
        Job("a report killed while it writes", prepare_report, ("report", "{folder}"), rows_in),
        Job("a second round of molecule-ucb killed while it writes", prepare_second, suggest, read_campaign),
        Job("a large pool killed while it is prepared", prepare_pool, pool, read_pool),
        Job("a second round on a large pool killed while it writes", prepare_streamed, scan, read_campaign),
        Job("a screen killed while it computes", prepare_first, screen, read_screen),
    ]


def _results(identities: Iterable[str]) -> list[list[str]]:
    """Return results of molecules; any values do."""
    return [["id", "qed"], *([identity, f"{zlib.crc32(identity.encode()) % 1000 / 1000}"] for identity in identities)]


def _measure_suggested(folder: Path) -> None:
    """Add results of the suggestions of a folder to its results."""
    measured = [row[0] for row in _read_csv(folder / "measured.csv")[1:]]
    suggested = [row[1] for row in _read_csv(folder / "next.csv")[1:]]
    _write_csv(folder / "measured.csv", _results([*measured, *suggested]))


def _read_csv(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def _write_csv(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def read_campaign(folder: Path) -> object:
    """Return the suggestions and the campaign of a folder."""
    return (folder / "next.csv").read_bytes(), json.loads((folder / "next.campaign.json").read_bytes())


def read_screen(folder: Path) -> object:
    """Return the values, the last batch and the campaign of a folder."""
    campaign = json.loads((folder / "scores.next.campaign.json").read_bytes())
    return (folder / "scores.csv").read_bytes(), (folder / "scores.next.csv").read_bytes(), campaign


def read_pool(folder: Path) -> dict[str, bytes]:
    """Return the files of a prepared pool."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def rows_in(folder: Path) -> dict[tuple[str, str, int], tuple[str, list[int], list[float]]]:
    """Return status, actions and rewards of the stored repetitions by agent, environment and seed."""
    rows: list[dict[Any, Any]] = load_results(folder).to_dict("records")
    table = {
        (row["label"], row["environment_key"], row["seed"]): (
            row["status"],
            row["actions"].tolist(),
            row["rewards"].tolist(),
        )
        for row in rows
    }
    if len(table) != len(rows):
        raise AssertionError(f"{len(rows) - len(table)} repetitions are doubled")
    return table
