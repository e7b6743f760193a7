"""What is public changes only with a word in the changelog."""

import re

from support import ROOT
from support.api import SNAPSHOT, public_names

import registry

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_changelog_names_what_has_come_and_gone_since_the_last_release():
    before = set(SNAPSHOT.read_text(encoding="utf-8").splitlines())
    unreleased = CHANGELOG.partition("## [Unreleased]")[2].partition("\n## [")[0]
    code = {word for text in re.findall(r"`[^`]+`", unreleased) for word in re.findall(r"[\w-]+", text)}
    changed = {re.split(r"[. ]", name)[-1] for name in before ^ set(public_names())}
    assert sorted(changed - code) == []


def test_a_release_is_the_newest_version_in_the_changelog():
    newest = re.findall(r"(?m)^## \[(\d[\w.]*)\] - \d{4}-\d\d-\d\d$", CHANGELOG)[0]
    assert registry.__version__.endswith(".dev0") or registry.__version__ == newest
