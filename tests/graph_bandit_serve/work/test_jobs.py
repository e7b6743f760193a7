"""Jobs whose operations wait, report, break and hang."""

import asyncio
import logging
import os
import subprocess
import sys

import pytest
from support.ended import have_ended

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import BusyError, Jobs

OPERATIONS = "support.operations:OPERATIONS"
LONG = 60


@pytest.fixture
def make_jobs():
    made = []

    def make(operations=OPERATIONS, **limits):
        made.append(Jobs(ServerLimits(**limits), operations))
        return made[-1]

    yield make
    for jobs in made:
        jobs.close()


@pytest.fixture
def jobs(make_jobs):
    return make_jobs()


def run(jobs, operation, **arguments):
    return jobs.wait(jobs.start(operation, arguments, ["a"], campaign="a").id, LONG)


def first(jobs, job, is_wanted):
    """Return the first state of a job that is wanted."""

    async def follow():
        async for state in jobs.events(job.id):
            if is_wanted(state):
                return state
        return None

    return asyncio.run(asyncio.wait_for(follow(), LONG))


def start_holding(jobs, campaign="a", operation="hold"):
    """Start a job that never ends, and return it with its process and those that it started."""
    job = first(jobs, jobs.start(operation, {}, [campaign]), lambda state: state.progress)
    return job, [int(pid) for pid in job.progress[0].split()]


def test_a_job_returns_what_its_operation_does(jobs):
    job = run(jobs, "echo", word="ok", numbers=[1, 2.5, None])
    assert (job.status, job.problem, job.campaign, job.operation) == ("done", "", "a", "echo")
    assert {name: job.result[name] for name in ("word", "numbers")} == {"word": "ok", "numbers": [1, 2.5, None]}
    assert job.seconds > 0
    assert jobs.get(job.id) == job
    assert jobs.get("nobody") is jobs.wait("nobody", 0) is jobs.stop("nobody") is None


def test_jobs_of_a_name_run_one_after_the_other_in_their_order(jobs, tmp_path):
    file = tmp_path / "words"
    words = [f"word {number}" for number in range(6)]
    started = [jobs.start("note", {"file": str(file), "word": word}, ["a"]) for word in words]
    assert [job.status for job in started] == ["running", *["waiting"] * 5]
    assert jobs.wait(started[-1].id, LONG).status == "done"
    assert file.read_text().splitlines() == [f"{word} {what}" for word in words for what in ("begins", "ends")]


def test_jobs_of_other_names_run_at_once(jobs, tmp_path):
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    one = jobs.start("meet", {"mine": here, "other": there}, "ab")
    two = jobs.start("meet", {"mine": there, "other": here}, "cd")
    assert jobs.wait(one.id, LONG).result is jobs.wait(two.id, LONG).result is True


def test_a_job_too_many_is_refused(make_jobs):
    jobs = make_jobs(waiting_jobs=2)
    holding, _ = start_holding(jobs)
    waiting = [jobs.start("echo", {}, "ab") for _ in range(2)]
    with pytest.raises(BusyError):
        jobs.start("echo", {}, "ab")
    assert [job.id for job in jobs.queue()] == [holding.id, *(job.id for job in waiting)]
    assert jobs.start("echo", {}, "c").status == "running"


@pytest.mark.parametrize("operation", ["hold", "hold_workers"])
def test_a_job_that_is_stopped_ends_with_all_that_it_started(operation, jobs):
    job, pids = start_holding(jobs, operation=operation)
    assert len(pids) > 1
    stopped = jobs.stop(job.id)
    assert (stopped.status, stopped.problem) == ("stopped", "")
    assert have_ended(pids)
    assert run(jobs, "echo").status == "done"
    assert jobs.stop(job.id) == stopped


def test_what_an_operation_says_is_wrong_is_told_to_people(jobs):
    job = run(jobs, "refuse")
    assert (job.status, job.problem, job.result) == ("refused", "Expected a table. Got a poem.", None)


@pytest.mark.parametrize(("operation", "trace"), [("err", "a secret"), ("return_a_thing", "TypeError")])
def test_a_mistake_of_the_program_is_told_to_the_log_in_a_line(operation, trace, jobs, caplog):
    with caplog.at_level(logging.ERROR, "graph_bandit_serve"):
        job = run(jobs, operation)
    assert job.status == "failed"
    assert trace not in job.problem
    (line,) = caplog.messages
    assert trace in line
    assert line.startswith(f"`{operation}` failed: Traceback")
    assert "\n" not in line


@pytest.mark.parametrize(
    ("operation", "arguments", "problem"),
    [
        ("hang", {}, "It took more than 0.005 minutes"),
        ("grow", {"megabytes": 1_000}, "It took more than 0.4 GB of memory"),
        ("die", {}, "Its process died"),
    ],
)
def test_a_job_that_does_harm_fails_and_the_next_one_runs(operation, arguments, problem, make_jobs):
    jobs = make_jobs(job_seconds=LONG if operation == "grow" else 0.3, job_bytes=400_000_000)
    job = run(jobs, operation, **arguments)
    assert job.status == "failed"
    assert job.problem.startswith(problem)
    assert run(jobs, "echo").status == "done"


def test_what_a_job_leaves_behind_is_killed(jobs):
    job = run(jobs, "leave")
    assert job.status == "done"
    assert have_ended([job.result])


@pytest.mark.parametrize(("limits", "kept"), [({"kept_jobs": 2}, 2), ({"kept_job_bytes": 2_500}, 2)])
def test_jobs_that_ended_long_ago_are_forgotten(limits, kept, make_jobs):
    jobs = make_jobs(**limits)
    ended = [run(jobs, "echo", text="x" * 1_000) for _ in range(4)]
    assert [jobs.get(job.id) for job in ended] == [None] * (4 - kept) + ended[-kept:]


def test_closed_jobs_are_stopped_and_no_process_stays(jobs):
    held = [start_holding(jobs, campaign) for campaign in "ab"]
    waiting = jobs.start("echo", {}, "ab")
    jobs.close()
    states = [jobs.get(job.id).status for job in (*(job for job, _ in held), waiting)]
    assert states == ["stopped"] * 3
    assert have_ended([pid for _, pids in held for pid in pids])
    with pytest.raises(BusyError):
        jobs.start("echo", {}, "ab")


def test_all_ends_with_the_one_that_started_it_without_a_word():
    code = """
import os, time
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs
if __name__ == "__main__":
    jobs = Jobs(ServerLimits(), "support.operations:OPERATIONS")
    job = jobs.start("hold_workers", {})
    while not jobs.get(job.id).progress:
        time.sleep(0.01)
    print(*jobs.get(job.id).progress, flush=True)
    os._exit(0)
"""
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    done = subprocess.run(command, env={**os.environ, **paths}, capture_output=True, text=True, timeout=LONG)
    assert (done.returncode, done.stderr) == (0, "")
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) >= 2
    assert have_ended(pids)
