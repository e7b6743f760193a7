import pytest
from support.served import write_campaign

from graph_bandit_campaign import digest_of
from graph_bandit_serve.campaigns.folder import key_of

KEY = key_of("one.campaign.json")


def test_the_list_has_a_line_for_each_campaign(served, tmp_path):
    (campaign,) = served.get("/campaigns")["campaigns"]
    assert campaign == {
        "id": KEY,
        "name": "one",
        "version": digest_of((tmp_path / "one.campaign.json").read_bytes()),
        "problem": None,
        "goals": ["maximize affinity"],
        "results": 2,
        "pending": 1,
        "failed": 1,
        "rounds": 1,
    }


@pytest.mark.parametrize("place", ["/api/v1/campaigns", f"/api/v1/campaigns/{KEY}"])
def test_a_version_that_is_known_is_not_sent_again(place, served, tmp_path):
    first = served.ask(place)
    known = [("if-none-match", first.headers["etag"])]
    again = served.ask(place, headers=known)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    write_campaign(tmp_path / "one.campaign.json", pending=[], target="affinity of something else")
    assert served.ask(place, headers=known).headers["etag"] != first.headers["etag"]


def test_openapi_describes_every_field(served):
    schema = served.get("/openapi.json")
    for methods in schema["paths"].values():
        assert all(operation["description"] for operation in methods.values())
    for name, kind in schema["components"]["schemas"].items():
        if not name.startswith(("HTTP", "Validation", "JsonValue")):
            assert kind["description"]
            assert all(about["description"] for about in kind["properties"].values()), name
