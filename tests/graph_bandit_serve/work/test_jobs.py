"""Jobs whose operations wait, report, break and hang."""

import asyncio
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.ended import have_ended

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import BusyError, Jobs

OPERATIONS = "support.operations:OPERATIONS"
LONG = 60


@pytest.fixture
def make_jobs():
    made = []

    def make(**limits):
        made.append(Jobs(ServerLimits(**limits), OPERATIONS))
        return made[-1]

    yield make
    for jobs in made:
        jobs.close()


@pytest.fixture
def jobs(make_jobs):
    return make_jobs()


def run(jobs, operation, **arguments):
    return jobs.wait(jobs.start(operation, arguments, ["a"], campaign="a").id, LONG)


def start_holding(jobs):
    """Start a job that never ends, and return it, its process with one that it started, and its temporary folder."""

    async def first(job):
        async for state in jobs.events(job.id):
            if state.progress:
                return state
        return None

    job = asyncio.run(asyncio.wait_for(first(jobs.start("hold", {}, "a")), LONG))
    *pids, folder = job.progress[0].split()
    return job, [*map(int, pids)], Path(folder)


def test_a_job_returns_what_its_operation_does(jobs):
    job = run(jobs, "echo", word="ok", numbers=[1, 2.5, None])
    assert (job.status, job.problem, job.campaign, job.operation) == ("done", "", "a", "echo")
    assert job.result == {"word": "ok", "numbers": [1, 2.5, None]}
    assert job.seconds > 0
    assert jobs.get(job.id) == job
    assert jobs.get("nobody") is jobs.wait("nobody", 0) is jobs.stop("nobody") is None


@pytest.mark.parametrize(("names", "at_once"), [(("ab", "bc"), False), (("ab", "cd"), True)])
def test_jobs_that_hold_a_name_run_one_after_the_other_and_others_at_once(names, at_once, jobs, tmp_path):
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    seconds = LONG if at_once else 0.2
    one = jobs.start("meet", {"mine": here, "other": there, "seconds": seconds}, names[0])
    two = jobs.start("meet", {"mine": there, "other": here, "seconds": seconds}, names[1])
    assert (one.status, two.status) == ("running", "running" if at_once else "waiting")
    assert (jobs.wait(one.id, LONG).result, jobs.wait(two.id, LONG).result) == (at_once, True)


def test_a_job_too_many_is_refused(make_jobs):
    jobs = make_jobs(waiting_jobs=2)
    holding, *_ = start_holding(jobs)
    waiting = [jobs.start("echo", {}, "ab") for _ in range(2)]
    with pytest.raises(BusyError):
        jobs.start("echo", {}, "ab")
    assert [job.id for job in jobs.queue()] == [holding.id, *(job.id for job in waiting)]
    assert jobs.start("echo", {}, "c").status == "running"


def test_a_job_that_is_stopped_ends_with_all_that_it_started(jobs):
    job, pids, folder = start_holding(jobs)
    assert folder.is_dir()
    stopped = jobs.stop(job.id)
    assert (stopped.status, stopped.problem) == ("stopped", "")
    assert have_ended(pids)
    assert not folder.exists()
    assert run(jobs, "echo").status == "done"
    assert jobs.stop(job.id) == stopped


def test_a_refusal_is_told_to_people_and_a_mistake_of_the_program_to_the_log_in_a_line(jobs, caplog):
    job = run(jobs, "refuse")
    assert (job.status, job.problem, job.result) == ("refused", "Expected a table. Got a poem.", None)
    with caplog.at_level(logging.ERROR, "graph_bandit_serve"):
        job = run(jobs, "err")
    assert (job.status, "a secret" in job.problem) == ("failed", False)
    (line,) = caplog.messages
    assert ("a secret" in line, "\n" in line) == (True, False)


@pytest.mark.parametrize(
    ("operation", "word", "limits"),
    [("hold", "minutes", {"job_seconds": 0.3}), ("grow", "0.4 GB", {"job_bytes": 400_000_000}), ("die", "died", {})],
)
def test_a_job_that_does_harm_fails_and_the_next_one_runs(operation, word, limits, make_jobs):
    jobs = make_jobs(**limits)
    job = run(jobs, operation)
    assert (job.status, word in job.problem) == ("failed", True)
    assert have_ended([int(text) for line in job.progress for text in line.split() if text.isdigit()])
    assert run(jobs, "echo").status == "done"


def test_what_a_job_leaves_behind_is_killed(jobs):
    job = run(jobs, "leave")
    assert job.status == "done"
    assert have_ended([job.result])


@pytest.mark.parametrize("limits", [{"kept_jobs": 2}, {"kept_job_bytes": 2_500}])
def test_jobs_that_ended_long_ago_are_forgotten(limits, make_jobs):
    jobs = make_jobs(**limits)
    ended = [run(jobs, "echo", text="x" * 1_000) for _ in range(4)]
    assert [jobs.get(job.id) for job in ended] == [None, None, *ended[-2:]]


def test_closed_jobs_are_stopped_and_no_process_stays(jobs):
    holding, pids, _ = start_holding(jobs)
    waiting = jobs.start("echo", {}, "ab")
    jobs.close()
    assert [jobs.get(job.id).status for job in (holding, waiting)] == ["stopped"] * 2
    assert have_ended(pids)
    with pytest.raises(BusyError):
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
    print(*jobs.get(job.id).progress, flush=True)
    os._exit(0)
"""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=here, capture_output=True, text=True, timeout=LONG)
    assert (done.returncode, done.stderr) == (0, "")
    *pids, folder = done.stdout.split()
    assert have_ended(map(int, pids))
    assert not os.path.exists(folder)
