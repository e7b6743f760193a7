"""Worker processes of jobs and drawings, as Pebble pools of one process each."""

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
"""File in the folder of a job with its process id and lines of progress."""
QUIET = "ignore:resource_tracker:UserWarning"
"""Hides warnings about semaphores of killed processes."""


def open_pool(needed: str, private: str = "") -> ProcessPool:
    """Start a worker process in a separate pool, so that killing it does not block others.

    Args:
        needed: import before the first call, as `package.module` or `package.module:NAME`.
        private: folder that the worker removes if this process is killed.
    """
    os.environ.setdefault("PYTHONWARNINGS", QUIET)  # the resource tracker inherits it
    pool = ProcessPool(1, initializer=prepare, initargs=(needed, private), context=get_context("spawn"))
    pool.schedule(int)  # starts the process
    return pool


def prepare(needed: str, private: str) -> None:
    """Initialize a worker process. The arguments are those of `open_pool`."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # Pebble's handler waits for C calls and other processes
    threading.Thread(target=end_with_parent, args=(private,)).start()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # stdout may be the connection to an MCP client
    with suppress(ImportError):  # calls without it raise an error
        pkgutil.resolve_name(needed)
    os.dup2(nowhere, 2)  # RDKit prints unreadable input of users to stderr


def end_with_parent(private: str) -> None:
    """Wait for the parent process to end, then end this process and its children."""
    if (parent := parent_process()) is not None:
        parent.join()
        kill(tree_of(os.getpid())[1:])
        shutil.rmtree(private, ignore_errors=True)
        os._exit(1)


def tree_of(pid: int) -> list[psutil.Process]:
    """Return a process and its children, or an empty list if it has ended."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def kill(tree: Sequence[psutil.Process]) -> None:
    """Kill processes, parents before children."""
    for process in tree:
        with suppress(psutil.Error):
            process.kill()


def perform(
    operations: str, operation: str, arguments: Mapping[str, object], folder: Path, most_bytes: int
) -> tuple[Literal["done", "refused", "failed"], bytes, str]:
    """Call an operation in the process of a job, and return its status, its result as JSON, and the error message.

    The status is "refused" if the operation rejects its arguments. For other failures, the message is the traceback.

    Args:
        operations: location of the operations, as `package.module:NAME`.
        operation: name of the operation.
        arguments: arguments of the operation, without `report`.
        folder: folder of the job for its temporary files. If it is missing, nothing is done.
        most_bytes: maximum size of the result as JSON.
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
        except Exception:  # noqa: BLE001 - no error may stop the server
            return "failed", b"", " | ".join(traceback.format_exc().splitlines())
    if len(result) > most_bytes:
        sizes = f"at most {most_bytes / 1e6:,.0f} MB. Got {len(result) / 1e6:,.0f} MB"
        return "refused", b"", f"Expected a result of {sizes}. Reduce the request."
    return "done", result, ""
