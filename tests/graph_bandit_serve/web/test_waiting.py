"""How people go on when a job has ended, or has not."""

from contextlib import closing

import pytest
from support.served import serve_app, write_campaign

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.web.waiting import Next, to
from graph_bandit_serve.work.jobs import Jobs

BACK = "/campaigns/x"


@pytest.fixture(scope="module")
def jobs():
    with closing(Jobs(ServerLimits(), "support.operations:OPERATIONS")) as jobs:
        yield jobs


@pytest.fixture
def served(tmp_path, jobs):
    write_campaign(tmp_path / "one.campaign.json")
    return serve_app(tmp_path, jobs=jobs)


def test_names_of_files_are_those_that_people_know():
    following = Next(BACK, lambda job: to(BACK), names=(("0123.csv", "May <1>.csv"),))
    assert following.say("0123.csv, line 2: bad") == "May <1>.csv, line 2: bad"


def test_a_job_that_runs_has_a_page_with_a_stop(served, jobs):
    job = jobs.start("hold", {}, person="program")
    other = jobs.start("hold", {}, person="Bob")
    for page in (f"/jobs/{job.id}", "/"):
        answer = served.ask(page)
        answer.assert_safe()
        assert (answer.status, f'action="/jobs/{job.id}/stop"' in answer.text) == (200, True)
        assert f"/jobs/{other.id}/stop" not in answer.text
    assert served.ask(f"/jobs/{other.id}/stop", "POST").status == 403
    jobs.stop(other.id)
    assert served.ask(f"/jobs/{job.id}/stop", "POST").headers["location"] == f"/jobs/{job.id}"
    answer = served.ask(f"/jobs/{job.id}")
    assert (answer.status, "It was stopped" in answer.text) == (422, True)


def test_a_refusal_is_told_and_a_mistake_hides_its_trace(served, jobs):
    for operation, words in (("refuse", "Expected a table. Got a poem."), ("err", "This is a mistake of the program")):
        job = jobs.start(operation, {})
        jobs.wait(job.id, 60)
        answer = served.ask(f"/jobs/{job.id}")
        answer.assert_safe()
        assert (answer.status, words in answer.text, "a secret" in answer.text) == (422, True, False)
