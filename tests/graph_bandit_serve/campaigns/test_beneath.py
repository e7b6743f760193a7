"""Somebody swaps a file or a folder for a link while the server works: nothing outside is read or written."""

import json
import os
import threading
from contextlib import contextmanager, suppress

import pytest
from support.links import make_link
from support.served import MOLECULES, NAMES, POOL, table

from graph_bandit_campaign import Moved, start
from graph_bandit_serve.work.operations import OPERATIONS

OUTSIDE = "O=C=O"
pytestmark = pytest.mark.parametrize("requests", [100, pytest.param(1_000, marks=pytest.mark.slow)])


@pytest.fixture
def folders(tmp_path):
    """The folder of a campaign, and one with the same files, of others."""
    for name in ("served", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / "up.csv").write_bytes(POOL)
        fields = {"maximize": ["logp"], "n": 3, "agent": "random"}
        start(tmp_path / name, "A", Moved(tmp_path / "up.csv", "pool.csv"), [], fields, workers=None)
    rows = zip(NAMES, [*MOLECULES.smiles[:-1], OUTSIDE], strict=True)
    (tmp_path / "outside" / "A" / "pool.csv").write_bytes(table(("id", "smiles"), *rows))
    return tmp_path / "served" / "A", tmp_path / "outside" / "A"


@contextmanager
def swapping(path, outside):
    """Swap a file or folder for a link to another one and back, all the time, for a `with` block."""
    stop, aside, link = threading.Event(), path.with_name(".aside"), path.with_name(".link")

    def swap():
        while not stop.is_set():
            os.rename(path, aside)
            os.symlink(outside, link)
            os.rename(link, path)
            stop.wait(0.001)
            os.unlink(path)
            os.rename(aside, path)
            stop.wait(0.001)

    make_link(link, outside)  # or skip
    link.unlink()
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def call(name, served, **arguments):
    place = {"root": str(served.parent), "path": str(served / "suggestions.campaign.json")}
    return OPERATIONS[name](lambda line: None, place=place, **arguments)


def test_no_row_of_a_file_outside_is_read(requests, folders):
    (served, outside), found = folders, []
    with swapping(served / "pool.csv", outside / "pool.csv"):
        for _ in range(requests):
            with suppress(ValueError, OSError):
                found += [each.smiles for each in call("explain", served, ids=[NAMES[-1]])]
    assert OUTSIDE not in found
    assert found or requests < 1_000


def test_nothing_outside_is_written(requests, folders):
    (served, outside), saved = folders, set()
    before = {path: path.read_bytes() for path in outside.iterdir()}
    with swapping(served, outside):
        for number in range(requests):
            with suppress(ValueError, OSError):
                call("mark", served, kind="comment", id=NAMES[0], text=f"{number}", by="")
                saved.add(f"{number}")
    assert {path: path.read_bytes() for path in outside.iterdir()} == before
    assert [path.name for path in served.parent.iterdir()] == ["A"]
    comments = json.loads((served / "suggestions.campaign.json").read_text())["comments"]
    assert saved <= {comment["text"] for comment in comments}
    assert saved or requests < 1_000
