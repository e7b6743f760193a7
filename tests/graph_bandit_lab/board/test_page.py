"""The page ranks what was accepted, names what was refused, and says what was checked of each."""

import html
import re
import shutil
import sys

import pytest
from support.entries import little_rules, play, send

from graph_bandit_lab.board import Replays, check_entries, write_board


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    return little_rules(tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="module")
def checked(rules, tmp_path_factory):
    """Two entries that are accepted, and one of a wrong seed."""
    folder = tmp_path_factory.mktemp("sent")
    send(play(folder / "baselines", "random", "ucb1"))
    send(play(folder / "linear", "lin-ucb"))
    send(play(folder / "other", "gaussian-ts", seeds=(1, 2, 3), environments=("task=few",)))
    return check_entries([folder], rules, Replays(share=0.2, seed=7))


@pytest.fixture(scope="module")
def page(checked, rules, tmp_path_factory):
    return write_board(checked, rules, tmp_path_factory.mktemp("out") / "site").read_text(encoding="utf-8")


def rows_of(page, title):
    """Return the rows of the table under a title, as texts of cells."""
    table = page[page.index(f"<h2>{title}") :].split("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<[^>]*>", "", cell).strip() for cell in row] for row in cells]


def test_agents_are_ranked_with_their_entry_and_what_was_played_again(page):
    header, *rows = rows_of(page, "Rank over 3 tasks")
    assert header[-2:] == ["entry", "played again"]
    assert {row[0]: row[-2:] for row in rows} == {
        "lin-ucb": ["linear", "2 of 9"],
        "random": ["baselines", "2 of 9"],
        "ucb1": ["baselines", "2 of 6"],
    }


def test_a_task_that_an_entry_leaves_out_counts_as_last(page):
    assert ["ucb1", "changing (cannot play: it is not in the entry)"] in [
        [row[0], row[1].split(";")[0]] for row in rows_of(page, "Where each agent fails")
    ]


def test_each_agent_has_its_verdict(page):
    assert ["ucb1", "baselines", "2 of 3", "replayed 2 of 6: 2 equal"] in rows_of(page, "What was checked")
    assert "20&nbsp;% of the repetitions were played again" in page
    assert "the seed 7" in page


def test_each_entry_has_its_versions_and_its_digest(page, checked):
    first = checked[0].entry
    versions = [first.versions[name] for name in ("graph-bandit-env", "torch", "numpy", "python")]
    assert ["baselines", first.created, *versions, first.digest] in rows_of(page, "Entries")


def test_refused_entries_are_named_with_the_reason_and_not_ranked(page, checked):
    refused = page[page.index("<h2>Refused") :]
    assert "other.sqlite.xz" in refused
    assert checked[2].entry.digest in refused
    assert "Expected the seeds of `little board`" in refused
    assert "gaussian-ts" not in page[: page.index("<h2>Refused")]


def test_the_report_of_all_results_goes_with_it(checked, rules, tmp_path):
    folder = write_board(checked, rules, tmp_path / "site").parent
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "report.html"]
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "lin-ucb" in report
    assert "gaussian-ts" not in report


def test_equal_entries_give_equal_pages(checked, rules, page, tmp_path):
    assert write_board(checked, rules, tmp_path / "site").read_text(encoding="utf-8") == page


def test_what_an_entry_says_of_tasks_is_not_believed(rules, tmp_path):
    forged = ("UPDATE tasks SET name = 'easy', hard = '<script>', refused = '{\"random\": \"paid\"}'",)
    path = send(play(tmp_path / "mine", "random", "lin-ucb"), *forged)
    page = write_board(check_entries([path], rules), rules, tmp_path / "site").read_text(encoding="utf-8")
    assert [row[0] for row in rows_of(page, "On each task")[1:]] == ["few", "once", "changing"]
    assert "paid" not in page
    assert "easy" not in page
    assert "<script>" not in page
    assert "nothing was played again for this page" in page


def test_texts_of_entries_are_escaped(rules, tmp_path):
    name = "b&evil" if sys.platform == "win32" else "<b>evil"  # Windows takes no names with brackets
    path = send(play(tmp_path / "mine", "random", "lin-ucb"))
    evil = shutil.copy(path, tmp_path / f"{name}.sqlite.xz")
    page = write_board(check_entries([path, evil], rules), rules, tmp_path / "site").read_text(encoding="utf-8")
    assert name not in page
    assert html.escape(name) in page


def test_one_agent_alone_is_shown_and_not_ranked(rules, tmp_path):
    path = send(play(tmp_path / "mine", "random"))
    page = write_board(check_entries([path], rules), rules, tmp_path / "site").read_text(encoding="utf-8")
    assert "nothing is ranked yet" in page
    assert rows_of(page, "What was checked")[1][:3] == ["random", "mine", "3 of 3"]


def test_a_board_without_entries_is_refused(checked, rules, tmp_path):
    with pytest.raises(ValueError, match="Expected at least one entry that keeps the rules. Got 1 that are refused"):
        write_board(checked[2:], rules, tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_results_of_ones_own_are_not_replaced(checked, rules, tmp_path):
    folder = play(tmp_path / "mine", "random")
    with pytest.raises(ValueError, match="Expected a folder without results for the page"):
        write_board(checked, rules, folder)
    assert not (folder / "report.html").exists()
