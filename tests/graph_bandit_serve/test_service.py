"""What pages, REST and MCP ask for becomes jobs, once each; no process runs here."""

import contextvars

import pytest
from support.served import write_campaign

from graph_bandit_serve.access.keys import PERSON
from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.operations import Ask, Ids, Look, New, Nothing, Rows
from graph_bandit_serve.service import NotYoursError, Service
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Job

ONE = key_of("one.campaign.json")


class Noted:
    """Jobs that are noted down, and never run."""

    def __init__(self):
        self.jobs, self.given = {}, {}

    def start(self, operation, arguments, holds, seconds=None, campaign="", person="", asked=None):
        job = Job(id=f"job {len(self.jobs)}", campaign=campaign, operation=operation, person=person)
        self.jobs[job.id], self.given[job.id] = job, (arguments, {*holds}, seconds)
        return job

    def get(self, job_id):
        return self.jobs.get(job_id)

    stop = get


@pytest.fixture
def service(tmp_path):
    for name in ("one", "two"):
        write_campaign(tmp_path / f"{name}.campaign.json")
    (tmp_path / "pool.csv").write_text("id,smiles\n")
    return Service.of(tmp_path, Noted(), ServerLimits())


def by(person, start):
    """Start a job as somebody."""
    context = contextvars.copy_context()
    context.run(PERSON.set, person)
    return context.run(start)


def test_a_person_has_one_job_at_a_time_and_holds_nobody_else(service):
    starts = {
        "look": lambda: service.start("rows", Rows(), ONE),
        "preview": lambda: service.start("look", Look(pool="pool.csv")),
        "begin": lambda: service.start("new", New(name="New", pool="pool.csv")),
        "explain": lambda: service.start("why", Ids(ids=["a"]), ONE),
        "undo": lambda: service.start("undo", Nothing(), ONE),
    }
    holds = {
        (person, name): service.jobs.given[by(person, start).id][1]
        for person in ("Ann", "Bob")
        for name, start in starts.items()
    }
    waits = {frozenset((one, two)) for one in holds for two in holds if one != two and holds[one] & holds[two]}
    own = [("look", "preview"), ("begin", "explain"), ("begin", "undo"), ("explain", "undo")]
    assert waits == {frozenset((p, name) for name in pair) for pair in own for p in ("Ann", "Bob")} | {
        frozenset((("Ann", "undo"), ("Bob", "undo")))
    }


def test_a_preview_ends_after_a_minute_and_is_stopped_by_who_started_it_alone(service):
    job = by("Ann", lambda: service.start("look", Look(pool="pool.csv")))
    assert service.jobs.given[job.id][2] == 60
    with pytest.raises(NotYoursError):
        by("Bob", lambda: service.stop(job.id))
    assert by("Ann", lambda: service.stop(job.id)) is job


def test_what_no_file_can_keep_is_refused_before_it_is_a_job(service):
    for value in ({"n": "\ud800"}, {"\udfff": 1}):
        with pytest.raises(ValueError, match="characters"):
            service.start("ask", Ask.model_construct(changes=value, next_batch=False), ONE)
    assert service.jobs.jobs == {}
