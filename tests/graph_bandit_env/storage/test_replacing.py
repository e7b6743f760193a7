"""A file is replaced whole or not at all, and never through what others have put in its way."""

import os
import stat
import subprocess
import sys

import pytest
from support.links import make_link

from graph_bandit_env.storage import find_file, replace_file

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


def test_a_link_to_nothing_makes_the_file_it_leads_to(link, tmp_path):
    (tmp_path / "there" / "file.txt").unlink()
    replace_file(link, b"new")
    assert (tmp_path / "there" / "file.txt").read_bytes() == b"new"


def test_a_link_to_itself_is_refused(link):
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(ValueError, match="a symbolic link to itself"):
        replace_file(link, b"new")


@needs_unix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_the_mode_stays(tmp_path, mode):
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")
    path.chmod(mode)
    replace_file(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@needs_unix
def test_no_other_user_reads_a_private_file_while_it_is_written(tmp_path, monkeypatch):
    path, modes = tmp_path / "file.txt", []
    path.write_bytes(b"old")
    path.chmod(0o600)
    monkeypatch.setattr("os.fsync", lambda number: modes.append(stat.S_IMODE(os.fstat(number).st_mode)))
    replace_file(path, b"new")
    assert modes == [0o600]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root may give a file away")
def test_the_owner_stays(tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")
    os.chown(path, 1234, 4321)
    path.chmod(0o4755)
    replace_file(path, b"new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o4755)


@needs_unix
def test_a_pipe_is_refused_and_stays(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(ValueError, match=r"Expected .*pipe to be a file, or a new one\. Got a pipe"):
        replace_file(path, b"new")
    assert path.is_fifo()


@needs_unix
def test_a_device_is_refused(tmp_path):
    with pytest.raises(ValueError, match="Got a device"):
        find_file(tmp_path / os.devnull)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="Got a folder"):
        find_file(tmp_path)


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
    running, other = f"file.txt.{os.getppid()}.part", "file.txt.notes.part"
    for name in (f"file.txt.{killed.pid}.part", f"file.txt.{killed.pid}.{'5' * 16}.part", running, other):
        (tmp_path / name).write_bytes(b"half")
    replace_file(tmp_path / "file.txt", b"new")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(["file.txt", running, other])


@pytest.mark.parametrize("name", ["{path}.part", "{path}.{pid}.part"])
def test_a_link_that_was_put_in_the_way_of_a_writer_is_not_written_through(tmp_path, name):
    path, victim = tmp_path / "file.txt", tmp_path / "victim"
    victim.write_bytes(b"precious")
    make_link(tmp_path / name.format(path=path.name, pid=os.getpid()), victim)
    replace_file(path, b"new")
    assert (path.read_bytes(), victim.read_bytes()) == (b"new", b"precious")
    assert not path.is_symlink()


def test_a_part_is_never_an_earlier_file(tmp_path, monkeypatch):
    """Even a link under the very name of the part stops the writer."""
    monkeypatch.setattr("secrets.token_hex", lambda count: "0" * 2 * count)
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    make_link(tmp_path / f"file.txt.{os.getpid()}.{'0' * 16}.part", victim)
    with pytest.raises(FileExistsError):
        replace_file(tmp_path / "file.txt", b"new")
    assert victim.read_bytes() == b"precious"
