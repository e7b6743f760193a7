"""The operations that jobs run, called without a process; nothing outside of the folder is read or written."""

import json
import os
import threading
from contextlib import contextmanager, suppress

import pytest
from support.links import make_link
from support.served import MOLECULES, NAMES, POOL, table

from graph_bandit_campaign import Moved, start
from graph_bandit_serve.work.copies import Copies
from graph_bandit_serve.work.operations import FUNCTIONS

OUTSIDE = "O=C=O"
REQUESTS = [pytest.param(100, id="100"), pytest.param(1_000, id="1000", marks=pytest.mark.slow)]


@pytest.fixture
def served(tmp_path):
    """The folder of a campaign, and next to it one with the same files, of others."""
    for name in ("served", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / "up.csv").write_bytes(POOL)
        fields = {"maximize": ["logp"], "n": 3, "agent": "random"}
        start(tmp_path / name, "A", Moved(tmp_path / "up.csv", "pool.csv"), [], fields, workers=None)
    rows = zip(NAMES, [*MOLECULES.smiles[:-1], OUTSIDE], strict=True)
    (tmp_path / "outside" / "A" / "pool.csv").write_bytes(table(("id", "smiles"), *rows))
    return tmp_path / "served"


def call(name, served, **arguments):
    place = {} if name == "look" else {"path": str(served / "A" / "suggestions.campaign.json")}
    return FUNCTIONS[name](lambda line: None, root=str(served), **place, **arguments)


def test_a_refusal_names_places_in_the_folder_alone(served):
    (served / "bad.xlsx").write_bytes(b"a,b\n1,2\n")
    bad = str(served / "bad.xlsx")
    for name, asked in {
        "look": {"pool": bad, "smiles": "s", "id": None, "sheet": None, "slot": []},
        "preview": {"table": bad, "columns": {}, "sheet": None},
    }.items():
        with pytest.raises(ValueError, match="xlsx") as caught:
            call(name, served, **asked)
        assert str(served) not in str(caught.value)


def test_a_change_of_an_old_version_says_which_it_is_now(served):
    stale = call("undo", served, version="0" * 16)
    assert (len(stale.stale), stale.version) == (16, "")
    done = call("undo", served, version=stale.stale)
    assert (done.stale, done.version != stale.stale) == ("", True)


@pytest.mark.parametrize(("setting", "name"), [("predictions", "other.csv"), ("html", "other.html")])
def test_a_campaign_that_somebody_sends_replaces_no_file_of_others(served, setting, name):
    (served / name).write_text("ours")
    path = served / "A" / "suggestions.campaign.json"
    fields = json.loads(path.read_text())
    fields["command"][setting] = f"../{name}"
    path.write_text(json.dumps(fields))
    with pytest.raises(ValueError, match=name):
        call("ask", served, changes={}, next_batch=True)
    assert ((served / name).read_text(), json.loads(path.read_text())) == ("ours", fields)


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


@pytest.mark.parametrize("requests", REQUESTS)
def test_no_row_of_a_file_outside_is_read(requests, served):
    found = []
    with swapping(served / "A" / "pool.csv", served.parent / "outside" / "A" / "pool.csv"):
        for _ in range(requests):
            with suppress(ValueError, OSError):
                found += [each.smiles for each in call("explain", served, ids=[NAMES[-1]])]
    assert OUTSIDE not in found
    assert found or requests < 1_000


@pytest.mark.parametrize("requests", REQUESTS)
def test_nothing_outside_is_written(requests, served):
    outside, saved = served.parent / "outside" / "A", []
    before = {path: path.read_bytes() for path in outside.iterdir()}
    with swapping(served / "A", outside):
        for number in range(requests):
            with suppress(ValueError, OSError):
                call("annotate", served, id=NAMES[0], comment=f"{number}", by="")
                saved.append(f"{number}")
    assert {path: path.read_bytes() for path in outside.iterdir()} == before
    assert sorted(path.name for path in served.iterdir()) == ["A"]
    comments = json.loads((served / "A" / "suggestions.campaign.json").read_text())["comments"]
    assert {*saved} <= {comment["text"] for comment in comments}
    assert saved or requests < 1_000


def test_a_related_assay_of_a_campaign_of_format_5_is_copied_too(tmp_path):
    root, private = tmp_path / "served", tmp_path / "private"
    root.mkdir()
    private.mkdir()
    (root / "old.campaign.json").write_text(json.dumps({"format": 5, "command": {"also": ["assay.csv:ic50"]}}))
    (root / "assay.csv").write_text("id,ic50\n")
    Copies(root, private).fetch(str(root / "old.campaign.json"))
    assert (private / "assay.csv").is_file()
