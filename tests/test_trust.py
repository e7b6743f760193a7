"""A file that somebody sends is refused or read as data: it runs no code, reads no other folder, takes no gigabytes."""

import re

import pytest
from support import ROOT
from support.hostile import SECRET
from support.limited import Limited
from support.sent import HOSTILE, read


@pytest.fixture(scope="module")
def limited():
    limited = Limited("support.sent")
    yield limited
    limited.close()


@pytest.mark.parametrize(
    ("kind", "attack"), [(kind, attack) for kind, attacks in HOSTILE.items() for attack in attacks]
)
def test_a_file_that_somebody_sends_is_refused_or_read_as_data(kind, attack, limited, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = HOSTILE[kind][attack](tmp_path)
    outcome = limited.call(read, kind, path)
    assert not outcome.fault
    assert not re.search(r"MemoryError|malloc|realloc|output buffer", outcome.refused)  # the door came too late
    assert SECRET not in str(outcome)
    assert not list(tmp_path.parent.rglob("pwned"))


def test_the_page_lists_every_kind_of_file():
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert [line.split("|")[1].strip() for line in page.splitlines() if line.count("|") == 6][2:] == list(HOSTILE)
