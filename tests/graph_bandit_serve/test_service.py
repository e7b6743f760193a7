"""What pages, REST and MCP ask for becomes jobs, once each; no process runs here."""

import io

import pytest
from support.served import write_campaign

from graph_bandit_serve.campaigns.folder import CampaignFolder, key_of
from graph_bandit_serve.campaigns.shelf import Shelf
from graph_bandit_serve.campaigns.uploads import Uploads
from graph_bandit_serve.service import REPLAYS, KeyUsedError, Service, UnknownError
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Job

ONE = key_of("one.campaign.json")


class Noted:
    """Jobs that are noted down, and never run."""

    def __init__(self):
        self.jobs, self.arguments = {}, {}

    def start(self, queue, operation, arguments, seconds=None):
        job = Job(f"job {len(self.jobs)}", queue, operation)
        self.jobs[job.id], self.arguments[job.id] = job, arguments
        return job

    def get(self, job_id):
        return self.jobs.get(job_id)


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


def test_a_long_replay_holds_nobody_else(service):
    replay = service.backtest("pool.csv", {})
    others = [service.read_pool("pool.csv"), service.begin("New", "pool.csv", [], {}), service.do(ONE, "undo", {})]
    assert replay.campaign == REPLAYS
    assert len({job.campaign for job in others} | {REPLAYS}) == 4


def test_what_no_file_can_keep_is_refused_before_it_is_a_job(service):
    for value in ("\ud800", {"\udfff": 1}):
        with pytest.raises(ValueError, match="characters"):
            service.do(ONE, "suggest", {"changes": value})
    assert service.jobs.jobs == {}
