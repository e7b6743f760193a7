"""Queue jobs, run those of one person and those of one campaign one after the other, and say how they stand."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Collection, Mapping
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import psutil
from pebble import ProcessPool
from pydantic import BaseModel, ConfigDict, Field, computed_field

from graph_bandit_serve.access.keys import PERSON
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.worker import LINES, Outcome, kill, open_pool, perform, tree_of

LOG = logging.getLogger("graph_bandit_serve")
MOST_LINES = 100
IDLE = 2  # processes that wait for a job
LOOK_SECONDS = 0.1  # until progress is looked for again
WATCH_SECONDS = 0.5  # until memory is looked at again
PROBLEM_CHARACTERS = 2_000
DIED = "Its process died, perhaps for lack of memory, or over a molecule that RDKit cannot bear."

Status = Literal["waiting", "running", "done", "refused", "failed", "stopped"]


class BusyError(ValueError):
    """So many jobs wait that another one is refused."""


class Job(BaseModel):
    """Something that is being done, as JSON shows it."""

    model_config = ConfigDict(use_attribute_docstrings=True, frozen=True)

    id: str
    """By which it is asked for; nobody can guess it."""
    campaign: str = ""
    """Id of its campaign; empty if it is not about one."""
    operation: str
    """What is done."""
    person: str = Field("", exclude=True)
    """Who started it: a key of theirs, which stays here."""
    asked: Mapping[str, object] = Field(default_factory=dict, exclude=True)
    """What was asked."""
    status: Status = "waiting"
    """How it stands: "refused" if the operation said what was wrong, "failed" if there was another reason."""
    progress: tuple[str, ...] = ()
    """The last lines that it reported, the newest one last."""
    result: Any = None
    """What it returned, as read from JSON; None until it is done."""
    problem: str = ""
    """Why it was refused or failed, for people."""
    seconds: float = 0.0
    """Time for which it has run."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_mine(self) -> bool:
        """Return whether the person who asks started it, and can stop it."""
        return self.person == PERSON.get()

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
    folder: Path
    pool: ProcessPool | None = None  # while it runs
    started: float = 0.0
    size: int = 0

    def lines(self) -> list[str]:
        """Return what its process has written: its number, and lines of progress."""
        try:
            return (self.folder / LINES).read_text("utf-8", "replace").splitlines()
        except OSError:  # it has not begun
            return []

    def tree(self) -> list[psutil.Process]:
        """Return its process, and all that this has started."""
        lines = self.lines()
        return tree_of(int(lines[0])) if lines else []


class Jobs:
    """The jobs of a server. All but `events` may wait, so that they are called from threads.

    Args:
        limits: the limits.
        operations: where the operations are, as `package.module:NAME`: a mapping of names to functions that take
            `report`, which sends a line of progress, and arguments by name, and return what JSON can hold. Importing
            that module should import all that they need.
    """

    def __init__(self, limits: ServerLimits, operations: str) -> None:
        self._limits, self._operations = limits, operations
        self._private = tempfile.TemporaryDirectory(prefix="graph-bandit-", ignore_cleanup_errors=True)
        self._changed = threading.Condition()  # its lock is held for all below
        self._entries: dict[str, _Entry] = {}  # as they were started, then as they ended
        self._idle: list[ProcessPool] = []
        self._is_closed = False

    def open(self) -> None:
        """Start the processes that wait for jobs."""
        with self._changed:
            self._idle += [open_pool(self._operations, self._private.name) for _ in range(IDLE)]

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
            job = Job(
                id=secrets.token_urlsafe(), campaign=campaign, operation=operation, person=person, asked=asked or {}
            )
            folder = Path(self._private.name, job.id)
            self._entries[job.id] = _Entry(job, arguments, most, frozenset(holds), folder)
            self._start_next()
            if sum(each.job.status == "waiting" for each in self._entries.values()) > self._limits.waiting_jobs:
                del self._entries[job.id]
                raise BusyError(
                    f"Expected at most {self._limits.waiting_jobs} jobs to wait. Got one more. Wait until others have "
                    "ended, or stop some."
                )
            return self._entries[job.id].job

    def get(self, job_id: str) -> Job | None:
        """Return a job as it stands; None if there is no such job, or it ended long ago."""
        return self.wait(job_id, 0)

    def queue(self) -> list[Job]:
        """Return the jobs that run or wait, in the order in which they were started."""
        with self._changed:
            return [self._now(entry) for entry in self._entries.values() if not entry.job.has_ended]

    def stop(self, job_id: str) -> Job | None:
        """Stop a job: one that waits never runs, and the process of one that runs is killed before this returns.

        Returns:
            The job, which may have ended otherwise before; None if there is no such job.
        """
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is not None and not entry.job.has_ended:
                kill(entry.tree())
                self._end(entry, "stopped")
                shutil.rmtree(entry.folder, ignore_errors=True)  # so that it does not begin now
            return None if entry is None else entry.job

    def wait(self, job_id: str, seconds: float) -> Job | None:
        """Return a job as soon as it has ended, or when the time is over; None if there is no such job."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None:
                return None
            self._changed.wait_for(lambda: entry.job.has_ended, seconds)
            return self._now(entry)

    async def events(self, job_id: str) -> AsyncIterator[Job]:
        """Yield a job as it stands, and again at each change until it has ended; quick changes come as one."""
        before = None
        while (job := self.get(job_id)) is not None:
            if (job.status, job.progress) != before:
                yield job
            if job.has_ended:
                return
            before = job.status, job.progress
            await asyncio.sleep(LOOK_SECONDS)

    def close(self) -> None:
        """Stop all jobs, kill all processes, and start none any more."""
        with self._changed:
            self._is_closed = True
            for job in self.queue():
                self.stop(job.id)
            pools = [*self._idle, *(entry.pool for entry in self._entries.values() if entry.pool is not None)]
            self._idle = []
        for pool in pools:
            pool.stop()  # all, before the first one is waited for
        for pool in pools:
            pool.join()
        self._private.cleanup()

    def _start_next(self) -> None:
        """Start the jobs that may run now, each in a thread that watches its process."""
        for entry in self._entries.values():
            running = [other for other in self._entries.values() if other.pool is not None]
            is_free = not any(entry.holds & other.holds for other in running)
            if entry.job.status == "waiting" and is_free and len(running) < self._limits.workers:
                self._idle = [pool for pool in self._idle if pool.active]  # others have died
                entry.pool = self._idle.pop(0) if self._idle else open_pool(self._operations, self._private.name)
                entry.folder.mkdir()
                entry.started, entry.job = time.monotonic(), entry.job.model_copy(update={"status": "running"})
                threading.Thread(target=self._run, args=(entry, entry.pool), daemon=True).start()

    def _run(self, entry: _Entry, pool: ProcessPool) -> None:
        """Run a job in a process that is free, and keep this process for the next one."""
        arguments = self._operations, entry.job.operation, entry.arguments, entry.folder, self._limits.kept_job_bytes
        tree, problem, is_sound = entry.tree(), DIED, False
        try:
            future = pool.schedule(perform, arguments, timeout=entry.seconds)
            while wait([future], WATCH_SECONDS).not_done:
                if self._is_closed:
                    return
                with suppress(psutil.Error):  # one has ended meanwhile
                    tree = entry.tree() or tree
                    if sum(process.memory_info().rss for process in tree) > self._limits.job_bytes:
                        problem = f"It took more than {self._limits.job_bytes / 1e9:,.3g} GB of memory."
                        kill(tree)
            outcome, tree, is_sound = future.result(), entry.tree()[1:], True
        except TimeoutError:
            outcome = Outcome(
                "failed", problem=f"It took more than {entry.seconds / 60:,.3g} minutes, and was stopped."
            )
        except Exception:  # noqa: BLE001 - the process or its pool has died, and the job must end
            outcome = Outcome("failed", problem=problem)
        kill(tree)  # what it has left behind
        if outcome.trace:
            LOG.error("`%s` failed: %s", entry.job.operation, outcome.trace)
        with self._changed:
            if self._is_closed:
                return
            if entry.job.has_ended:  # it was stopped, in whatever its process did then
                is_sound = False
            else:
                result: object = msgspec.json.decode(outcome.result) if outcome.result else None
                entry.size = len(outcome.result)
                self._end(entry, outcome.status, result, outcome.problem[:PROBLEM_CHARACTERS])
            entry.pool = None
            is_full = len(self._idle) >= IDLE
            if not is_full:
                self._idle.append(pool if is_sound else open_pool(self._operations, self._private.name))
            self._start_next()
        if is_full or not is_sound:
            pool.stop()
            pool.join()
        shutil.rmtree(entry.folder, ignore_errors=True)

    def _now(self, entry: _Entry) -> Job:
        """Return a job with the time that it has run for, and with what it has reported since."""
        if entry.job.status == "running":
            progress = [line[: self._limits.text_characters] for line in entry.lines()[1:][-MOST_LINES:]]
            seconds = time.monotonic() - entry.started
            entry.job = entry.job.model_copy(update={"seconds": seconds, "progress": tuple(progress)})
        return entry.job

    def _end(self, entry: _Entry, status: Status, result: object = None, problem: str = "") -> None:
        """End a job, and forget those that ended long ago."""
        end = {"status": status, "result": result, "problem": problem}
        entry.job = self._now(entry).model_copy(update=end)
        entry.arguments = {}
        self._entries[entry.job.id] = self._entries.pop(entry.job.id)
        ended = [each for each in self._entries.values() if each.job.has_ended]
        while len(ended) > 1 and (
            len(ended) > self._limits.kept_jobs or sum(each.size for each in ended) > self._limits.kept_job_bytes
        ):
            del self._entries[ended.pop(0).job.id]
        self._changed.notify_all()
