"""Jobs as JSON: how they stand, their events, and their stop."""

import json

import pytest
from support.served import Served


@pytest.fixture
def served(tmp_path, odd_jobs):
    return Served(tmp_path, jobs=odd_jobs)


def test_events_tell_how_a_job_stands_until_it_has_ended(served, odd_jobs):
    job = odd_jobs.start("count", {"lines": 3})
    answer = served.ask(f"/api/v1/jobs/{job.id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    views = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]
    assert (views[-1]["status"], views[-1]["progress"][-1]) == ("done", "2 of 3")
    assert all(view["result"] is None for view in views)


def test_a_job_is_waited_for_and_has_its_result(served, odd_jobs):
    job = odd_jobs.start("echo", {"word": "<b>"}, campaign="x")
    view = served.get(f"/jobs/{job.id}?wait=15")
    assert (view["status"], view["campaign"], view["result"]["word"]) == ("done", "x", "<b>")


def test_a_job_is_stopped_and_says_so(served, odd_jobs):
    job = odd_jobs.start("hold", {}, person="program")
    assert [view["is_mine"] for view in served.get("/jobs") if view["id"] == job.id] == [True]
    for _ in range(2):
        assert served.post(f"/jobs/{job.id}/stop", {}).json()["status"] == "stopped"
    assert served.post("/jobs/guess/stop", {}).status_code == 404
