"""Sentences about what has changed in a campaign."""

from dataclasses import replace

import pytest

from graph_bandit_campaign import CampaignState, Measurement, Suggestion
from graph_bandit_campaign.results.marks import Veto
from graph_bandit_serve.campaigns.changes import describe_changes

BEFORE = CampaignState("random", True, 0, rounds=((Suggestion("a"), Suggestion("b")),))
CHANGES = [
    ({"measured": (Measurement("m7", 1.0, 1),)}, "m7"),
    ({"vetoed": (Veto("m7"),)}, "m7"),
    ({"pinned": ("m7",)}, "m7"),
    ({"rounds": (*BEFORE.rounds, (Suggestion("c"),))}, "2"),
    ({"command": {"n": 2}}, "settings"),
]


@pytest.mark.parametrize(("changes", "word"), CHANGES)
def test_what_has_come_and_what_has_gone_is_named(changes, word):
    now = replace(BEFORE, **changes)
    assert word in describe_changes(BEFORE, now)
    assert word in describe_changes(now, BEFORE)
    assert describe_changes(now, BEFORE) != describe_changes(BEFORE, now) or word == "settings"
    assert "m8" in describe_changes(BEFORE, replace(now, failed=("m8",)))
    assert word not in describe_changes(BEFORE, replace(BEFORE, seed=1))
