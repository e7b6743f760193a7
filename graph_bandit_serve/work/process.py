"""Run work in a process that may hang, die or eat memory, and kill it together with all that it started."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from tempfile import TemporaryDirectory
from typing import Literal

import psutil

LOG = logging.getLogger("graph_bandit_serve")
READY = "ready"
START_SECONDS = 60.0
END_SECONDS = 5.0
WATCH_SECONDS = 0.05
TRACE_CHARACTERS = 4_000

Loss = Literal["time", "memory", "death"]


class LostProcessError(RuntimeError):
    """A process has not answered, and is closed.

    Args:
        loss: "time" and "memory" if it took too much, "death" if it ended by itself or was closed.
    """

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss)
        self.loss = loss


@dataclass(frozen=True)
class Failure:
    """An error that ended the target of a process."""

    trace: str
    """Its traceback in one line."""


class WorkProcess:
    """A process that answers requests, one after the other. Once it is closed or dead, another one has to be made.

    Nothing that it prints is shown, Ctrl-C does not reach it, and it ends when this process does. Its temporary files
    are removed with it.

    Args:
        target: called in the process, with a pipe: sends `READY`, then takes requests and sends messages.
        name: name of the process.
    """

    def __init__(self, target: Callable[[Connection], None], name: str) -> None:
        self._target, self._name = target, name
        self._starting, self._lock = threading.Lock(), threading.Lock()
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None  # closed when it is collected: another thread may be reading
        self._seen: set[psutil.Process] = set()  # what the process started
        self._is_ready = self._is_closed = False
        self._temporary = TemporaryDirectory(prefix="graph-bandit-", ignore_cleanup_errors=True)

    @property
    def pid(self) -> int | None:
        """Return the number of the process; None if it was not started."""
        return self._process.pid if self._process is not None else None

    def is_alive(self) -> bool:
        """Return whether the process runs."""
        with self._lock:
            return not self._is_closed and self._process is not None and self._process.is_alive()

    def start(self) -> bool:
        """Start the process if it was not started yet, wait for it, and return whether it is ready."""
        with self._starting:
            if self._is_ready:
                return self.is_alive()
            pipe = self._launch()
            if pipe is not None:
                with contextlib.suppress(OSError, EOFError, LostProcessError):  # it has died, or was closed meanwhile
                    self._is_ready = pipe.poll(START_SECONDS) and self._receive(pipe) == READY
            if not self._is_ready:
                self.close()
            return self._is_ready

    def ask(self, request: object, seconds: float, most_bytes: int) -> Iterator[object]:
        """Send a request, and yield the messages that come back. The caller knows which one is the last.

        Args:
            request: what is sent.
            seconds: time in which all messages have to come.
            most_bytes: most memory of the process and all that it started.

        Raises:
            LostProcessError: if the process is dead, or is killed since it took too much.
        """
        try:
            if self._pipe is None or not self.is_alive():
                raise LostProcessError("death")
            self._pipe.send(request)
            yield from self._messages(self._pipe, seconds, most_bytes)
        except (OSError, EOFError) as error:
            self.close()
            raise LostProcessError("death") from error
        except LostProcessError:
            self.close()
            raise

    def memory(self) -> int:
        """Return the memory of the process and all that it started, in bytes. What they share counts for each."""
        total = 0
        for pid in (self.pid, *(child.pid for child in self.children())):
            with contextlib.suppress(psutil.Error):  # it has ended meanwhile
                total += int(psutil.Process(pid).memory_info().rss) if pid is not None else 0
        return total

    def children(self) -> list[psutil.Process]:
        """Return the processes that the process has started, and those that these have."""
        children: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            if self.is_alive():
                children = psutil.Process(self.pid).children(recursive=True)
        self._seen = {child for child in self._seen if child.is_running()}.union(children)
        return children

    def close(self) -> None:
        """Kill the process and all that it started. It cannot be started again."""
        with self._lock:
            self._is_closed = True
            if self._process is None:
                self._temporary.cleanup()
                return
            if self._process.is_alive() and self._process.pid is not None:
                kill_tree(self._process.pid)
            for child in self._seen:  # the process may have died before it
                kill_tree(child.pid if child.is_running() else None)
            self._seen = set()
            self._process.join(END_SECONDS)
            self._temporary.cleanup()
        atexit.unregister(self.close)

    def _launch(self) -> Connection | None:
        with self._lock:
            if self._is_closed:
                return None
            start_tracker()
            context = get_context("spawn")
            self._pipe, other = context.Pipe()
            arguments = self._target, other, self._temporary.name
            # multiprocessing lets a daemon start no process, and waits for others when this process ends
            self._process = context.Process(target=begin, args=arguments, name=self._name, daemon=False)
            self._process.start()
            other.close()
            atexit.register(self.close)
            return self._pipe

    def _messages(self, pipe: Connection, seconds: float, most_bytes: int) -> Iterator[object]:
        now = time.monotonic()
        until, look = now + seconds, now + WATCH_SECONDS
        while True:
            if pipe.poll(max(0.0, look - now)):
                yield self._receive(pipe)
            now = time.monotonic()
            if now > until:
                raise LostProcessError("time")
            if now >= look:  # also while messages come without a pause
                if self.memory() > most_bytes:
                    raise LostProcessError("memory")
                now = time.monotonic()
                look = now + WATCH_SECONDS

    def _receive(self, pipe: Connection) -> object:
        message: object = pipe.recv()
        if isinstance(message, Failure):
            LOG.error("The process `%s` has ended: %s", self._name, message.trace)
            raise LostProcessError("death")
        return message


def start_tracker() -> None:
    """Start the process that removes what killed processes leave, such that it does not warn of it at the end."""
    if os.name != "posix":
        return
    option = "ignore:resource_tracker:UserWarning"
    sys.warnoptions.append(option)  # which it inherits
    try:
        resource_tracker.ensure_running()  # multiprocessing would do so in the next step
    finally:
        sys.warnoptions.remove(option)


def begin(target: Callable[[Connection], None], pipe: Connection, temporary: str) -> None:
    """Call a target in its process, after Ctrl-C and all output were kept away from it.

    Args:
        target: as in `WorkProcess`.
        pipe: likewise.
        temporary: folder of its temporary files.
    """
    tempfile.tempdir = temporary
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of those that it starts, too
    warnings.simplefilter("ignore")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)  # RDKit says what it does not understand, in letters of others
    threading.Thread(target=end_with_parent, args=(temporary,), daemon=True).start()
    try:
        target(pipe)
    except Exception as error:  # noqa: BLE001 - it is told at the other end
        with contextlib.suppress(OSError):
            pipe.send(Failure(trace_of(error)))
    finally:
        kill_children()


def end_with_parent(temporary: str) -> None:
    """Wait until the process that started this one has ended, and end this one and all that it started.

    Args:
        temporary: folder that is removed then.
    """
    parent = parent_process()
    if parent is None:
        return
    parent.join()
    kill_children()
    shutil.rmtree(temporary, ignore_errors=True)
    os._exit(1)


def kill_children() -> None:
    """Kill all that this process started."""
    for child in psutil.Process().children():
        kill_tree(child.pid)


def kill_tree(pid: int | None) -> None:
    """Kill a process and all that it started. Each is halted first, so that it starts no other one meanwhile.

    Args:
        pid: number of the process; None: there is nothing to kill.
    """
    if pid is None:
        return
    tree: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        tree.append(psutil.Process(pid))
    for process in tree:  # which grows meanwhile
        with contextlib.suppress(psutil.Error):
            process.suspend()
        with contextlib.suppress(psutil.Error):
            tree.extend(process.children())
    for process in reversed(tree):
        with contextlib.suppress(psutil.Error):
            process.kill()


def trace_of(error: BaseException) -> str:
    """Return the traceback of an error in one line."""
    lines = "".join(traceback.format_exception(error)).splitlines()
    return " | ".join(line.strip() for line in lines if line.strip())[-TRACE_CHARACTERS:]
