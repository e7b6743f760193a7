"""What people, programs and models ask for becomes jobs: which of them wait, and who stops them."""

import asyncio
import errno
import shutil
from contextlib import closing
from itertools import combinations
from types import SimpleNamespace

import anyio
import pytest
from support.ended import have_ended
from support.served import Served, write_campaign
from support.tooled import Tooled

from graph_bandit_serve.access.keys import PERSON
from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.operations import Ids, Look, New, Nothing, Rows
from graph_bandit_serve.service import Service
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs

ONE = key_of("one.campaign.json")
ASKED = {
    "rows": (Rows(), ONE),
    "look": (Look(pool="pool.csv"),),
    "new": (New(name="New", pool="pool.csv"),),
    "explain": (Ids(ids=["a"]), ONE),
    "undo": (Nothing(), ONE),
}
WAIT = [("rows", "look"), ("new", "explain"), ("new", "undo"), ("explain", "undo")]
"""Which jobs of one person wait for each other."""


def test_a_person_has_one_job_at_a_time_and_holds_nobody_else(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    (tmp_path / "pool.csv").write_text("id,smiles\n")
    service = Service(tmp_path, SimpleNamespace(start=lambda *given: given), ServerLimits())
    holds, people = {}, ("Ann", "Bob")
    for person in people:
        token = PERSON.set(person)
        for name, asked in ASKED.items():
            _, _, names, seconds, *_ = service.start(name, *asked)
            assert (seconds == 60) == (name in ("rows", "look"))  # after which it is given up
            holds[person, name] = {*names}
        PERSON.reset(token)
    waits = {(one, two) for one, two in combinations(holds, 2) if holds[one] & holds[two]}
    own = {((person, one), (person, two)) for person in people for one, two in WAIT}
    assert waits == own | {(("Ann", "undo"), ("Bob", "undo"))}


@pytest.fixture(scope="module")
def odd_jobs():
    """Jobs whose operations do what a test asks for, good or bad."""
    with closing(Jobs(ServerLimits(), "support.operations:OPERATIONS")) as jobs:
        yield jobs


def test_a_job_is_stopped_by_who_started_it_alone(tmp_path, odd_jobs):
    served = Served(tmp_path, jobs=odd_jobs)
    mine, other, last = (odd_jobs.start("hold", {}, person=person).id for person in ("program", "Bob", "program"))
    assert {view["id"]: view["is_mine"] for view in served.get("/jobs")} == {mine: True, other: False, last: True}
    assert served.post(f"/jobs/{other}/stop", {}).status_code == 403
    odd_jobs.stop(other)
    assert [served.post(f"/jobs/{each}/stop", {}).json()["status"] for each in (mine, last)] == ["stopped"] * 2
    assert served.get(f"/jobs/{last}?wait=15")["status"] == "stopped"
    assert served.post("/jobs/guess/stop", {}).status_code == 404


def test_a_model_hears_of_progress_and_its_job_is_stopped_when_it_gives_up(tmp_path, odd_jobs):
    heard, tooled = [], Tooled(tmp_path, odd_jobs)
    tooled.service.start = lambda *asked: odd_jobs.start("hold", {})

    async def give_up(client):
        with anyio.CancelScope() as scope:

            async def keep(progress, total, message):
                if message[0].isdigit():
                    heard.append(message)
                    scope.cancel()

            await client.call_tool("look", {"asked": {"pool": "any"}}, progress_callback=keep)
        while odd_jobs.queue():
            await asyncio.sleep(0.05)

    tooled.ask(give_up)
    assert have_ended(map(int, heard[0].split()[:2]))


def test_too_much_to_do_and_a_full_disk_are_told_as_such_and_pages_go_on(tmp_path, monkeypatch):
    def fill(content, file):
        raise OSError(errno.ENOSPC, "a secret")

    write_campaign(tmp_path / "one.campaign.json")
    served = Served(tmp_path, workers=0, waiting_jobs=0)
    assert served.post(f"/campaigns/{ONE}/undo", {}).status_code == 503
    monkeypatch.setattr(shutil, "copyfileobj", fill)
    octets = [("content-type", "application/octet-stream")]
    answer = served.ask("/api/v1/uploads?name=a.csv", "POST", octets, content=b"id\n")
    assert (answer.status_code, "secret" in answer.text) == (507, False)
    assert served.ask(f"/campaigns/{ONE}").status_code == 200
