"""People at a real browser, with the real command: from an empty folder to a best molecule, two at once, and a stop."""

import json
import re
from contextlib import contextmanager

import pytest
from support.browser import Visitor, browsing, card_of, field_of, heading, press, save
from support.served import NAMES, POOL, VALUES, Running, table

from graph_bandit_cli.main import main

COMMAND = ["suggest", "pool.csv", "--n", "4", "--maximize", "logp", "--out", "suggestions.csv", "--predictions"]
COMMAND += ["predictions.csv", "--measured"]
TIME = re.compile(rb"\d{4}-\d\d-\d\dT[\d:]+Z")


@pytest.fixture(scope="module")
def browser():
    with browsing() as browser:
        yield browser


@contextmanager
def serving(folder):
    """Yield the first link of the command."""
    running = Running(folder)
    try:
        yield f"{running.address}/enter?token={running.tokens[0]}"
    finally:
        said = running.stop()
    assert "Traceback" not in said


def files_of(folder):
    """Return what the files hold, but for the times at which something was told."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}
    return {name: TIME.sub(b"", content) for name, content in files.items()}


def state_of(folder):
    return json.loads((folder / "suggestions.campaign.json").read_text(encoding="utf-8"))


def last(folder):
    return [suggestion["id"] for suggestion in state_of(folder)["rounds"][-1]]


def by_command(folder, monkeypatch, *flags, files):
    """Return the files that the command makes in a new folder of some files."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with monkeypatch.context() as there:
        there.chdir(folder)
        assert main([*COMMAND, *flags]) == 0
    return files_of(folder)


def test_a_team_goes_from_an_empty_folder_to_a_best_molecule(browser, tmp_path, monkeypatch):
    folder, sent = tmp_path / "served", tmp_path / "sent"
    folder.mkdir()
    sent.mkdir()
    pool = POOL + b"bad,C(C\r\n"
    results = table(("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6]))
    for name, content in (("pool.csv", pool), ("results.csv", results)):
        (sent / name).write_bytes(content)
    with serving(folder) as link:
        ann = Visitor(browser, link)
        page = ann.page
        assert "token" not in page.url
        assert page.get_by_text("There are no campaigns in this folder yet.").is_visible()
        ann.look("01-empty")
        page.get_by_role("link", name="New campaign").click()
        heading(page, "New campaign")
        ann.look("02-new")
        page.get_by_label("File").set_input_files(sent / "pool.csv")
        press(page, "Look at it")
        heading(page, "1 row that cannot be read")
        assert "pool.csv, line 42" in page.locator(".said").inner_text()
        ann.look("04-goals")
        page.get_by_label("Name of the campaign").fill("Größere Löslichkeit 2")
        page.get_by_label("Leave out the rows").check()
        page.get_by_label("Goal 1").fill("logp")
        page.get_by_label("Table with a column of ids").set_input_files(sent / "results.csv")
        page.get_by_label("How many to suggest").fill("4")
        press(page, "Start the campaign")
        heading(page, "Round 1")
        (place,) = [path for path in folder.iterdir() if not path.name.startswith(".")]
        given, flags = {"pool.csv": pool, "results-1.csv": results}, ("results-1.csv", "--skip-bad-rows")
        assert files_of(place) == by_command(tmp_path / "copy", monkeypatch, *flags, files=given)
        ann.look("05-round-1")

        vetoed = last(place)[1]
        card = card_of(page, vetoed)
        card.get_by_text("Not this one, or a comment").click()
        card.get_by_label("Reason").fill("no stock")
        card.get_by_label("Your name").first.fill("Ann")
        press(card, "Veto, and another in its place")
        heading(page, "Vetoed")
        assert vetoed not in last(place)
        assert len(last(place)) == 4
        assert field_of(page, vetoed).count() == 0

        first = last(place)
        values = {first[0]: VALUES[first[0]], first[1]: f">{VALUES[first[1]] - 0.5}", first[2]: "failed"}
        save(page, values)
        heading(page, "Failed")
        ann.look("06-results")
        state = state_of(place)
        assert [result["id"] for result in state["measured"][-2:]] == first[:2]
        assert [failure["id"] for failure in state["failures"]] == [first[2]]
        press(page, "Suggest what to measure next")
        heading(page, "Round 2")
        ann.look("07-round-2")

        second = [name for name in last(place) if name not in first]
        (sent / "plate 2.csv").write_bytes(table(("id", "logp"), *((name, VALUES[name]) for name in second)))
        page.get_by_label("Or a table of results").set_input_files(sent / "plate 2.csv")
        press(page, "Look at it")
        heading(page, "Results in plate 2.csv")
        assert not set(second) & {result["id"] for result in state_of(place)["measured"]}
        ann.look("08-preview")
        press(page, "Take the good rows in")
        heading(page, "Round 2")
        assert set(second) <= {result["id"] for result in state_of(place)["measured"]}
        again = given | {path.name: path.read_bytes() for path in place.glob("suggestions*")}
        expected = by_command(tmp_path / "again", monkeypatch, *flags, files=again)
        press(page, "Suggest what to measure next")
        heading(page, "Round 3")
        assert files_of(place) == expected
        third = last(place)
        assert field_of(page, first[3]).count() == 1  # which is pending since the first round
        save(page, {name: VALUES[name] for name in third if field_of(page, name).count()})
        page.locator("table").get_by_text("after round 3").first.wait_for()
        measured = {result["id"] for result in state_of(place)["measured"] if not result["bound"]}
        best = max(measured, key=VALUES.__getitem__)
        assert page.locator(".leader p bdi").first.inner_text() == best
        ann.look("09-best")

        card_of(page, third[0]).get_by_text("Why", exact=True).click()
        ann.look("10-details")
        page.get_by_text("Ask about any molecule").click()
        page.get_by_label("Id", exact=True).first.fill("m30")
        press(page, "Why, and what is predicted?")
        heading(page, "Why m30?")
        ann.look("12-why")
        page.get_by_role("link", name="Back to").click()
        press(page, "Is it enough?")
        heading(page, "Is it enough?")
        ann.look("13-enough")
        page.get_by_role("link", name="Back to").click()
        page.get_by_role("link", name="Predictions of all").click()
        heading(page, "Predictions")
        ann.look("14-predictions")
