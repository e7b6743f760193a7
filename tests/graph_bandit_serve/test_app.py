import pytest
from support.served import serve_app, write_campaign


@pytest.fixture
def served(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    return serve_app(tmp_path)


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json", "/docs/oauth2-redirect"])
def test_pages_of_the_framework_that_load_from_elsewhere_are_off(path, served):
    assert served.ask(path).status == 404


@pytest.mark.parametrize("path", ["/api/", "/api/v1/campaigns/", "/campaigns/", "/style.css/"])
def test_no_address_leads_on_to_another_one(path, served):
    assert served.ask(path).status == 404


def test_a_method_that_is_not_there_says_which_are(served):
    answer = served.ask("/api/v1/campaigns", "DELETE")
    assert (answer.status, answer.headers["allow"]) == (405, "GET")
    answer.assert_headers()


def test_an_error_in_a_page_is_not_shown(served, monkeypatch):
    def fail(self):
        raise ValueError("a secret")

    monkeypatch.setattr("graph_bandit_serve.campaigns.shelf.Shelf.list_campaigns", fail)
    for path in ("/", "/api/v1/campaigns"):
        answer = served.ask(path)
        assert answer.status == 500
        answer.assert_headers()
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
