"""Run the user's program on molecules, a few at a time, and end it with all processes that it has started."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import psutil

from graph_bandit_campaign.checks import check_value
from graph_bandit_campaign.report.tables import write_table
from graph_bandit_campaign.text import find_column
from graph_bandit_env.tables import open_table

PAUSE = 0.02  # seconds between checks of the programs
NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # of Windows


def split_command(text: str) -> list[str]:
    """Split a command into the program, with its path, and its arguments. No shell is used.

    Raises:
        ValueError: if a quotation mark is not closed, or the program does not exist.
    """
    words = shlex.split(text, posix=os.name != "nt")
    if os.name == "nt":  # where shlex keeps the quotation marks
        words = [word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word for word in words]
    path = shutil.which(words[0]) if words else None
    if path is None:
        raise ValueError(f"Expected `--score` to begin with a program that can be run, without a shell. Got {text!r}.")
    return [path, *words[1:]]


@dataclass(frozen=True)
class Outcome:
    """The values that a program has computed for some molecules, or its problem."""

    molecules: Mapping[str, str]
    """SMILES of the molecules by id."""
    values: Mapping[str, float | None]
    """Value of each molecule, None if the program has none. Empty if the molecules should be tried one by one."""
    problem: str = ""
    """Reason why the output of the program is not used. Empty if it is used."""


class Program:
    """A running program for some molecules, in a separate process group and temporary folder.

    Args:
        command: the program and its arguments, to which the paths of an input table and an output table are added.
        molecules: SMILES by id.
        timeout: seconds after which it is ended.
        printed: file for its output.

    Raises:
        OSError: if it cannot be started.
    """

    def __init__(
        self, command: Sequence[str], molecules: Mapping[str, str], timeout: float, printed: IO[bytes]
    ) -> None:
        self.molecules, self._until = molecules, time.monotonic() + timeout
        self._folder = TemporaryDirectory(prefix="graph-bandit-screen-", ignore_cleanup_errors=True)
        table, self._output = (Path(self._folder.name, f"{name}.csv") for name in ("molecules", "values"))
        table.write_bytes(write_table(table, [("id", "smiles"), *molecules.items()]))
        self._process = subprocess.Popen(  # noqa: S603 - it comes from the user's command line alone
            [*command, str(table), str(self._output)],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            creationflags=NEW_GROUP,
        )

    def is_over(self) -> bool:
        """Return True if it has ended, or its time is over."""
        return self._process.poll() is not None or time.monotonic() > self._until

    def end(self) -> Outcome:
        """End it with all processes that it has started, also in other sessions, and return the outcome."""
        code, started, values = self._process.poll(), list[psutil.Process](), dict[str, float | None]()
        with suppress(psutil.Error):
            started = psutil.Process(self._process.pid).children(recursive=True)
        if hasattr(os, "killpg") and hasattr(signal, "SIGKILL"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        for process in (*started, self._process):
            with suppress(psutil.Error):
                process.kill()
        self._process.wait()
        problem = "the program took too long" if code is None else f"the program ended with code {code}" * (code != 0)
        try:
            found = {} if problem else read_values(self._output, self.molecules)
        except (ValueError, OSError) as error:
            problem = f"the program wrote no table of values: {error}"
        if not problem:
            values = {name: found.get(name) for name in self.molecules}
        elif len(self.molecules) == 1:
            values = dict.fromkeys(self.molecules)
        self._folder.cleanup()
        return Outcome(self.molecules, values, problem)


def score(
    command: Sequence[str], molecules: Mapping[str, str], chunk: int, jobs: int, timeout: float, log: Path
) -> Generator[Outcome]:
    """Yield the values that a program computes for some molecules, as soon as they are available, until all are done.

    If a program fails or takes too long, its output is not used, and each of its molecules is tried once alone. If that
    fails as well, the value is None. Close the generator to end all programs.

    Args:
        command: the program and its arguments.
        molecules: SMILES by id.
        chunk: number of molecules for each run of the program.
        jobs: number of programs that run at a time.
        timeout: seconds after which a program is ended.
        log: file for the output of the programs.

    Raises:
        OSError: if the program cannot be started.
    """
    pairs = [*molecules.items()]
    waiting = deque(dict(pairs[start : start + chunk]) for start in range(0, len(pairs), chunk))
    running: list[Program] = []
    with log.open("wb") as printed:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.append(Program(command, waiting.popleft(), timeout, printed))
                time.sleep(PAUSE)
                for program in [each for each in running if each.is_over()]:
                    outcome = program.end()
                    running.remove(program)
                    if not outcome.values:
                        waiting.extend({name: smiles} for name, smiles in outcome.molecules.items())
                    yield outcome
        finally:
            for program in running:
                program.end()


def read_values(path: Path, wanted: Collection[str]) -> dict[str, float | None]:
    """Return the value of each molecule with a row in the table of a program, None if it is not a number.

    Args:
        path: the table.
        wanted: ids of the molecules given to the program. Other rows and repeated rows are ignored.

    Raises:
        ValueError: if it is another kind of file.
        FileNotFoundError: if it does not exist.
    """
    values = dict[str, float | None]()
    with open_table(path) as table:
        columns = [find_column(name, table.columns, path.name) or name for name in ("id", "value")]
        for _, (name, cell) in table.rows(columns):
            if name in wanted and name not in values:
                values[name] = None
                with suppress(ValueError):
                    value = table.number(cell)
                    values[name] = None if value is None else check_value(name, value)
    return values
