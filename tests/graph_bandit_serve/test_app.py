import errno
import json
import shutil
from contextlib import closing

import pytest
from support.served import serve_app, write_campaign

from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs

ONE = key_of("one.campaign.json")
ORIGIN = ("content-type", "application/x-www-form-urlencoded")


@pytest.fixture
def served(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    return serve_app(tmp_path)


def test_what_is_wrong_with_a_request_is_told_in_words_that_can_be_sent(served):
    body = json.dumps({"results": [{"id": float("nan"), "value": 1}], "<b>": 1}).encode()
    json_kind = ("content-type", "application/json")
    answer = served.ask(f"/api/v1/campaigns/{ONE}/results", "POST", [json_kind], body=body)
    assert answer.status == 422
    assert answer.json()["detail"].startswith("Expected other fields. `body.results.0.id`: ")
    answer = served.ask(f"/campaigns/{ONE}/predictions", query="page=0")
    assert (answer.status, answer.headers["content-type"]) == (422, "text/html; charset=utf-8")
    answer.assert_safe()
    assert "ValidationError" not in served.ask("/api/v1/openapi.json").text


def test_a_full_disk_is_told_as_such_to_people_and_programs(served, monkeypatch):
    def fill(content, file):
        raise OSError(errno.ENOSPC, "a secret")

    monkeypatch.setattr(shutil, "copyfileobj", fill)
    kind = ("content-type", "application/octet-stream")
    answer = served.ask("/api/v1/uploads", "POST", [kind], query="name=a.csv", body=b"id\n")
    assert (answer.status, "secret" in answer.text) == (507, False)
    part = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nid\r\n--x--\r\n'
    kind = ("content-type", "multipart/form-data; boundary=x")
    for path in (f"/campaigns/{ONE}/upload", "/new/pool"):
        answer = served.ask(path, "POST", [kind], body=part)
        assert (answer.status, "secret" in answer.text) == (507, False)
        answer.assert_safe()


def test_a_server_with_too_much_to_do_says_so_and_goes_on(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    limits = {"workers": 1, "waiting_jobs": 1}
    with closing(Jobs(ServerLimits(**limits), "support.operations:OPERATIONS")) as jobs:
        served = serve_app(tmp_path, jobs=jobs, **limits)
        holding, waiting = jobs.start("hold", {}), jobs.start("echo", {})
        for path in (f"/api/v1/campaigns/{ONE}/undo", f"/campaigns/{ONE}/undo"):
            answer = served.ask(path, "POST", [ORIGIN], body=b"a=b")
            assert (answer.status, "jobs to wait" in answer.text) == (503, True)
        assert served.ask(f"/campaigns/{ONE}/progress.svg").status == 503
        assert served.ask(f"/campaigns/{ONE}").status == 200
        jobs.stop(holding.id)
        assert jobs.wait(waiting.id, 60).status == "done"
