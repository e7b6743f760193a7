"""The processes of jobs and drawings: pools of one process each, which Pebble replaces if it dies."""

from __future__ import annotations

import os
import pkgutil
import shutil
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, resource_tracker
from pathlib import Path
from typing import Literal

import msgspec
import psutil
from pebble import ProcessPool

Report = Callable[[str], None]

LINES = "lines"
"""File in the folder of a job: the number of its process, and lines of progress."""
QUIET = "ignore:resource_tracker:UserWarning"
MISTAKE = "This is a mistake of the program, not of yours. The server has printed a line about it where it runs."


@dataclass(frozen=True)
class Outcome:
    """How a call went."""

    status: Literal["done", "refused", "failed"]
    """"refused": the operation says what is wrong with its arguments; "failed": there is another reason."""
    result: bytes = b""
    """What it returned, as JSON."""
    problem: str = ""
    """Why it is not done, for people."""
    trace: str = ""
    """Where it failed, for those who look after the program."""


def open_pool(needed: str, private: str = "") -> ProcessPool:
    """Start a process that waits for calls. Each has a pool of its own, so that a killed one blocks no other.

    Args:
        needed: what it imports before its first call, as `package.module` or `package.module:NAME`.
        private: folder that it removes if this process is killed.
    """
    if os.name == "posix":  # the process that removes semaphores of killed processes shall not warn of them
        sys.warnoptions.append(QUIET)  # which it inherits
        resource_tracker.ensure_running()
        sys.warnoptions.remove(QUIET)
    pool = ProcessPool(1, initializer=prepare, initargs=(needed, private), context=get_context("spawn"))
    pool.schedule(int)  # which starts it
    return pool


def prepare(needed: str, private: str) -> None:
    """Make a process ready for calls; arguments as of `open_pool`."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # Pebble's handler waits for calls of C, and for other processes
    threading.Thread(target=end_with_parent, args=(private,)).start()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # which may be the line to a program that speaks MCP
    with suppress(ImportError):  # calls refuse to work without it
        pkgutil.resolve_name(needed)
    os.dup2(nowhere, 2)  # RDKit says what it does not understand, in letters of others


def end_with_parent(private: str) -> None:
    """Wait until the process that started this one has ended, and end this one and all that it started."""
    if (parent := parent_process()) is not None:
        parent.join()
        kill(tree_of(os.getpid())[1:])
        shutil.rmtree(private, ignore_errors=True)
        os._exit(1)


def tree_of(pid: int) -> list[psutil.Process]:
    """Return a process and all that it started; nothing if it has ended."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def kill(tree: Sequence[psutil.Process]) -> None:
    """Kill processes, those first that start others."""
    for process in tree:
        with suppress(psutil.Error):
            process.kill()


def perform(operations: str, operation: str, arguments: Mapping[str, object], folder: Path, most_bytes: int) -> Outcome:
    """Call an operation in the process of a job, and return how it went.

    Args:
        operations: where the operations are, as `package.module:NAME`.
        operation: name of the operation.
        arguments: its arguments, without `report`.
        folder: folder of the job, in which its temporary files are. Without it, nothing is done.
        most_bytes: largest result, as JSON.
    """
    tempfile.tempdir = str(folder)
    with (folder / LINES).open("a", encoding="utf-8", errors="replace", buffering=1) as lines:

        def report(line: str) -> None:
            lines.write(f"{' '.join(line.split())}\n")

        report(f"{os.getpid()}")
        try:
            result = msgspec.json.encode(pkgutil.resolve_name(operations)[operation](report, **arguments))
        except (ValueError, OSError, ImportError, MemoryError) as error:  # messages for people
            return Outcome("refused", problem=str(error) or type(error).__name__)
        except Exception:  # noqa: BLE001 - whatever it is, the server goes on
            return Outcome("failed", problem=MISTAKE, trace=" | ".join(traceback.format_exc().splitlines()))
    if len(result) > most_bytes:
        sizes = f"at most {most_bytes / 1e6:,.0f} MB. Got {len(result) / 1e6:,.0f} MB"
        return Outcome("refused", problem=f"Expected a result of {sizes}. Ask for less at once.")
    return Outcome("done", result)
