"""Queue jobs, run those of one person and those of one campaign one after the other, and say how they stand."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import msgspec

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.process import LostProcessError, WorkProcess
from graph_bandit_serve.work.worker import MISTAKE, Outcome, Request, work

LOG = logging.getLogger("graph_bandit_serve")
LINES = 100
IDLE = 2  # most processes that wait for a job
PROBLEM_CHARACTERS = 2_000
DIED = "Its process died, perhaps for lack of memory, or over a molecule that RDKit cannot bear."
NOT_STARTED = "No process could be started for it."

Status = Literal["waiting", "running", "done", "refused", "failed", "stopped"]


class BusyError(ValueError):
    """So many jobs wait that another one is refused."""


@dataclass(frozen=True)
class Job:
    """How a job stands."""

    id: str
    """Its name, which nobody can guess."""
    campaign: str
    """Key of its campaign; empty if it is not about one."""
    operation: str
    """Name of what is done."""
    person: str = ""
    """Who started it."""
    asked: Mapping[str, object] = field(default_factory=dict)
    """What was asked."""
    status: Status = "waiting"
    """How it stands: "refused" if the operation said what was wrong, "failed" if there was another reason."""
    progress: tuple[str, ...] = ()
    """The last lines that it reported, the newest one last."""
    result: object = None
    """What it returned, as read from JSON; None until it is done."""
    problem: str = ""
    """Why it was refused or failed, for people."""
    seconds: float = 0.0
    """Time for which it has run."""

    @property
    def has_ended(self) -> bool:
        """Return whether nothing will change any more."""
        return self.status not in ("waiting", "running")


@dataclass(eq=False)
class _Entry:
    """A job, and what runs it."""

    job: Job
    arguments: Mapping[str, object]
    seconds: float
    holds: frozenset[str]
    started: float = 0.0
    size: int = 0
    process: WorkProcess | None = None
    is_stopped: bool = False
    listeners: set[Callable[[], None]] = field(default_factory=set)


class Jobs:
    """The jobs of a server. All but `events` may wait, so that they are called from threads.

    Args:
        limits: the limits.
        operations: where the operations are, as `package.module:NAME`: a mapping of names to functions that take
            `report`, which sends a line of progress, and arguments by name, and return what JSON can hold.
    """

    def __init__(self, limits: ServerLimits, operations: str) -> None:
        self._limits, self._target = limits, partial(work, operations)
        self._changed = threading.Condition()  # its lock is held for all below
        self._entries: dict[str, _Entry] = {}
        self._waiting: list[_Entry] = []
        self._running: list[_Entry] = []
        self._ended: list[_Entry] = []
        self._idle: list[WorkProcess] = []
        self._is_closed = False

    def start(
        self,
        operation: str,
        arguments: Mapping[str, object],
        holds: Collection[str] = (),
        seconds: float | None = None,
        campaign: str = "",
        person: str = "",
        asked: Mapping[str, object] | None = None,
    ) -> Job:
        """Queue a job, and return it.

        Args:
            operation: name of an operation.
            arguments: its arguments.
            holds: names; of jobs that share one, one runs at a time, in the order in which they were started.
            seconds: time in which it ends, or is stopped; None: that of the limits.
            campaign: key of its campaign; empty: it is not about one.
            person: who starts it.
            asked: what was asked, as the job keeps it.

        Raises:
            BusyError: if too many jobs wait.
        """
        with self._changed:
            if self._is_closed:
                raise BusyError("Expected a server that goes on. Got one that stops. Start it again.")
            most = self._limits.job_seconds if seconds is None else seconds
            job = Job(secrets.token_urlsafe(), campaign, operation, person, asked or {})
            entry = _Entry(job, dict(arguments), most, frozenset(holds))
            self._waiting.append(entry)
            self._start_next()
            if len(self._waiting) > self._limits.waiting_jobs:
                self._waiting.remove(entry)
                raise BusyError(
                    f"Expected at most {self._limits.waiting_jobs} jobs to wait. Got one more. Wait until others have "
                    "ended, or stop some."
                )
            self._entries[entry.job.id] = entry
            return entry.job

    def get(self, job_id: str) -> Job | None:
        """Return a job as it stands; None if there is no such job, or it ended long ago."""
        with self._changed:
            entry = self._entries.get(job_id)
            return None if entry is None else _now(entry)

    def queue(self) -> list[Job]:
        """Return the jobs that run or wait, in the order in which they were started."""
        with self._changed:
            return [_now(entry) for entry in self._entries.values() if not entry.job.has_ended]

    def stop(self, job_id: str) -> Job | None:
        """Stop a job: one that waits never runs, and the process of one that runs is killed before this returns.

        Returns:
            The job, which may have ended otherwise before; None if there is no such job.
        """
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None or entry.job.has_ended:
                return None if entry is None else entry.job
            entry.is_stopped = True  # so that its process is given to no other job meanwhile
            process = entry.process
        if process is not None:
            process.close()
        with self._changed:
            self._end(entry, "stopped")
            return _now(entry)

    def wait(self, job_id: str, seconds: float) -> Job | None:
        """Return a job as soon as it has ended, or when the time is over; None if there is no such job."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None:
                return None
            self._changed.wait_for(lambda: entry.job.has_ended, seconds)
            return _now(entry)

    async def events(self, job_id: str) -> AsyncIterator[Job]:
        """Yield a job as it stands, and again at each change until it has ended; quick changes come as one."""
        loop, change = asyncio.get_running_loop(), asyncio.Event()

        def listener() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(change.set)

        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None:
                return
            entry.listeners.add(listener)
        try:
            while True:
                change.clear()
                with self._changed:
                    job = _now(entry)
                yield job
                if job.has_ended:
                    return
                await change.wait()
        finally:
            with self._changed:
                entry.listeners.discard(listener)

    def start_spare(self) -> None:
        """Start a process that waits for a job, unless one waits or all work."""
        with self._changed:
            if self._is_closed or self._idle or len(self._running) >= self._limits.workers:
                return
            process = WorkProcess(self._target, "spare")
            self._idle.append(process)
        process.start()

    def close(self) -> None:
        """Stop all jobs, kill all processes, and start none any more."""
        with self._changed:
            self._is_closed = True
            for entry in self._running:
                entry.is_stopped = True
            for entry in list(self._waiting):
                self._end(entry, "stopped")
            processes = [*self._idle, *(entry.process for entry in self._running if entry.process is not None)]
            self._idle.clear()
        for process in processes:
            process.close()
        with self._changed:
            for entry in list(self._running):
                self._end(entry, "stopped")

    def _start_next(self) -> None:
        """Start the jobs that may run now, each in a thread that watches its process."""
        for entry in list(self._waiting):
            is_free = not any(entry.holds & other.holds for other in self._running)
            if len(self._running) < self._limits.workers and is_free and not self._is_closed:
                self._waiting.remove(entry)
                self._running.append(entry)
                entry.started = time.monotonic()
                self._change(entry, status="running")
                threading.Thread(target=self._run, args=(entry,), daemon=True).start()

    def _run(self, entry: _Entry) -> None:
        try:
            process = self._take(entry)
            outcome = Outcome("failed", problem=NOT_STARTED) if process is None else self._ask(entry, process)
            self._tell(entry, outcome)
        except LostProcessError as error:
            self._tell(entry, Outcome("failed", problem=self._explain(error, entry.seconds)))
        except Exception:  # the job must end, whatever happens
            LOG.exception("A job of `%s` could not be run", entry.job.operation)
            self._tell(entry, Outcome("failed", problem=MISTAKE))
        finally:
            self._give_back(entry)
            with self._changed:
                self._running.remove(entry)
                self._start_next()
        self.start_spare()

    def _take(self, entry: _Entry) -> WorkProcess | None:
        """Return a process that is ready for a job; None if none starts, or the job is stopped."""
        while True:
            with self._changed:
                if entry.is_stopped or self._is_closed:
                    return None
                is_new = not self._idle
                entry.process = WorkProcess(self._target, "job") if is_new else self._idle.pop()
            if entry.process.start():
                return entry.process
            if is_new:
                return None

    def _ask(self, entry: _Entry, process: WorkProcess) -> Outcome:
        request = Request(entry.job.operation, entry.arguments, self._limits.kept_job_bytes)
        for message in process.ask(request, entry.seconds, self._limits.job_bytes):
            if isinstance(message, Outcome):
                return message
            line = f"{message}"[: self._limits.text_characters]
            with self._changed:
                if not entry.job.has_ended:
                    self._change(entry, progress=(*entry.job.progress, line)[-LINES:])
        raise LostProcessError("death")

    def _give_back(self, entry: _Entry) -> None:
        """Keep the process of a job for the next one, if it is small and has left nothing behind."""
        process = entry.process
        if process is None:
            return
        is_kept = process.is_alive() and not process.children() and 2 * process.memory() <= self._limits.job_bytes
        with self._changed:
            is_kept = is_kept and not entry.is_stopped and not self._is_closed and len(self._idle) < IDLE
            if is_kept:
                self._idle.append(process)
        if not is_kept:
            process.close()

    def _tell(self, entry: _Entry, outcome: Outcome) -> None:
        """End a job as its process says, unless it was stopped."""
        if outcome.trace:
            LOG.error("`%s` failed: %s", entry.job.operation, outcome.trace)
        result: object = msgspec.json.decode(outcome.result) if outcome.result else None
        with self._changed:
            entry.size = len(outcome.result)
            if entry.is_stopped and outcome.status != "done":
                self._end(entry, "stopped")
            else:
                self._end(entry, outcome.status, result=result, problem=outcome.problem[:PROBLEM_CHARACTERS])

    def _end(self, entry: _Entry, status: Status, result: object = None, problem: str = "") -> None:
        """End a job that has not ended yet, and forget those that ended long ago."""
        if entry.job.has_ended:
            return
        if entry in self._waiting:
            self._waiting.remove(entry)
        self._change(entry, status=status, result=result, problem=problem, seconds=_now(entry).seconds)
        entry.arguments = {}
        self._ended.append(entry)
        while len(self._ended) > 1 and (
            len(self._ended) > self._limits.kept_jobs
            or sum(ended.size for ended in self._ended) > self._limits.kept_job_bytes
        ):
            del self._entries[self._ended.pop(0).job.id]

    def _change(self, entry: _Entry, **changes: object) -> None:
        entry.job = dataclasses.replace(entry.job, **changes)  # type: ignore[arg-type]
        self._changed.notify_all()
        for listener in entry.listeners:
            listener()

    def _explain(self, error: LostProcessError, seconds: float) -> str:
        if error.loss == "time":
            return f"It took more than {seconds / 60:,.3g} minutes, and was stopped."
        if error.loss == "memory":
            return f"It took more than {self._limits.job_bytes / 1e9:,.3g} GB of memory, and was stopped."
        return DIED


def _now(entry: _Entry) -> Job:
    """Return a job with the time that it has run for."""
    if entry.job.status != "running":
        return entry.job
    return dataclasses.replace(entry.job, seconds=time.monotonic() - entry.started)
