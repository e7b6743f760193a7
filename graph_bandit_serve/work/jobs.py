"""Queue jobs and report their state. The jobs of one person or one campaign run one at a time."""

from __future__ import annotations

import logging
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Collection, Mapping
from concurrent.futures import wait
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
import psutil
from pebble import ProcessPool
from pydantic import BaseModel, ConfigDict, Field, computed_field
from starlette.exceptions import HTTPException

from graph_bandit_serve.access.keys import PERSON
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.worker import LINES, kill, open_pool, perform, tree_of

LOG = logging.getLogger("graph_bandit_serve")
MOST_LINES = 100
IDLE = 2  # maximum number of idle processes
WATCH_SECONDS = 0.5  # between checks of the memory
END_SECONDS = 10.0  # for a process to end
PROBLEM_CHARACTERS = 2_000
DIED = "Its process died, perhaps for lack of memory, or over a molecule that RDKit cannot bear."
MISTAKE = "This is an error of the program, not yours. The log of the server has the details."

Status = Literal["waiting", "running", "done", "refused", "failed", "stopped"]


class Job(BaseModel):
    """A run of an operation, serialized to JSON."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: str = Field(default_factory=secrets.token_urlsafe)
    """Random id of the job."""
    campaign: str = ""
    """Id of the campaign. Empty for an operation on the folder."""
    operation: str
    """Name of the operation."""
    person: str = Field("", exclude=True)
    """Session key of the person who started it. It is never sent."""
    asked: Mapping[str, object] = Field(default_factory=dict, exclude=True)
    """The arguments of the operation."""
    status: Status = "waiting"
    """Status of the job: "refused" if the operation rejected its arguments, "failed" for other errors."""
    progress: tuple[str, ...] = ()
    """Last lines of progress, the newest one last."""
    result: Any = None
    """Result of the operation as JSON. None until the job is done."""
    problem: str = ""
    """Reason why it was rejected or failed, for display."""
    seconds: float = 0.0
    """Running time."""
    _holds: frozenset[str] = frozenset()
    _most_seconds: float = 0.0
    _folder: Path = Path()
    _pool: ProcessPool | None = None  # while it runs
    _started: float = 0.0
    _size: int = 0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_mine(self) -> bool:
        """Return True if the sender started the job and can stop it."""
        return self.person == PERSON.get()

    @property
    def has_ended(self) -> bool:
        """Return True if the job is done, refused, failed or stopped."""
        return self.status not in ("waiting", "running")

    def lines(self) -> list[str]:
        """Return the lines written by its process: the process id and lines of progress."""
        try:
            return (self._folder / LINES).read_text("utf-8", "replace").splitlines()
        except OSError:  # it has not started
            return []

    def tree(self) -> list[psutil.Process]:
        """Return its process and all child processes."""
        lines = self.lines()
        return tree_of(int(lines[0])) if lines else []


class Jobs:
    """The jobs of a server. Call the methods from threads, as each of them may block.

    Args:
        limits: the limits.
        operations: location of the operations, as `package.module:NAME`: a mapping of names to functions that take
            `report`, which sends a line of progress, and keyword arguments, and return values that JSON can encode.
            Importing the module should import all dependencies.
    """

    def __init__(self, limits: ServerLimits, operations: str) -> None:
        self._limits, self._operations = limits, operations
        self._private = tempfile.TemporaryDirectory(prefix="graph-bandit-", ignore_cleanup_errors=True)
        self._changed = threading.Condition()  # its lock protects the attributes below
        self._jobs: dict[str, Job] = {}  # ended jobs last, in the order in which they ended
        self._idle: list[ProcessPool] = []
        self._is_closed = False

    def open(self) -> None:
        """Start the idle processes."""
        with self._changed:
            count = 0 if self._is_closed else IDLE
            self._idle += [open_pool(self._operations, self._private.name) for _ in range(count)]

    def start(
        self,
        operation: str,
        arguments: Mapping[str, object],
        holds: Collection[str] = (),
        seconds: float | None = None,
        campaign: str = "",
        person: str = "",
    ) -> Job:
        """Queue a job, and return it.

        Args:
            operation: name of an operation.
            arguments: arguments of the operation.
            holds: names of locks. Jobs that share a lock run one at a time in start order.
            seconds: time limit. If None, that of the limits.
            campaign: key of the campaign. Empty for an operation on the folder.
            person: session key of the person who starts it.

        Raises:
            HTTPException: 503, if too many jobs wait, or the server stops.
        """
        job = Job(operation=operation, asked=arguments, campaign=campaign, person=person)
        job._holds, job._most_seconds = frozenset(holds), seconds or self._limits.job_seconds
        job._folder = Path(self._private.name, job.id)
        with self._changed:
            self._jobs[job.id] = job
            self._start_next()
            waiting = sum(each.status == "waiting" for each in self._jobs.values())
            if self._is_closed or waiting > self._limits.waiting_jobs:
                del self._jobs[job.id]
                raise HTTPException(503, "Too many jobs wait. Wait until others have ended, or stop some.")
        return job

    def get(self, job_id: str) -> Job | None:
        """Return a job in its current state, or None if it is unknown or ended long ago."""
        return self.wait(job_id, 0)

    def queue(self) -> list[Job]:
        """Return the running and waiting jobs in start order."""
        with self._changed:
            return [self._now(job) for job in self._jobs.values() if not job.has_ended]

    def stop(self, job_id: str) -> Job | None:
        """Stop a job: remove it from the queue, or kill its process before returning.

        Returns:
            The job, which may have ended before, or None if there is no such job.
        """
        with self._changed:
            job = self._jobs.get(job_id)
            if job is not None and not job.has_ended:
                kill(job.tree())
                self._end(job, "stopped")
                shutil.rmtree(job._folder, ignore_errors=True)  # so that it cannot start now
            return job

    def wait(self, job_id: str, seconds: float) -> Job | None:
        """Wait until a job ends or the time is over, and return it, or None if there is no such job."""
        with self._changed:
            job = self._jobs.get(job_id)
            if job is not None:
                self._changed.wait_for(lambda: job.has_ended, seconds)
                self._now(job)
            return job

    def close(self) -> None:
        """Stop all jobs, kill all processes, and reject new jobs."""
        with self._changed:
            self._is_closed = True
            for job in self.queue():
                self.stop(job.id)
            pools = [*self._idle, *(job._pool for job in self._jobs.values() if job._pool is not None)]
        for pool in pools:
            pool.stop()  # stop all pools before waiting for any
        ends = [threading.Thread(target=pool.join, daemon=True) for pool in pools]
        for end in ends:
            end.start()
        for end in ends:
            end.join(END_SECONDS)  # a process still alive after that ends with this one
        self._private.cleanup()

    def _start_next(self) -> None:
        """Start the jobs that may run now, each with a thread that monitors its process."""
        for job in self._jobs.values():
            running = [other for other in self._jobs.values() if other._pool is not None]
            is_free = len(running) < self._limits.workers and not any(job._holds & other._holds for other in running)
            if job.status == "waiting" and is_free and not self._is_closed:
                self._idle = [pool for pool in self._idle if pool.active]  # the others have died
                job._pool = self._idle.pop(0) if self._idle else open_pool(self._operations, self._private.name)
                job._folder.mkdir()
                job._started, job.status = time.monotonic(), "running"
                threading.Thread(target=self._run, args=(job, job._pool), daemon=True).start()

    def _run(self, job: Job, pool: ProcessPool) -> None:
        """Run a job in an idle process, and keep this process for the next job."""
        arguments = self._operations, job.operation, job.asked, job._folder, self._limits.kept_job_bytes
        status: Status = "failed"
        tree, content, problem, is_sound = job.tree(), b"", DIED, False
        try:
            future = pool.schedule(perform, arguments, timeout=job._most_seconds)
            while wait([future], WATCH_SECONDS).not_done:
                if self._is_closed:
                    return
                with suppress(psutil.Error):  # a process has ended in between
                    tree = job.tree() or tree
                    if sum(process.memory_info().rss for process in tree) > self._limits.job_bytes:
                        problem = f"It took more than {self._limits.job_bytes / 1e9:,.3g} GB of memory."
                        kill(tree)
            (status, content, problem), tree, is_sound = future.result(), job.tree()[1:], True
            if status == "failed":
                LOG.error("`%s` failed: %s", job.operation, problem)
                problem = MISTAKE
        except TimeoutError:
            problem = f"It took more than {job._most_seconds / 60:,.3g} minutes, and was stopped."
        except Exception as error:  # noqa: BLE001 - the process or its pool has died, and the job must end
            LOG.info("`%s`: %r", job.operation, error)
        kill(tree)  # remaining child processes
        with self._changed:
            if self._is_closed:
                return
            if job.has_ended:  # it was stopped, so the state of its process is unknown
                is_sound = False
            else:
                job.result, job._size = msgspec.json.decode(content) if content else None, len(content)
                self._end(job, status, problem[:PROBLEM_CHARACTERS])
            job._pool, is_kept = None, is_sound and len(self._idle) < IDLE
            if is_kept:
                self._idle.append(pool)
            self._start_next()
        if not is_kept:
            pool.stop()
            pool.join()
        shutil.rmtree(job._folder, ignore_errors=True)

    def _now(self, job: Job) -> Job:
        """Update the running time and progress of a job, and return it."""
        if job.status == "running":
            progress = job.lines()[1:][-MOST_LINES:]
            job.progress = tuple(line[: self._limits.text_characters] for line in progress)
            job.seconds = time.monotonic() - job._started
        return job

    def _end(self, job: Job, status: Status, problem: str = "") -> None:
        """End a job, and delete old ended jobs."""
        self._now(job).problem, job.status = problem, status
        self._jobs[job.id] = self._jobs.pop(job.id)
        ended = [each for each in self._jobs.values() if each.has_ended]
        while len(ended) > 1 and (
            len(ended) > self._limits.kept_jobs or sum(each._size for each in ended) > self._limits.kept_job_bytes
        ):
            del self._jobs[ended.pop(0).id]
        self._changed.notify_all()
