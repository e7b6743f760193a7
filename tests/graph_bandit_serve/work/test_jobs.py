"""Jobs whose operations wait, report, break and hang."""

import logging
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException
from support.ended import have_ended

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs

LONG = 60


@pytest.fixture
def jobs(request):
    """Jobs with the limits that a test names."""
    with closing(Jobs(ServerLimits(**getattr(request, "param", {})), "support.operations:OPERATIONS")) as jobs:
        yield jobs


def run(jobs, operation, **arguments):
    return jobs.wait(jobs.start(operation, arguments, ["a"], campaign="a").id, LONG)


def start_holding(jobs):
    """Start a job that never ends, and return it, its process with one that it started, and its temporary folder."""
    job = jobs.start("hold", {}, "a")
    while not jobs.get(job.id).progress:
        time.sleep(0.01)
    *pids, folder = job.progress[0].split()
    return job, [*map(int, pids)], Path(folder)


def test_a_job_returns_what_its_operation_does_and_what_it_leaves_behind_is_killed(jobs):
    job = run(jobs, "echo", word="ok", numbers=[1, 2.5, None])
    assert (job.status, job.problem, job.campaign, job.operation) == ("done", "", "a", "echo")
    assert (job.result, job.seconds > 0) == ({"word": "ok", "numbers": [1, 2.5, None]}, True)
    assert jobs.get("nobody") is jobs.stop("nobody") is None
    assert have_ended([run(jobs, "leave").result])


@pytest.mark.parametrize(("names", "at_once"), [(("ab", "bc"), False), (("ab", "cd"), True)])
def test_jobs_that_hold_a_name_run_one_after_the_other_and_others_at_once(names, at_once, jobs, tmp_path):
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    seconds = LONG if at_once else 0.2
    one = jobs.start("meet", {"mine": here, "other": there, "seconds": seconds}, names[0])
    two = jobs.start("meet", {"mine": there, "other": here, "seconds": seconds}, names[1])
    assert (one.status, two.status) == ("running", "running" if at_once else "waiting")
    assert (jobs.wait(one.id, LONG).result, jobs.wait(two.id, LONG).result) == (at_once, True)


@pytest.mark.parametrize("jobs", [{"waiting_jobs": 2}], indirect=True)
def test_a_job_too_many_is_refused(jobs):
    all_of_a = [jobs.start(name, {}, "ab") for name in ("hold", "echo", "echo")]
    with pytest.raises(HTTPException):
        jobs.start("echo", {}, "ab")
    assert jobs.queue() == all_of_a
    assert jobs.start("echo", {}, "c").status == "running"


def test_a_job_that_is_stopped_ends_with_all_that_it_started(jobs):
    job, pids, folder = start_holding(jobs)
    assert folder.is_dir()
    assert (jobs.stop(job.id).status, job.problem) == ("stopped", "")
    assert have_ended(pids)
    assert not folder.exists()
    assert run(jobs, "echo").status == "done"


def test_a_refusal_is_told_to_people_and_a_mistake_of_the_program_to_the_log_in_a_line(jobs, caplog):
    job = run(jobs, "refuse")
    assert (job.status, job.problem, job.result) == ("refused", "Expected a table. Got a poem.", None)
    with caplog.at_level(logging.ERROR, "graph_bandit_serve"):
        job = run(jobs, "err")
    assert (job.status, "a secret" in job.problem) == ("failed", False)
    (line,) = caplog.messages
    assert ("a secret" in line, "\n" in line) == (True, False)


@pytest.mark.parametrize(
    ("operation", "word", "jobs"),
    [("hold", "minutes", {"job_seconds": 0.3}), ("grow", "0.4 GB", {"job_bytes": 400_000_000}), ("die", "died", {})],
    indirect=["jobs"],
)
def test_a_job_that_does_harm_fails_and_the_next_one_runs(operation, word, jobs):
    job = run(jobs, operation)
    assert (job.status, word in job.problem) == ("failed", True)
    assert have_ended([int(text) for line in job.progress for text in line.split() if text.isdigit()])
    assert run(jobs, "echo").status == "done"


@pytest.mark.parametrize("jobs", [{"kept_jobs": 2}, {"kept_job_bytes": 2_500}], indirect=True)
def test_jobs_that_ended_long_ago_are_forgotten(jobs):
    ended = [run(jobs, "echo", text="x" * 1_000) for _ in range(4)]
    assert [jobs.get(job.id) for job in ended] == [None, None, *ended[-2:]]


def test_closed_jobs_are_stopped_and_no_process_stays(jobs):
    holding, pids, _ = start_holding(jobs)
    waiting = jobs.start("echo", {}, "ab")
    jobs.close()
    assert (holding.status, waiting.status) == ("stopped", "stopped")
    assert have_ended(pids)
    with pytest.raises(HTTPException):
        jobs.start("echo", {}, "ab")


def test_all_ends_with_the_one_that_started_it_without_a_word():
    code = """
import os, time
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs
if __name__ == "__main__":
    jobs = Jobs(ServerLimits(), "support.operations:OPERATIONS")
    job = jobs.start("hold", {})
    while not jobs.get(job.id).progress:
        time.sleep(0.01)
    print(*job.progress, flush=True)
    os._exit(0)
"""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=here, capture_output=True, text=True, timeout=LONG)
    assert (done.returncode, done.stderr) == (0, "")
    *pids, folder = done.stdout.split()
    assert have_ended(map(int, pids))
    assert not os.path.exists(folder)
