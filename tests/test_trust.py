"""A file that somebody sends is refused or read as data: it runs no code, reads no other folder, takes no gigabytes."""

import re
from multiprocessing import get_context

import pytest
from support import ROOT
from support.hostile import HOSTILE, SECRET, limit_memory, read

SECONDS = 20


@pytest.fixture(scope="module")
def reader():
    with get_context("spawn").Pool(1, limit_memory) as pool:
        pool.apply(int)  # so that its start does not count
        yield pool


@pytest.mark.parametrize(
    ("kind", "attack"), [(kind, attack) for kind, attacks in HOSTILE.items() for attack in attacks]
)
def test_a_file_that_somebody_sends_is_refused_or_read_as_data(kind, attack, reader, tmp_path):
    outcome = reader.apply_async(read, (kind, HOSTILE[kind][attack](tmp_path))).get(SECONDS)
    assert not re.search(r"MemoryError|malloc|realloc|output buffer", outcome)  # the door came too late
    assert SECRET not in outcome
    assert not list(tmp_path.parent.rglob("pwned"))


def test_the_page_lists_every_kind_of_file():
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert [line.split("|")[1].strip() for line in page.splitlines() if line.count("|") == 6][2:] == list(HOSTILE)
