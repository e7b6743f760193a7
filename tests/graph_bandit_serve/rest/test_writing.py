"""Programs that change campaigns, asked without a network; the jobs run in a process as they do in a server."""

import pytest
from support.robot import MOLECULES, NAMES, POOL, VALUES, table


def test_three_rounds_of_a_robot(robot):
    campaign = robot.start()
    for number in (1, 2, 3):
        entries = [{"id": name, "value": VALUES[name]} for name in robot.last(campaign)]
        robot.done(f"/campaigns/{campaign}/results", {"results": entries})
        result = robot.done(f"/campaigns/{campaign}/suggestions", {})
        assert result["told"]["round"] == number + 1
        assert result["version"] == robot.version(campaign)
        assert list(result["told"]["suggested"]) == robot.last(campaign)
    view = robot.get(f"/campaigns/{campaign}").json()
    assert len(view["results"]) == 9
    assert sorted(path.name for path in (robot.folder / "One").iterdir() if path.name[0] != ".") == [
        *("pool.csv", "predictions.csv", "suggestions.campaign.json", "suggestions.csv", "suggestions.results.csv")
    ]


def test_a_veto_and_what_is_said_of_molecules(robot):
    campaign = robot.start()
    first = robot.last(campaign)
    robot.done(f"/campaigns/{campaign}/comments", {"id": first[0], "text": "ask Bob", "by": "Ann"})
    result = robot.done(f"/campaigns/{campaign}/vetoes", {"id": first[1], "text": "no stock", "by": "Ann"})
    assert first[1] not in result["told"]["suggested"]
    robot.done(f"/campaigns/{campaign}/lifts", {"id": first[1]})
    robot.done(f"/campaigns/{campaign}/pins", {"id": first[1]})
    view = robot.get(f"/campaigns/{campaign}").json()
    assert (view["pinned"], view["vetoed"]) == ([first[1]], [])
    assert view["comments"] == [{"id": first[0], "text": "ask Bob", "by": "Ann", "round": 1}]
    why = robot.done(f"/campaigns/{campaign}/why", {"ids": first[:1]})
    assert [each["id"] for each in why] == first[:1]
    assert "cannot be said yet" in robot.done(f"/campaigns/{campaign}/enough", {})
    robot.done(f"/campaigns/{campaign}/undo", {})
    assert robot.get(f"/campaigns/{campaign}").json()["rounds"] == []


def test_an_old_version_is_refused_with_what_has_changed(robot):
    campaign = robot.start()
    first, old = robot.last(campaign), robot.version(campaign)
    known = ("if-match", f'"{old}"')
    robot.done(f"/campaigns/{campaign}/results", {"results": [{"id": first[0], "value": 1.5}]}, known)
    now = robot.version(campaign)
    answer = robot.post(f"/campaigns/{campaign}/suggestions", {"more": True}, known)
    assert answer.status == 412
    said = f"Expected version {now}. Since version {old}: results came in of {first[0]}."
    assert answer.json()["detail"].startswith(said)
    assert robot.version(campaign) == now


def test_the_same_request_with_the_same_key_is_done_once(robot):
    campaign = robot.start()
    key = ("idempotency-key", "batch 2")
    once = robot.post(f"/campaigns/{campaign}/suggestions", {"more": True}, key).json()
    again = robot.post(f"/campaigns/{campaign}/suggestions", {"more": True}, key).json()
    assert once["id"] == again["id"]
    assert len(robot.get(f"/campaigns/{campaign}").json()["rounds"]) == 2
    answer = robot.post(f"/campaigns/{campaign}/suggestions", {"more": False}, key)
    assert answer.status == 409
    assert "key" in answer.json()["detail"]


def test_a_table_of_results_is_looked_at_before_it_is_taken_in(robot):
    campaign = robot.start()
    first, before = robot.last(campaign), robot.version(campaign)
    rows = [("id", "logp"), (first[0], 1.5), (first[1], ">2"), (first[2], "failed")]
    upload = robot.send("new.csv", table(*rows)).json()["table"]
    preview = robot.done(f"/campaigns/{campaign}/results/preview", {"table": upload})
    assert (preview["values"], preview["bounds"], preview["failed"]) == (1, [f"{first[1]} (>2)"], [first[2]])
    assert robot.version(campaign) == before
    robot.done(f"/campaigns/{campaign}/results/table", {"table": upload})
    view = robot.get(f"/campaigns/{campaign}").json()
    assert (view["pending"], view["failed"]) == ([], [first[2]])
    assert (robot.folder / "One" / "suggestions.results-2.csv").is_file()
    answer = robot.post(f"/campaigns/{campaign}/results/table", {"table": upload})
    assert answer.status == 404


def test_a_pool_is_looked_at(robot):
    upload = robot.send("molecules.csv", table(("id", "smiles", "price"), ("a", "CCO", 3), ("b", "C(C", 4))).json()
    preview = robot.done("/pools/preview", {"pool": upload["table"]})
    assert (preview["count"], preview["bad_count"]) == (1, 1)
    (robot.folder / "sub").mkdir()
    (robot.folder / "sub" / "pool.csv").write_bytes(POOL)
    assert robot.get("/tables").json() == {"tables": ["sub/pool.csv"], "is_cut": False}
    assert robot.done("/pools/preview", {"pool": "sub/pool.csv"})["count"] == len(NAMES)


WRONG = [
    ("/suggestions", {"changes": {"agent": "os:system"}}, "agent"),
    ("/suggestions", {"changes": {"out": "/tmp/x.csv"}}, "out"),
    ("/suggestions", {"changes": {"forbid": ["/etc/x.txt"]}}, "x.txt"),
    ("/suggestions", {"changes": {"only": 5}}, "only"),
    ("/suggestions", {"mroe": True}, "mroe"),
    ("/results", {"results": [{"id": "m1", "value": "much"}]}, "much"),
    ("/vetoes", {"id": "nobody"}, "nobody"),
    ("/comments", {"id": "m1", "text": ""}, ""),
    ("/results/take-back", {"ids": ["m1"]}, "m1"),
]


def test_what_is_wrong_is_refused_and_nothing_changes(robot):
    campaign = robot.start()
    before = robot.version(campaign)
    for path, content, word in WRONG:
        answer = robot.post(f"/campaigns/{campaign}{path}", content)
        assert answer.status == 422, path
        assert word in answer.json()["detail"]
    assert robot.version(campaign) == before


@pytest.mark.slow
def test_a_finished_table_is_replayed(robot):
    rows = zip(NAMES, MOLECULES.smiles, VALUES.values(), strict=True)
    (robot.folder / "done.csv").write_bytes(table(("id", "smiles", "logp"), *rows))
    settings = {"maximize": "logp", "n": [4], "starts": 5, "budget": 18, "agents": ["molecule-greedy"], "baselines": []}
    text = robot.done("/backtests", {"table": "done.csv", "settings": settings})
    assert "40 molecules with logp; 5 random starts of 10, 18 measurements in all" in text
    assert f"{robot.folder}" not in text
    assert [path for path in text.splitlines() if path.startswith("backtests/done-")]
