"""Files that people send: each in a folder of our own, for a day."""

import errno
import io
import shutil

import pytest
from starlette.exceptions import HTTPException
from support.links import make_link

from graph_bandit_serve.campaigns.uploads import HIDDEN, Uploads, kind_of
from graph_bandit_serve.settings import ServerLimits


@pytest.fixture
def uploads(tmp_path):
    (tmp_path / "served").mkdir()
    return Uploads(tmp_path / "served", ServerLimits())


@pytest.mark.parametrize("name", ["May.CSV", "../../x.csv", "/etc/x.csv", "nul.csv", "x\0.csv", "x" * 10_000 + ".csv"])
def test_a_file_is_found_by_its_token_alone_and_no_name_of_a_sender_is_a_path(uploads, tmp_path, name):
    token = uploads.add(name, io.BytesIO(b"id\n1\n"))
    path = uploads.find(token)
    assert path.parent == tmp_path / "served" / HIDDEN / token
    assert path.name == {"May.CSV": "May.CSV", "nul.csv": "nul_.csv"}.get(name, path.name)
    assert path.read_bytes() == b"id\n1\n"
    for other in ("", "*", token[:-1], f"{token}.csv", f"../{HIDDEN}/{token}", "0" * 32):
        assert uploads.find(other) is None


def test_the_ending_says_what_a_file_is():
    assert [*map(kind_of, ("a.csv.gz", "a.gz", "a.csv.exe", "", "A.SDF"))] == [".csv.gz", "", "", "", ".sdf"]


def test_nothing_is_written_or_read_through_a_link(uploads, tmp_path):
    (tmp_path / "outside").mkdir()
    make_link(tmp_path / "served" / HIDDEN, tmp_path / "outside")
    with pytest.raises(HTTPException, match="link"):
        uploads.add("a.csv", io.BytesIO())
    assert not [*(tmp_path / "outside").iterdir()]
    (tmp_path / "outside" / ("a" * 32)).mkdir()
    (tmp_path / "outside" / ("a" * 32) / "a.csv").touch()
    assert uploads.find("a" * 32) is None


def test_a_full_disk_leaves_nothing(uploads, tmp_path, monkeypatch):
    def fill(content, file):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "a path of the machine")

    monkeypatch.setattr(shutil, "copyfileobj", fill)
    with pytest.raises(HTTPException):
        uploads.add("a.csv", io.BytesIO())
    assert not [*(tmp_path / "served" / HIDDEN).rglob("*.*")]
