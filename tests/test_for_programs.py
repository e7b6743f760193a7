"""Pages for programs that read: each path, target and command in them is there."""

import re

import pytest
from support import ROOT

FILES = ("AGENTS.md", "llms.txt")


@pytest.fixture(params=FILES)
def text(request):
    return (ROOT / request.param).read_text(encoding="utf-8")


def test_paths_are_there(text):
    code = [word for line in re.findall(r"`([^`\n]+)`", text) for word in line.split()]
    paths = {word for word in code if "/" in word and re.fullmatch(r"[\w./-]+", word)}
    paths |= set(re.findall(r"\]\(([^)#]+)\)", text)) | set(re.findall(r"tests/[\w/.]+", text))
    assert paths
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_targets_of_make_are_there(text):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"(?:^    |`)make ([\w-]+)", text, re.M)) <= targets
