"""The processes of jobs and drawings: pools of one process each, which Pebble replaces if it dies."""

from __future__ import annotations

import os
import pkgutil
import shutil
import signal
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Literal

import msgspec
import psutil
from pebble import ProcessPool

Report = Callable[[str], None]

LINES = "lines"
"""File in the folder of a job: the number of its process, and lines of progress."""
QUIET = "ignore:resource_tracker:UserWarning"
"""Nobody needs to know that killed processes have left semaphores behind."""


def open_pool(needed: str, private: str = "") -> ProcessPool:
    """Start a process that waits for calls. Each has a pool of its own, so that a killed one blocks no other.

    Args:
        needed: what it imports before its first call, as `package.module` or `package.module:NAME`.
        private: folder that it removes if this process is killed.
    """
    os.environ.setdefault("PYTHONWARNINGS", QUIET)  # which the process that looks after semaphores inherits
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


def perform(
    operations: str, operation: str, arguments: Mapping[str, object], folder: Path, most_bytes: int
) -> tuple[Literal["done", "refused", "failed"], bytes, str]:
    """Call an operation in the process of a job; return how it went, its result as JSON, and why it is not done.

    Refused is what the operation says is wrong with its arguments; what failed otherwise is told by its traceback.

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
            return "refused", b"", str(error).encode(errors="replace").decode() or type(error).__name__
        except Exception:  # noqa: BLE001 - whatever it is, the server goes on
            return "failed", b"", " | ".join(traceback.format_exc().splitlines())
    if len(result) > most_bytes:
        sizes = f"at most {most_bytes / 1e6:,.0f} MB. Got {len(result) / 1e6:,.0f} MB"
        return "refused", b"", f"Expected a result of {sizes}. Reduce the request."
    return "done", result, ""
