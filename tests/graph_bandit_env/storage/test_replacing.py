"""A file is replaced whole or not at all, and never through what others have put in its way."""

import os
import stat
import subprocess
import sys

import pytest
from support.links import make_link

from graph_bandit_env.storage import replace_file

needs_unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes, pipes or devices")


@pytest.fixture
def link(tmp_path):
    """Return a link in one folder to a file in another."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "file.txt"
    target.write_bytes(b"old")
    link = tmp_path / "here" / "link.txt"
    make_link(link, target)
    return link


def test_the_file_a_link_leads_to_is_replaced(link, tmp_path):
    replace_file(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "there" / "file.txt").read_bytes() == b"new"
    assert list((tmp_path / "here").iterdir()) == [link]


@needs_unix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_the_mode_stays(tmp_path, mode):
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")
    path.chmod(mode)
    replace_file(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@needs_unix
def test_a_pipe_is_refused_and_stays(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(ValueError, match="pipe"):
        replace_file(path, b"new")
    assert path.is_fifo()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")

    def full(number):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        replace_file(path, b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("file.txt", b"old")]


def test_the_part_of_a_killed_writer_is_removed_and_that_of_a_running_one_is_not(tmp_path):
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    running, other = f"file.txt.{os.getppid()}.{'5' * 16}.part", "file.txt.notes.part"
    for name in (f"file.txt.{killed.pid}.{'5' * 16}.part", running, other):
        (tmp_path / name).write_bytes(b"half")
    replace_file(tmp_path / "file.txt", b"new")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(["file.txt", running, other])
