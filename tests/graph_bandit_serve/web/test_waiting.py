"""How people go on when a job has ended, or has not."""

import pytest
from support.served import Served

from graph_bandit_serve.web.waiting import Next, to


@pytest.fixture
def served(tmp_path, odd_jobs):
    return Served(tmp_path, jobs=odd_jobs)


def test_names_of_files_are_those_that_people_know():
    following = Next("/", lambda job: to("/"), names=(("0123.csv", "May <1>.csv"),))
    assert following.say("0123.csv, line 2: bad") == "May <1>.csv, line 2: bad"


def test_a_job_that_runs_has_a_page_with_a_stop_for_who_started_it(served, odd_jobs):
    mine, other = (odd_jobs.start("hold", {}, person=person).id for person in ("program", "Bob"))
    for page in (f"/jobs/{mine}", "/"):
        text = served.ask(page).text
        assert (f'"/jobs/{mine}/stop"' in text, f"/jobs/{other}/stop" in text) == (True, False)
    assert served.ask(f"/jobs/{other}/stop", "POST").status_code == 403
    odd_jobs.stop(other)
    assert served.ask(f"/jobs/{mine}/stop", "POST").headers["location"] == f"/jobs/{mine}"
    assert served.ask(f"/jobs/{mine}").status_code == 422


def test_a_refusal_is_told_and_a_mistake_hides_its_trace(served, odd_jobs):
    for operation, is_told in (("refuse", True), ("err", False)):
        job = odd_jobs.start(operation, {})
        odd_jobs.wait(job.id, 60)
        answer = served.ask(f"/jobs/{job.id}")
        assert (answer.status_code, "a poem" in answer.text) == (422, is_told)
        assert "a secret" not in answer.text
