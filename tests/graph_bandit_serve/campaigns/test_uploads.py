"""Files that people send: kept under names of our own, in a folder of our own, for a day."""

import errno
import io
import os
import shutil

import pytest
from support.links import make_link

from graph_bandit_serve.campaigns.uploads import HIDDEN, NoRoomError, Uploads, kind_of
from graph_bandit_serve.settings import ServerLimits


def send(folder, name="a.csv", content=b"id\n1\n", **limits):
    return Uploads(folder, ServerLimits(**limits)).add(name, io.BytesIO(content))


def test_a_file_is_found_by_its_token_alone(tmp_path):
    upload = send(tmp_path, "Results of May.CSV")
    uploads = Uploads(tmp_path, ServerLimits())
    assert uploads.find(upload.token) == upload
    assert upload.path.read_bytes() == b"id\n1\n"
    for token in ("", "*", upload.token[:-1], f"{upload.token}.csv", f"../{HIDDEN}/{upload.token}", "0" * 32):
        assert uploads.find(token) is None


@pytest.mark.parametrize(
    "name", ["../../x.csv", "/etc/x.csv", "nul.csv", "x\0.csv", "\u202ex.csv", "=1.csv", "x" * 10_000 + ".csv"]
)
def test_no_name_of_a_sender_is_a_path(tmp_path, name):
    upload = send(tmp_path, name)
    assert upload.path.parent == tmp_path / HIDDEN
    assert upload.path.name == f"{upload.token}.csv"


@pytest.mark.parametrize(
    ("name", "kind"), [("a.csv.gz", ".csv.gz"), ("a.gz", ""), ("a.csv.exe", ""), ("", ""), ("A.SDF", ".sdf")]
)
def test_the_ending_says_what_a_file_is(name, kind):
    assert kind_of(name) == kind


def test_nothing_is_written_or_read_through_a_link(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "served").mkdir()
    make_link(tmp_path / "served" / HIDDEN, tmp_path / "outside")
    with pytest.raises(NoRoomError, match="link"):
        send(tmp_path / "served")
    assert not [*(tmp_path / "outside").iterdir()]
    token = "a" * 32
    (tmp_path / "outside" / f"{token}.csv").touch()
    assert Uploads(tmp_path / "served", ServerLimits()).find(token) is None


def test_a_full_disk_is_told_and_nothing_stays(tmp_path, monkeypatch):
    def fill(content, file):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "a path of the machine")

    monkeypatch.setattr(shutil, "copyfileobj", fill)
    with pytest.raises(NoRoomError, match=f"{os.strerror(errno.ENOSPC)}.$"):
        send(tmp_path)
    assert not [*(tmp_path / HIDDEN).iterdir()]
