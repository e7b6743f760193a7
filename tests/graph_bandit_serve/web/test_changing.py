"""People who change campaigns by the forms of pages."""

import re

import pytest
from support.served import NAMES, POOL, VALUES, table

from graph_bandit_serve.access.keys import Access


def words_of(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))


def hidden(answer):
    return re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', answer.text)


@pytest.fixture
def page(robot):
    return f"/campaigns/{robot.start()}"


@pytest.fixture
def submit(robot, page):
    """Send a form of the page of the campaign as it is now."""
    return lambda action, *fields: robot.submit(f"{page}/{action}", [("version", robot.get(page)["version"]), *fields])


def suggested(robot, page):
    return robot.last(page.removeprefix("/campaigns/"))


def test_a_campaign_starts_from_two_files_and_names_the_rows_that_are_bad(robot):
    answer = robot.submit("/new/pool", file=("my pool.csv", POOL + b"bad,C(C\r\n"))
    assert "my pool.csv, line 42" in words_of(answer)
    fields = [("name", "My <b>first</b>"), ("goal-0", "logp"), ("aim-0", "maximize"), ("n", "3"), ("budget", "")]
    fields += [("pool", dict(hidden(answer))["pool"]), ("skip_bad_rows", "yes"), ("require", "mw<900"), ("forbid", "")]
    results = table(("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6]))
    answer = robot.submit("/new/campaign", fields, measured=("results.csv", results))
    assert "My-b-first-b" in words_of(answer)
    assert "results 6 pending 3" in words_of(answer)
    assert len(set(re.findall(r'name="value-0:(m\d+)"', answer.text))) == 3


def test_results_are_taken_back_and_rounds_undone(robot, page, submit):
    first = suggested(robot, page)
    submit("results", (f"value-0:{first[0]}", "1.5"), (f"value-0:{first[1]}", ">2"), (f"value-0:{first[2]}", "failed"))
    assert robot.get(page)["failed"] == first[2:]
    submit("suggest", ("n", "2"))
    submit("suggest", ("more", "yes"))
    assert "Round 2, the last one" in words_of(submit("undo"))
    submit("take-back", ("id", first[0]))
    assert [result["id"] for result in robot.get(page)["results"]] == first[1:2]


def test_a_page_of_an_old_version_changes_nothing_and_can_be_sent_again(robot, page, submit):
    first, old = suggested(robot, page), robot.get(page)["version"]
    submit("mark", ("kind", "comment"), ("id", first[0]), ("text", "ask"))
    answer = robot.submit(f"{page}/results", [("version", old), (f"value-0:{first[1]}", "1.5")])
    assert (answer.status_code, first[0] in words_of(answer)) == (412, True)
    assert robot.get(page)["results"] == []
    robot.submit(re.search(r'<form method="post" action="([^"]+)"', answer.text)[1], hidden(answer))
    assert [result["id"] for result in robot.get(page)["results"]] == [first[1]]


def test_a_table_of_results_is_looked_at_first(robot, page):
    first = suggested(robot, page)
    content = table(("id", "logp"), (first[0], 1.5), (first[1], "failed"))
    answer = robot.submit(f"{page}/upload", file=("new.csv", content))
    assert robot.get(page)["results"] == []
    robot.submit(f"{page}/accept", hidden(answer))
    assert [result["id"] for result in robot.get(page)["results"]] == [first[0]]
    answer = robot.submit(f"{page}/upload", file=("bad.csv", table(("id", "logp"), (first[2], "much"))))
    assert "bad.csv, line 2" in words_of(answer)


def test_explanations_stopping_advice_and_predictions_are_shown(robot, page, submit):
    submit("results", *((f"value-0:{name}", f"{VALUES[name]}") for name in suggested(robot, page)))
    answer = submit("why", ("id", "m30"))
    drawn = robot.ask(re.search(r'src="(/jobs/[^"]+/atoms/0/0.svg)"', answer.text)[1])
    assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/svg+xml")
    assert "m99" in words_of(submit("why", ("id", "m99")))
    assert "a better logp" in words_of(submit("enough"))
    submit("suggest")
    answer = robot.follow(robot.ask(f"{page}/predictions?sort=predicted_logp&falling=true&part=c1ccncc1"))
    values = [float(text) for text in re.findall(r"<tr><th.*?</th><td>.*?</td><td><bdi>([\d.-]+)</bdi>", answer.text)]
    assert values == sorted(values, reverse=True)
    assert 0 < len(values) < 40
    for query in ("sort=nothing", "part=c1cc"):
        assert robot.follow(robot.ask(f"{page}/predictions?{query}")).status_code == 422
    for kind in ("csv", "xlsx", "sdf"):
        answer = robot.follow(robot.ask(f"{page}/files/predictions.{kind}"))
        assert answer.headers["content-disposition"] == f'attachment; filename="predictions.{kind}"'
        assert len(answer.content) > 1000
    assert robot.ask(f"{page}/files/pool.csv").status_code == 422
    assert robot.ask(f"{page}/progress.svg").content.startswith(b"<svg")


def test_guests_see_no_forms(robot, page):
    token = robot.keys.invite(Access.GUEST)
    _, cookie = robot.enter(token)
    assert robot.enter(token)[0].status_code == 403
    for path in ("/", page):
        answer = robot.ask(path, headers=[cookie], key=False)
        assert (answer.status_code, "<form" in answer.text) == (200, False)
    assert robot.ask("/new", headers=[cookie], key=False).status_code == 403


def test_a_member_makes_a_link_for_somebody_else(robot):
    token = re.search(r"/enter\?token=([\w-]+)", robot.submit("/invite").text)[1]
    assert [robot.enter(token)[0].status_code for _ in range(2)] == [303, 403]
