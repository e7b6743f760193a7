import errno
import shutil
from contextlib import closing

from support.served import Served, write_campaign

from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs

ONE = key_of("one.campaign.json")


def test_what_is_wrong_with_a_request_is_told_as_json_or_as_a_page(served):
    answer = served.post(f"/campaigns/{ONE}/tell", {"results": [{"id": None, "value": 1}], "<b>": 1})
    assert (answer.status_code, "`body.results.0.id`" in answer.json()["detail"]) == (422, True)
    answer = served.ask(f"/campaigns/{ONE}?tab=none")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "text/html; charset=utf-8")
    assert "ValidationError" not in served.ask("/api/v1/openapi.json").text


def test_a_full_disk_is_told_as_such_to_people_and_programs(served, monkeypatch):
    def fill(content, file):
        raise OSError(errno.ENOSPC, "a secret")

    monkeypatch.setattr(shutil, "copyfileobj", fill)
    octets = [("content-type", "application/octet-stream")]
    answer = served.ask("/api/v1/uploads?name=a.csv", "POST", octets, content=b"id\n")
    assert (answer.status_code, "secret" in answer.text) == (507, False)


def test_a_server_with_too_much_to_do_says_so_and_goes_on(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    limits = {"workers": 1, "waiting_jobs": 1}
    with closing(Jobs(ServerLimits(**limits), "support.operations:OPERATIONS")) as jobs:
        served = Served(tmp_path, jobs=jobs, **limits)
        holding, waiting = jobs.start("hold", {}), jobs.start("echo", {})
        assert served.post(f"/campaigns/{ONE}/undo", {}).status_code == 503
        assert served.ask(f"/campaigns/{ONE}").status_code == 200
        jobs.stop(holding.id)
        assert jobs.wait(waiting.id, 60).status == "done"
