"""What is public changes only with a word in the changelog."""

import re

import pytest
from support import ROOT
from support.api import SNAPSHOT, name_of, public_lines, unmentioned

import registry

BEFORE = ["gntk.f(x)", "graph-bandit suggest --n 8", "gnn-ts:width=512", "agent gnn-ts"]


def unreleased():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return text.partition("## [Unreleased]")[2].partition("\n## [")[0]


def test_the_changelog_mentions_every_public_name_that_has_changed_since_the_last_release():
    before = SNAPSHOT.read_text(encoding="utf-8").splitlines()
    missing = unmentioned(public_lines(), before, unreleased())
    assert not missing, f"Expected [Unreleased] of CHANGELOG.md to name what has changed, in code. Missing: {missing}."


def test_the_newest_version_in_the_changelog_is_that_of_the_package():
    versions = re.findall(
        r"(?m)^## \[(\d[\w.]*)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    )
    assert versions[0] == registry.__version__


@pytest.mark.parametrize(
    ("now", "name"),
    [
        ("gntk.f(x, y)", "f"),
        ("gntk.f(x=1)", "f"),
        ("graph-bandit suggest --n 9", "--n"),
        ("gnn-ts:width=256", "width"),
        ("agent gnn-best", "gnn-best"),
        ("gntk.G.method()", "method"),
        ("agents.process.P is agents.P", "P"),
    ],
)
def test_a_change_has_to_be_mentioned_by_its_name_in_code(now, name):
    lines = [line for line in BEFORE if name_of(line) != name] + [now]
    assert unmentioned(lines, BEFORE, f"{name} is other than before. `{name}s` are not.") == [name]
    assert unmentioned(lines, BEFORE, f"Of this, `{name}` is other than before.") == []


def test_what_is_gone_has_to_be_mentioned():
    assert unmentioned(BEFORE[1:], BEFORE, "") == ["f"]


def test_the_list_has_functions_classes_flags_and_settings_with_their_defaults():
    lines = public_lines()
    for line in (
        "environment GraphActionBandit-v0",
        "registry.make_agent(name, **settings)",
        "graph_bandit_campaign.Campaign.tell_many(values, goal='')",
        "graph_bandit_campaign.Goal.sign",
        "graph-bandit suggest --n 8",
        "agent random",
        "gnn-ts:exploration_scale=0.3",
    ):
        assert line in lines
