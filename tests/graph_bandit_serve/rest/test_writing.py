"""Programs that change campaigns, asked without a network; the jobs run in a process as they do in a server."""

import pytest
from support.served import MOLECULES, NAMES, POOL, VALUES, table


def test_three_rounds_of_a_robot(robot):
    campaign = robot.start()
    for number in (1, 2, 3):
        entries = [{"id": name, "value": VALUES[name]} for name in robot.last(campaign)]
        robot.done(f"/campaigns/{campaign}/results", {"results": entries})
        result = robot.done(f"/campaigns/{campaign}/suggestions", {})
        assert (result["told"]["round"], result["version"]) == (number + 1, robot.version(campaign))
        assert list(result["told"]["suggested"]) == robot.last(campaign)
    assert len(robot.get(f"/campaigns/{campaign}")["results"]) == 9
    assert [each["id"] for each in robot.done(f"/campaigns/{campaign}/why", {"ids": ["m30"]})] == ["m30"]
    assert robot.done(f"/campaigns/{campaign}/enough", {})
    robot.done(f"/campaigns/{campaign}/undo", {})
    assert len(robot.get(f"/campaigns/{campaign}")["rounds"]) == 3
    assert sorted(path.name for path in (robot.folder / "One").iterdir() if path.name[0] != ".") == [
        *("pool.csv", "predictions.csv", "suggestions.campaign.json", "suggestions.csv", "suggestions.results.csv")
    ]


def test_an_old_version_and_a_second_request_of_one_key_are_told_by_their_status(robot):
    campaign, key = robot.start(), ("idempotency-key", "batch 2")
    known = ("if-match", f'"{robot.version(campaign)}"')
    once, again = (robot.post(f"/campaigns/{campaign}/suggestions", {"more": True}, key).json() for _ in range(2))
    assert once["id"] == again["id"]
    assert robot.post(f"/campaigns/{campaign}/suggestions", {"more": False}, key).status_code == 409
    assert robot.post(f"/campaigns/{campaign}/suggestions", {"more": True}, known).status_code == 412


def test_tables_are_looked_at_before_they_are_taken_in(robot):
    campaign = robot.start()
    first, before = robot.last(campaign), robot.version(campaign)
    upload = robot.send("new.csv", table(("id", "logp"), (first[0], 1.5), (first[1], ">2"), (first[2], "failed")))
    preview = robot.done(f"/campaigns/{campaign}/results/preview", {"table": upload})
    assert (preview["values"], preview["bounds"], preview["failed"]) == (1, [f"{first[1]} (>2)"], [first[2]])
    assert robot.version(campaign) == before
    robot.done(f"/campaigns/{campaign}/results/table", {"table": upload})
    view = robot.get(f"/campaigns/{campaign}")
    assert (view["pending"], view["failed"]) == ([], [first[2]])
    assert robot.post(f"/campaigns/{campaign}/results/table", {"table": upload}).status_code == 404
    preview = robot.done(
        "/pools/preview", {"pool": robot.send("p.csv", table(("id", "smiles"), ("a", "C"), ("b", "C(C")))}
    )
    assert (preview["count"], preview["bad_count"]) == (1, 1)
    (robot.folder / "sub").mkdir()
    (robot.folder / "sub" / "pool.csv").write_bytes(POOL)
    assert "sub/pool.csv" in robot.get("/tables")["tables"]
    assert robot.done("/pools/preview", {"pool": "sub/pool.csv"})["count"] == len(NAMES)


WRONG = [
    ("/suggestions", {"changes": {"agent": "os:system"}}, "agent"),
    ("/suggestions", {"changes": {"forbid": ["/etc/x.txt"]}}, "x.txt"),
    ("/suggestions", {"changes": {"only": 5}}, "only"),
    ("/suggestions", {"mroe": True}, "mroe"),
    ("/results/take-back", {"ids": ["m1"]}, "m1"),
]


def test_what_is_wrong_is_refused_and_nothing_changes(robot):
    campaign = robot.start()
    before = robot.version(campaign)
    for path, content, word in WRONG:
        answer = robot.post(f"/campaigns/{campaign}{path}", content)
        assert (answer.status_code, word in answer.json()["detail"]) == (422, True), path
    assert robot.version(campaign) == before


@pytest.mark.slow
def test_a_finished_table_is_replayed(robot):
    rows = zip(NAMES, MOLECULES.smiles, VALUES.values(), strict=True)
    (robot.folder / "done.csv").write_bytes(table(("id", "smiles", "logp"), *rows))
    settings = {"maximize": "logp", "n": [4], "starts": 5, "budget": 18, "agents": ["molecule-greedy"], "baselines": []}
    text = robot.done("/backtests", {"table": "done.csv", "settings": settings})
    assert "40 molecules with logp; 5 random starts of 10, 18 measurements in all" in text
    assert f"{robot.folder}" not in text
