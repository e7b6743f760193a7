"""Jobs as JSON: how they stand, their events, and their stop."""

import json
from contextlib import closing

import pytest
from support.served import serve_app

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs


@pytest.fixture(scope="module")
def jobs():
    with closing(Jobs(ServerLimits(), "support.operations:OPERATIONS")) as jobs:
        yield jobs


@pytest.fixture
def served(tmp_path, jobs):
    return serve_app(tmp_path, jobs=jobs)


def test_events_tell_how_a_job_stands_until_it_has_ended(served, jobs):
    job = jobs.start("count", {"lines": 3})
    answer = served.ask(f"/api/v1/jobs/{job.id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    views = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]
    assert (views[-1]["status"], views[-1]["progress"][-1]) == ("done", "2 of 3")
    assert all(view["result"] is None for view in views)


def test_a_job_is_waited_for_and_has_its_result(served, jobs):
    job = jobs.start("echo", {"word": "<b>"}, campaign="x")
    view = served.ask(f"/api/v1/jobs/{job.id}", query="wait=15").json()
    assert (view["status"], view["campaign"], view["result"]["word"]) == ("done", "x", "<b>")


def test_a_job_is_stopped_and_says_so(served, jobs):
    job = jobs.start("hold", {}, person="program")
    assert [view["is_mine"] for view in served.ask("/api/v1/jobs").json() if view["id"] == job.id] == [True]
    assert served.ask(f"/api/v1/jobs/{job.id}/stop", "POST").json()["status"] == "stopped"
    assert served.ask(f"/api/v1/jobs/{job.id}/stop", "POST").json()["status"] == "stopped"


def test_an_unknown_job_is_not_found(served):
    for method, end in (("GET", ""), ("GET", "/events"), ("POST", "/stop")):
        assert served.ask(f"/api/v1/jobs/guess{end}", method).status == 404
