"""What pages, REST and MCP ask for becomes jobs, once each; no process runs here."""

import contextvars
import io

import pytest
from support.served import write_campaign

from graph_bandit_serve.access.keys import PERSON
from graph_bandit_serve.campaigns.folder import CampaignFolder, key_of
from graph_bandit_serve.campaigns.shelf import Shelf
from graph_bandit_serve.campaigns.uploads import Uploads
from graph_bandit_serve.service import KeyUsedError, NotYoursError, Service, UnknownError
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Job

ONE = key_of("one.campaign.json")


class Noted:
    """Jobs that are noted down, and never run."""

    def __init__(self):
        self.jobs, self.arguments, self.holds, self.seconds = {}, {}, {}, {}

    def start(self, operation, arguments, holds, seconds=None, campaign="", person=""):
        job = Job(f"job {len(self.jobs)}", campaign, operation, person)
        self.jobs[job.id], self.arguments[job.id] = job, arguments
        self.holds[job.id], self.seconds[job.id] = {*holds}, seconds
        return job

    def get(self, job_id):
        return self.jobs.get(job_id)

    stop = get


@pytest.fixture
def service(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    write_campaign(tmp_path / "two.campaign.json")
    (tmp_path / "pool.csv").write_text("id,smiles\n")
    limits = ServerLimits()
    folder = CampaignFolder(tmp_path, limits)
    return Service(folder, Shelf(folder, limits), Uploads(folder.root, limits), Noted(), limits)


def send(service, name="new.csv"):
    upload = service.uploads.add(name, io.BytesIO(b"id,logp\n"))
    return upload, f"upload:{upload.token}"


def test_the_same_request_is_one_job_though_its_file_was_used_meanwhile(service):
    upload, table = send(service)
    once = service.accept(ONE, table, request="a key")
    begun = service.begin("New", table, [table], {}, request="another key")
    upload.path.unlink()
    assert service.accept(ONE, table, request="a key") is once
    assert service.begin("New", table, [table], {}, request="another key") is begun
    with pytest.raises(UnknownError):
        service.accept(ONE, table, request="a third key")


def test_a_key_is_of_one_request_on_one_campaign(service):
    service.do(ONE, "undo", {}, request="a key")
    for call in (
        lambda: service.do(key_of("two.campaign.json"), "undo", {}, request="a key"),
        lambda: service.do(ONE, "undo", {}, "a version", request="a key"),
        lambda: service.do(ONE, "suggest", {}, request="a key"),
    ):
        with pytest.raises(KeyUsedError):
            call()
    assert len(service.jobs.jobs) == 1


def test_a_table_that_is_taken_in_gets_a_name_of_its_own(service, tmp_path):
    (tmp_path / "one.results-7.csv").touch()
    (tmp_path / "one.results-old.csv").touch()
    job = service.accept(ONE, send(service, "x.XLSX")[1])
    assert service.jobs.arguments[job.id]["name"] == "one.results-8.xlsx"


def by(person, start):
    """Start a job as somebody."""
    context = contextvars.copy_context()
    context.run(PERSON.set, person)
    return context.run(start)


def test_a_person_has_one_job_at_a_time_and_holds_nobody_else(service):
    starts = {
        "look": lambda: service.look(ONE, "draw", {}),
        "preview": lambda: service.read_pool("pool.csv"),
        "begin": lambda: service.begin("New", "pool.csv", [], {}),
        "explain": lambda: service.do(ONE, "explain", {}),
        "undo": lambda: service.do(ONE, "undo", {}),
        "replay": lambda: service.backtest("pool.csv", {}),
    }
    holds = {
        (person, name): service.jobs.holds[by(person, start).id]
        for person in ("Ann", "Bob")
        for name, start in starts.items()
    }
    waits = {frozenset((one, two)) for one in holds for two in holds if one != two and holds[one] & holds[two]}
    own = [("look", "preview"), ("begin", "explain"), ("begin", "undo"), ("explain", "undo")]
    assert waits == {frozenset((p, name) for name in pair) for pair in own for p in ("Ann", "Bob")} | {
        frozenset((("Ann", "undo"), ("Bob", "undo")))
    }


def test_a_preview_ends_after_a_minute(service):
    assert service.jobs.seconds[service.read_pool("pool.csv").id] == 60


def test_a_job_is_stopped_by_who_started_it_alone(service):
    job = by("Ann", lambda: service.read_pool("pool.csv"))
    with pytest.raises(NotYoursError):
        by("Bob", lambda: service.stop(job.id))
    assert by("Ann", lambda: service.stop(job.id)) is job


def test_what_no_file_can_keep_is_refused_before_it_is_a_job(service):
    for value in ("\ud800", {"\udfff": 1}):
        with pytest.raises(ValueError, match="characters"):
            service.do(ONE, "suggest", {"changes": value})
    assert service.jobs.jobs == {}
