"""Sentences about what has changed in a campaign."""

from dataclasses import replace

import pytest

from graph_bandit_campaign import CampaignState, Failure, Measurement, Suggestion
from graph_bandit_campaign.results.marks import Comment, Veto
from graph_bandit_serve.campaigns.changes import describe_changes

BEFORE = CampaignState("random", True, 0, rounds=((Suggestion("a"), Suggestion("b")),))
CHANGES = {
    "results came in of a.": {"measured": (Measurement("a", 1.0, 1),)},
    "failed: b.": {"failures": (Failure("b"),)},
    "vetoed: a.": {"vetoed": (Veto("a"),)},
    "pinned: c.": {"pinned": ("c",)},
    "comments on b.": {"comments": (Comment("b", "ask", "Ann", 1),)},
    "round 2 was suggested.": {"rounds": (*BEFORE.rounds, (Suggestion("c"),))},
    "round 1 was undone.": {"rounds": ()},
    "round 1 has other suggestions.": {"rounds": ((Suggestion("c"),),)},
    "the settings have changed.": {"command": {"n": 2}},
    "nothing that is shown.": {"seed": 1},
}


@pytest.mark.parametrize("words", CHANGES)
def test_each_change_is_named(words):
    assert describe_changes(BEFORE, replace(BEFORE, **CHANGES[words])) == words


def test_what_is_taken_back_is_named_too():
    results = {"measured": (Measurement("a", 1.0, 1),), "failures": (Failure("b"),)}
    now = replace(BEFORE, vetoed=(Veto("a"),), pinned=("c",), **results)
    words = "results went of a; not failed any more: b; not vetoed any more: a; not pinned any more: c."
    assert describe_changes(now, BEFORE) == words
