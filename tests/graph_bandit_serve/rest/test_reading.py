import pytest
from support.served import serve_app, write_campaign

from graph_bandit_campaign import digest_of
from graph_bandit_serve.campaigns.folder import key_of

KEY = key_of("sub/one.campaign.json")


@pytest.fixture
def path(tmp_path):
    return write_campaign(tmp_path / "sub" / "one.campaign.json")


@pytest.fixture
def served(path, tmp_path):
    return serve_app(tmp_path)


def test_the_list_has_a_line_for_each_campaign(served, path):
    answer = served.ask("/api/v1/campaigns")
    (campaign,) = answer.json()["campaigns"]
    assert campaign == {
        "id": KEY,
        "name": "sub/one",
        "version": digest_of(path.read_bytes()),
        "problem": None,
        "goals": ["maximize affinity"],
        "results": 2,
        "pending": 1,
        "failed": 1,
        "rounds": 1,
    }
    assert answer.json()["is_cut"] is False


def test_a_campaign_has_all_that_its_file_has(served, path):
    view = served.ask(f"/api/v1/campaigns/{KEY}").json()
    assert view["version"] == digest_of(path.read_bytes())
    assert view["agent"] == "molecule-ucb"
    assert [(one["id"], one["value"], one["round"]) for one in view["results"]] == [("z", 0.5, 0), ("a", 2.0, 1)]
    assert view["pending"] == [{"id": "c", "smiles": "CCN"}]
    assert view["failed"] == ["b"]
    assert view["best"] == [{"goal": "affinity", "id": "a", "value": 2.0}]
    assert [one["status"] for one in view["rounds"][0]["suggestions"]] == ["measured", "failed", "pending"]


@pytest.mark.parametrize("place", ["/api/v1/campaigns", f"/api/v1/campaigns/{KEY}"])
def test_a_version_that_is_known_is_not_sent_again(place, served, path):
    first = served.ask(place)
    known = [("if-none-match", first.headers["etag"])]
    again = served.ask(place, headers=known)
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    again.assert_headers()
    write_campaign(path, pending=[], target="affinity of something else")
    changed = served.ask(place, headers=known)
    assert changed.status == 200
    assert changed.headers["etag"] != first.headers["etag"]


def test_openapi_describes_every_field(served):
    schema = served.ask("/api/v1/openapi.json").json()
    paths = schema["paths"].keys()
    assert {"/api/v1/campaigns", "/api/v1/campaigns/{campaign}/suggestions", "/api/v1/jobs/{job}"} <= paths
    for methods in schema["paths"].values():
        assert all(operation["description"] for operation in methods.values())
    for name, kind in schema["components"]["schemas"].items():
        if not name.startswith(("HTTP", "Validation", "JsonValue")):
            assert kind["description"]
            assert all(about["description"] for about in kind["properties"].values()), name
