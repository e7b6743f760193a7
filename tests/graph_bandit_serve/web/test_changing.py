"""People who change campaigns by the forms of pages."""

import re

from support.robot import NAMES, POOL, VALUES, table
from support.served import Elements


def words_of(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))


def version(robot, campaign):
    return ("version", robot.version(campaign))


def test_a_campaign_starts_from_two_files_and_names_the_rows_that_are_bad(robot):
    pool = POOL + b"bad,C(C\r\n"
    answer = robot.submit("/new/pool", files=[("file", "my pool.csv", pool)])
    answer.assert_safe()
    assert "40 molecules that can be read" in words_of(answer)
    assert "my pool.csv, line 42: RDKit reads no molecule" in words_of(answer)
    hidden = re.search(r'name="pool" value="(upload:\w+)"', answer.text)[1]
    results = table(("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6]))
    fields = [("pool", hidden), ("name", "My <b>first</b>"), ("goal-0", "logp"), ("aim-0", "maximize"), ("n", "3")]
    fields += [("skip_bad_rows", "yes"), ("require", "mw<900"), ("forbid", ""), ("budget", "")]
    answer = robot.submit("/new/campaign", fields, [("measured", "results.csv", results)])
    answer.assert_safe()
    assert "My-b-first-b" in words_of(answer)
    assert "results 6 pending 3" in words_of(answer)
    assert len(set(re.findall(r'name="value-0:(m\d+)"', answer.text))) == 3


def test_results_are_typed_and_the_next_round_is_asked_for(robot):
    campaign = robot.start()
    first, page = robot.last(campaign), f"/campaigns/{campaign}"
    fields = [
        version(robot, campaign),
        (f"value-0:{first[0]}", "1.5"),
        (f"value-0:{first[1]}", ">2"),
        ("value-0:x", ""),
    ]
    answer = robot.submit(f"{page}/results", [*fields, (f"value-0:{first[2]}", "failed")])
    answer.assert_safe()
    assert f"These could not be measured: {first[2]}" in words_of(answer)
    answer = robot.submit(f"{page}/suggest", [version(robot, campaign), ("n", "2"), ("require", "mw<900\nhbd<9")])
    answer.assert_safe()
    assert "Round 2, the last one" in words_of(answer)
    assert len(robot.last(campaign)) == 2
    assert [result["id"] for result in robot.get(page).json()["results"]] == first[:2]
    robot.submit(f"{page}/take-back", [version(robot, campaign), ("id", first[0])])
    assert [result["id"] for result in robot.get(page).json()["results"]] == first[1:2]
    before = robot.version(campaign)
    for value in ("much", "1,500", "nan"):
        answer = robot.submit(f"{page}/results", [("version", before), (f"value-0:{first[0]}", value)])
        assert (answer.status, value in words_of(answer)) == (422, True)
    assert robot.version(campaign) == before


def test_a_veto_has_another_in_its_place_at_once(robot):
    campaign = robot.start()
    first, page = robot.last(campaign), f"/campaigns/{campaign}"
    fields = [version(robot, campaign), ("kind", "veto"), ("id", first[0]), ("text", "<i>no</i> stock"), ("by", "Ann")]
    answer = robot.submit(f"{page}/mark", fields)
    answer.assert_safe()
    assert f"{first[0]} ( &lt;i&gt;no&lt;/i&gt; stock , by Ann )" in words_of(answer)
    assert first[0] not in robot.last(campaign)
    assert len(robot.last(campaign)) == 3
    answer = robot.submit(f"{page}/mark", [version(robot, campaign), ("kind", "lift"), ("id", first[0])])
    assert robot.get(page).json()["vetoed"] == []


def test_a_page_of_an_old_version_changes_nothing_and_can_be_sent_again(robot):
    campaign = robot.start()
    first, page, old = robot.last(campaign), f"/campaigns/{campaign}", robot.version(campaign)
    robot.submit(f"{page}/mark", [("version", old), ("kind", "comment"), ("id", first[0]), ("text", "ask")])
    answer = robot.submit(f"{page}/results", [("version", old), (f"value-0:{first[1]}", "1.5")])
    answer.assert_safe()
    assert answer.status == 412
    assert f"comments on {first[0]}" in words_of(answer)
    assert robot.get(page).json()["results"] == []
    action = re.search(r'<form method="post" action="([^"]+)"', answer.text)[1]
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', answer.text)
    robot.submit(action, fields)
    assert [result["id"] for result in robot.get(page).json()["results"]] == [first[1]]


def test_a_table_of_results_is_looked_at_first(robot):
    campaign = robot.start()
    first, page = robot.last(campaign), f"/campaigns/{campaign}"
    content = table(("id", "logp"), (first[0], 1.5), (first[1], "failed"))
    answer = robot.submit(f"{page}/upload", files=[("file", "new.csv", content)])
    answer.assert_safe()
    assert "there would be 1 values, 1 failed; there are 0 results now" in words_of(answer)
    assert robot.get(page).json()["results"] == []
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', answer.text)
    robot.submit(f"{page}/accept", fields)
    assert [result["id"] for result in robot.get(page).json()["results"]] == [first[0]]
    answer = robot.submit(f"{page}/upload", files=[("file", "bad.csv", table(("id", "logp"), (first[2], "much")))])
    assert "bad.csv, line 2" in words_of(answer)


def test_a_round_is_undone_and_another_batch_asked_for(robot):
    campaign = robot.start()
    page = f"/campaigns/{campaign}"
    assert "Another batch, although no result has come in" in words_of(robot.page(page))
    answer = robot.submit(f"{page}/suggest", [version(robot, campaign), ("more", "yes")])
    assert "Round 2, the last one" in words_of(answer)
    answer = robot.submit(f"{page}/undo", [version(robot, campaign)])
    assert "Round 1, the last one" in words_of(answer)


def test_why_and_whether_it_is_enough_are_told(robot):
    campaign = robot.start()
    page = f"/campaigns/{campaign}"
    entries = [(f"value-0:{name}", f"{VALUES[name]}") for name in robot.last(campaign)]
    robot.submit(f"{page}/results", [version(robot, campaign), *entries])
    answer = robot.submit(f"{page}/why", [("id", "m30")])
    answer.assert_safe()
    assert "What the score is the sum of" in words_of(answer)
    drawn = robot.page(re.search(r'src="(/jobs/[^"]+/atoms/0/0.svg)"', answer.text)[1])
    assert (drawn.status, drawn.headers["content-type"]) == (200, "image/svg+xml")
    assert robot.page(re.search(r'src="(/jobs/[^"]+)0.svg"', answer.text)[1] + "1.svg").status == 404
    answer = robot.submit(f"{page}/enough")
    answer.assert_safe()
    assert "a better logp" in words_of(answer)
    assert "m99" in words_of(robot.submit(f"{page}/why", [("id", "m99")]))


def test_predictions_are_sorted_filtered_and_downloaded(robot):
    campaign = robot.start()
    page = f"/campaigns/{campaign}"
    entries = [(f"value-0:{name}", f"{VALUES[name]}") for name in robot.last(campaign)]
    robot.submit(f"{page}/results", [version(robot, campaign), *entries])
    robot.submit(f"{page}/suggest", [version(robot, campaign)])
    answer = robot.follow(robot.page(f"{page}/predictions", "sort=predicted_logp&falling=true&part=c1ccncc1"))
    answer.assert_safe()
    values = [float(text) for text in re.findall(r"<tr><th.*?</th><td>.*?</td><td><bdi>([\d.-]+)</bdi>", answer.text)]
    assert values == sorted(values, reverse=True)
    assert 0 < len(values) < 40
    for query in ("sort=nothing", "part=c1cc"):
        assert robot.follow(robot.page(f"{page}/predictions", query)).status == 422
    for kind in ("csv", "xlsx", "sdf"):
        answer = robot.follow(robot.page(f"{page}/files/predictions.{kind}"))
        assert answer.headers["content-disposition"] == f'attachment; filename="predictions.{kind}"'
        assert len(answer.body) > 1000
    assert robot.page(f"{page}/files/pool.csv").status == 422
    assert robot.page(f"{page}/progress.svg").body.startswith(b"<svg")


def test_guests_see_no_forms(robot):
    campaign = robot.start()
    app = robot.served
    token = app.keys.invite(type(app.keys.of_program(app.keys.program)).GUEST)
    entered = app.ask("/enter", key=False, query=f"token={token}")
    cookie = ("cookie", entered.headers["set-cookie"].partition(";")[0])
    for path in ("/", f"/campaigns/{campaign}"):
        answer = app.ask(path, headers=[cookie], key=False)
        assert answer.status == 200
        assert "form" not in Elements(answer.text).tags
    assert app.ask("/new", headers=[cookie], key=False).status == 403


def test_a_member_makes_a_link_for_somebody_else(robot):
    link = re.search(r"/enter\?token=([\w-]+)", robot.submit("/invite").text)[1]
    assert robot.served.ask("/enter", key=False, query=f"token={link}").status == 303
    assert robot.served.ask("/enter", key=False, query=f"token={link}").status == 403
