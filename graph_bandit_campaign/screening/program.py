"""Run a program of the user's on molecules, a few at a time, and end it with all that it has started."""

from __future__ import annotations

import csv
import io
import math
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from agents import LARGEST_REWARD
from graph_bandit_campaign.text import listed, to_csv

MOST_BYTES = 4 << 20  # of a table of values that are read
SAID_BYTES = 4096  # at the end of what a program printed
PAUSE = 0.02  # seconds between two looks at the programs
PATIENCE = 3.0  # seconds from the wish that a program ends to its end
LONGEST_ID = 60  # characters of an id in a remark
NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # of Windows


def split_command(text: str) -> list[str]:
    """Return the program of a command, with its path, and its arguments. No shell reads them.

    Raises:
        ValueError: if a quotation mark is left open, or there is no such program.
    """
    try:
        words = shlex.split(text, posix=os.name != "nt")
    except ValueError as error:
        raise ValueError(f"Expected `--score` to be a program and its arguments. Got {text!r}: {error}.") from error
    if os.name == "nt":  # which keeps the quotation marks there
        words = [word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word for word in words]
    first = words[0] if words else ""
    path = shutil.which(first) if first else None
    if path is None:
        raise ValueError(
            f"Expected `--score` to begin with a program that can be run. Got {first!r}. Give its path, or first the "
            "program that runs it, as in `python dock.py`. No shell reads the command."
        )
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
        self.molecules, self._timeout = molecules, timeout
        self._is_late, self._is_gone = False, False
        self._started: list[psutil.Process] = []
        self._folder = TemporaryDirectory(prefix="graph-bandit-screen-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        self._output, self._said = folder / "values.csv", folder / "printed.txt"
        table = folder / "molecules.csv"
        table.write_text(to_csv([("id", "smiles"), *molecules.items()]), encoding="utf-8", newline="")
        try:
            with self._said.open("wb") as printed:
                self._process = subprocess.Popen(  # noqa: S603 - it comes from the user's command line alone
                    [*command, str(table), str(self._output)],
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    creationflags=NEW_GROUP,
                )
        except BaseException:
            self._folder.cleanup()
            raise
        self._deadline = time.monotonic() + timeout

    def poll(self) -> Outcome | None:
        """Return what came out, once the program has ended or its time is over; None before. Then it is gone."""
        code = self._process.poll()
        if code is None and time.monotonic() < self._deadline:
            return None
        if code is None and not self._is_late:
            self._is_late, self._deadline = True, time.monotonic() + PATIENCE
            self.stop()
            return None
        try:
            return self._read(code)
        finally:
            self.end()

    def stop(self, force: bool = False) -> None:
        """Ask the program, and all that it has started, also in sessions of their own, to end; or end it by force."""
        if self._is_gone:  # its number may be that of another process by now
            return
        with suppress(psutil.Error):
            self._started += psutil.Process(self._process.pid).children(recursive=True)
        if hasattr(os, "killpg") and hasattr(signal, "SIGKILL"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL if force else signal.SIGTERM)
        for process in (*self._started, self._process):
            with suppress(psutil.Error):
                (process.kill if force else process.terminate)()

    def end(self, patience: float = 0.0) -> None:
        """Wait for its end, end whatever is left of it, and remove its folder.

        Args:
            patience: how many seconds to wait.
        """
        try:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        finally:
            self.stop(force=True)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE)
            self._folder.cleanup()
            self._is_gone = True

    def _read(self, code: int | None) -> Outcome:
        said = _tail(self._said)
        try:
            if self._is_late:
                raise ValueError(f"the program took more than {self._timeout:g} s")
            if code != 0:
                raise ValueError(f"the program ended with code {code}")
            values, remarks = read_values(self._output, self.molecules)
        except ValueError as error:
            return Outcome(self.molecules, problem=str(error), said=said)
        return Outcome(self.molecules, {name: values.get(name) for name in self.molecules}, "", said, remarks)


@dataclass(frozen=True)
class Scorer:
    """A program that computes the value of molecules."""

    command: Sequence[str]
    """The program and its arguments."""
    chunk: int
    """How many molecules it is given at a time."""
    jobs: int
    """How many programs run at a time."""
    timeout: float
    """Seconds after which a program is ended."""

    def score(self, molecules: Mapping[str, str]) -> Generator[Outcome]:
        """Yield what comes out for some of the molecules, as soon as it is there; in the end there are values for all.

        Where nothing counts that a program wrote, since it failed or took too long, each of its molecules is tried once
        alone; one that fails alone has the value None. Close the generator to end all programs.

        Args:
            molecules: SMILES by id.

        Raises:
            OSError: if the program cannot be started.
        """
        pairs = [*molecules.items()]
        waiting = deque(dict(pairs[start : start + self.chunk]) for start in range(0, len(pairs), self.chunk))
        running: list[Program] = []
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    running.append(Program(self.command, waiting.popleft(), self.timeout))
                ended = [(program, outcome) for program in running if (outcome := program.poll()) is not None]
                for program, outcome in ended:
                    running.remove(program)
                    if outcome.problem and len(outcome.molecules) > 1:
                        waiting.extend({name: smiles} for name, smiles in outcome.molecules.items())
                    elif outcome.problem:
                        outcome = replace(outcome, values=dict.fromkeys(outcome.molecules))
                    yield outcome
                if not ended:
                    time.sleep(PAUSE)
        finally:
            _end(running)


def _end(programs: Sequence[Program]) -> None:
    """End programs, all at the same time."""
    for program in programs:
        program.stop()
    deadline = time.monotonic() + PATIENCE
    for number, program in enumerate(programs):
        try:
            program.end(max(0.0, deadline - time.monotonic()))
        except BaseException:  # a second Ctrl-C: nobody waits any more
            for other in programs[number + 1 :]:
                other.end()
            raise


def read_values(path: Path, wanted: Collection[str]) -> tuple[dict[str, float | None], list[str]]:
    """Read the table that a program wrote.

    Args:
        path: the table.
        wanted: ids of the molecules that the program was given.

    Returns:
        The value of each molecule that has a row, None if it is not a finite number; and remarks on what was ignored.

    Raises:
        ValueError: if it is another kind of file, or has more than a few megabytes.
    """
    if not path.is_file():
        raise ValueError("the program wrote no table of values")
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"the program wrote more than {MOST_BYTES >> 20} MB")
    try:
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        head, *rows = [row for row in csv.reader(text) if row] or [[]]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"the program wrote a table that cannot be read: {error}") from error
    names = [name.strip().casefold() for name in head]
    if "id" not in names or "value" not in names:
        raise ValueError("the program wrote a table without the columns `id` and `value`")
    columns, values, unknown, again = (names.index("id"), names.index("value")), dict[str, float | None](), [], []
    for row in rows:
        written, cell = (row[column] if column < len(row) else "" for column in columns)
        name = written if written in wanted else written.strip()
        if name not in wanted:
            unknown.append(repr(name[:LONGEST_ID]))
        elif name in values:
            again.append(repr(name[:LONGEST_ID]))
        else:
            values[name] = _number(cell)
    remarks = [f"rows of unknown ids were ignored: {listed(unknown, 3)}"] * bool(unknown)
    remarks += [f"second rows of an id were ignored: {listed(again, 3)}"] * bool(again)
    return values, remarks


def _number(cell: str) -> float | None:
    try:
        value = float(cell.replace("_", "?"))  # Python reads 1_000
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= LARGEST_REWARD else None


def _tail(path: Path) -> str:
    """Return the end of a text of any length, without what a terminal would obey."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - SAID_BYTES))
        text = file.read(SAID_BYTES).decode(errors="replace")
    lines = ["".join(letter for letter in line if letter.isprintable()) for line in text.splitlines()]
    return "\n".join(line for line in lines if line.strip())
