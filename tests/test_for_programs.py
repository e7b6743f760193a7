"""Pages for programs that read: each path in them is there."""

import re

import pytest
from support import ROOT


@pytest.mark.parametrize("name", ["AGENTS.md", "llms.txt"])
def test_paths_are_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    code = [word for line in re.findall(r"`([^`\n]+)`", text) for word in line.split()]
    paths = {word for word in code if "/" in word and re.fullmatch(r"[\w./-]+", word)}
    paths |= set(re.findall(r"\]\(([^)#]+)\)", text)) | set(re.findall(r"tests/[\w/.]+", text))
    assert paths
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
