"""`graph-bandit board`, on a board in little."""

import pytest
from support.entries import little_rules, play, send

from graph_bandit_cli.main import main
from graph_bandit_lab.board import rules as rules_module


@pytest.fixture
def board(tmp_path, monkeypatch):
    """A folder with the entry `a`; and `new.sqlite.xz`, of another agent."""
    (tmp_path / "rules").mkdir()
    rules = little_rules(tmp_path / "rules")
    monkeypatch.setattr(rules_module, "read_rules", lambda: rules)
    monkeypatch.setattr("graph_bandit_lab.board.read_rules", lambda: rules, raising=False)
    (tmp_path / "board").mkdir()
    send(play(tmp_path / "a", "random")).rename(tmp_path / "board" / "a.sqlite.xz")
    send(play(tmp_path / "new", "lin-ucb"))
    return tmp_path


def test_an_entry_is_checked_against_the_board(board, capsys):
    assert main(["board", str(board / "new.sqlite.xz"), "--board", str(board / "board")]) == 0
    printed = capsys.readouterr()
    assert "): accepted\n  lin-ucb: replayed 1 of 9: 1 equal\n" in printed.out
    assert "Playing 1 repetitions of new again ..." in printed.err


def test_a_refused_entry_is_an_error(board, capsys):
    (board / "again.sqlite.xz").write_bytes((board / "board" / "a.sqlite.xz").read_bytes())
    assert main(["board", str(board / "again.sqlite.xz"), "--board", str(board / "board"), "--dry-run"]) == 1
    printed = capsys.readouterr()
    assert "): refused\n  Expected agents that the board does not have yet. Got 'random'" in printed.out
    assert not printed.err


def test_the_page_is_written_even_if_an_entry_is_refused(board, capsys):
    (board / "board" / "b.sqlite.xz").write_bytes(b"nothing")
    command = ["board", str(board / "board"), "--share", "0.5", "--seed", "3", "--page", str(board / "site")]
    assert main(command) == 1
    assert capsys.readouterr().out.endswith(f"{board / 'site' / 'index.html'}\n")
    page = (board / "site" / "index.html").read_text(encoding="utf-8")
    assert "5 of 9" in page
    assert "b.sqlite.xz" in page


def test_a_folder_without_entries_is_refused(board, capsys):
    assert main(["board", str(board / "rules")]) == 1
    assert "Expected entries of the board, `*.sqlite.xz`. There are none in" in capsys.readouterr().err


def test_a_share_of_nothing_is_refused(board, capsys):
    assert main(["board", str(board / "new.sqlite.xz"), "--share", "0"]) == 1
    assert "Expected `share` to be above 0" in capsys.readouterr().err
