"""Graphs that a campaign knows by their ids."""

import pytest

from graph_bandit_campaign import CampaignState, Measurement, Suggestion
from graph_bandit_campaign.operations.known import KnownGraphs
from graph_bandit_campaign.results.marks import Veto


def test_all_that_was_told_or_suggested_is_known_once():
    state = CampaignState(
        *("random", True, 0),
        measured=(Measurement("a", 1.0, 0), Measurement("a", 2.0, 0)),
        failed=("b",),
        pending=("c",),
        rounds=((Suggestion("a"), Suggestion("d")), (Suggestion("c"),)),
        structures={"e": "C"},
        vetoed=(Veto("f"),),
        pinned=("g",),
    )
    known = KnownGraphs(state)
    assert set(known.ids) == set("abcdefg")
    assert len(known) == 7


def test_their_structures_are_not():
    with pytest.raises(ValueError, match="ids alone"):
        KnownGraphs(CampaignState("random", True, 0)).to_pyg()
