"""Run a program of the user's on molecules, a few at a time, and end it with all that it has started."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Collection, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from agents import LARGEST_REWARD
from graph_bandit_campaign.report.tables import write_table
from graph_bandit_campaign.text import find_column, listed
from graph_bandit_env.tables import open_table

MOST_BYTES = 4 << 20  # of a table of values that are read
SAID_BYTES = 4096  # at the end of what a program printed
PAUSE = 1.0  # seconds; Windows hears of Ctrl-C between two looks at the programs
LONGEST_ID = 60  # characters of an id in a remark
NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # of Windows


def split_command(text: str) -> list[str]:
    """Return the program of a command, with its path, and its arguments. No shell reads them.

    Raises:
        ValueError: if a quotation mark is left open, or there is no such program.
    """
    words = shlex.split(text, posix=os.name != "nt")
    if os.name == "nt":  # which keeps the quotation marks there
        words = [word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word for word in words]
    first = words[0] if words else ""
    path = shutil.which(first) if first else None
    if path is None:
        text = f"Expected `--score` to begin with a program that can be run, as in `python dock.py`. Got {first!r}."
        raise ValueError(f"{text} No shell reads the command.")
    return [path, *words[1:]]


@dataclass(frozen=True)
class Outcome:
    """The values that a program has computed for some molecules, or why there are none."""

    molecules: Mapping[str, str]
    """SMILES of the molecules by id."""
    values: Mapping[str, float | None] = field(default_factory=dict)
    """The value of each, None where the program has none; empty if nothing it wrote counts."""
    problem: str = ""
    """Says why nothing counts."""
    said: str = ""
    """The end of what it printed."""
    remarks: Sequence[str] = ()
    """Says what was ignored."""


class Program:
    """A program at work on some molecules, in a process group and a temporary folder of its own.

    Args:
        command: the program and its arguments; two paths follow, of a table to read and of one to write.
        molecules: SMILES by id.
        timeout: seconds after which it is ended.

    Raises:
        OSError: if it cannot be started.
    """

    def __init__(self, command: Sequence[str], molecules: Mapping[str, str], timeout: float) -> None:
        self.molecules, self._timeout, self._is_gone = molecules, timeout, False
        self._folder = TemporaryDirectory(prefix="graph-bandit-screen-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        self._output, self._said = folder / "values.csv", folder / "printed.txt"
        table = folder / "molecules.csv"
        table.write_bytes(write_table(table, [("id", "smiles"), *molecules.items()]))
        with self._said.open("wb") as printed:
            self._process = subprocess.Popen(  # noqa: S603 - it comes from the user's command line alone
                [*command, str(table), str(self._output)],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                creationflags=NEW_GROUP,
            )

    def wait(self) -> Outcome:
        """Return what came out, once the program has ended or its time is over. Then it is gone."""
        try:
            try:
                code = self._process.wait(self._timeout)
                problem = f"the program ended with code {code}" * (code != 0)
            except subprocess.TimeoutExpired:
                problem = f"the program took more than {self._timeout:g} s"
            return self._read(problem)
        finally:
            self.stop()
            self._process.wait()
            self._folder.cleanup()
            self._is_gone = True

    def stop(self) -> None:
        """End the program, and all that it has started, also in sessions of their own."""
        if self._is_gone:  # its number may be that of another process by now
            return
        started = list[psutil.Process]()
        with suppress(psutil.Error):
            started = psutil.Process(self._process.pid).children(recursive=True)
        if hasattr(os, "killpg") and hasattr(signal, "SIGKILL"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        for process in (*started, self._process):
            with suppress(psutil.Error):
                process.kill()

    def _read(self, problem: str) -> Outcome:
        said = _tail(self._said)
        try:
            found, remarks = ({}, []) if problem else read_values(self._output, self.molecules)
        except (ValueError, OSError) as error:
            found, remarks, problem = {}, [], f"the program wrote no table of values: {error}"
        values = {} if problem else {name: found.get(name) for name in self.molecules}
        return Outcome(self.molecules, values, problem, said, remarks)


def score(
    command: Sequence[str], molecules: Mapping[str, str], chunk: int, jobs: int, timeout: float
) -> Generator[Outcome]:
    """Yield what a program computes for some of the molecules, as soon as it is there; in the end there are all.

    Where nothing counts that a program wrote, since it failed or took too long, each of its molecules is tried once
    alone; one that fails alone has the value None. Close the generator to end all programs.

    Args:
        command: the program and its arguments.
        molecules: SMILES by id.
        chunk: how many molecules it is given at a time.
        jobs: how many programs run at a time.
        timeout: seconds after which a program is ended.

    Raises:
        OSError: if the program cannot be started.
    """
    pairs = [*molecules.items()]
    waiting = deque(dict(pairs[start : start + chunk]) for start in range(0, len(pairs), chunk))
    running: dict[Future[Outcome], Program] = {}
    with ThreadPoolExecutor(jobs) as threads:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    program = Program(command, waiting.popleft(), timeout)
                    running[threads.submit(program.wait)] = program
                for future in wait(running, PAUSE, FIRST_COMPLETED).done:
                    del running[future]
                    outcome = future.result()
                    if outcome.problem and len(outcome.molecules) > 1:
                        waiting.extend({name: smiles} for name, smiles in outcome.molecules.items())
                    elif outcome.problem:
                        outcome = replace(outcome, values=dict.fromkeys(outcome.molecules))
                    yield outcome
        finally:
            for program in running.values():
                program.stop()


def read_values(path: Path, wanted: Collection[str]) -> tuple[dict[str, float | None], list[str]]:
    """Read the table that a program wrote.

    Args:
        path: the table.
        wanted: ids of the molecules that the program was given.

    Returns:
        The value of each molecule that has a row, None if it is not a finite number; and remarks on what was ignored.

    Raises:
        ValueError: if it is another kind of file, or has more than a few megabytes.
        FileNotFoundError: if there is none.
    """
    values, ignored = dict[str, float | None](), list[str]()
    with open_table(path) as table:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"Expected at most {MOST_BYTES >> 20} MB. Got more.")
        columns = [find_column(name, table.columns, path.name) or name for name in ("id", "value")]
        for _, (name, cell) in table.rows(columns):
            if name not in wanted or name in values:
                ignored.append(repr(name[:LONGEST_ID]))
                continue
            values[name] = None
            with suppress(ValueError):  # it is no number
                value = table.number(cell)
                values[name] = value if value is not None and abs(value) <= LARGEST_REWARD else None
    return values, [f"rows of unknown or repeated ids were ignored: {listed(ignored, 3)}"] * bool(ignored)


def _tail(path: Path) -> str:
    """Return the end of a text of any length, without what a terminal would obey."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - SAID_BYTES))
        text = file.read(SAID_BYTES).decode(errors="replace")
    lines = ["".join(letter for letter in line if letter.isprintable()) for line in text.splitlines()]
    return "\n".join(line for line in lines if line.strip())
