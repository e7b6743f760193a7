"""Vetoes and comments, as they are served."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from graph_bandit_campaign import CampaignState


class View(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(use_attribute_docstrings=True, frozen=True)


class VetoView(View):
    """A graph that is not to be suggested, because somebody says so."""

    id: str
    """Its id."""
    reason: str
    """Why; empty if nobody said."""
    by: str
    """Who said so; empty if it is not known."""
    round: int
    """How many rounds had been suggested then."""


class CommentView(View):
    """A text about a graph."""

    id: str
    """Its id."""
    text: str
    """What is said."""
    by: str
    """Who says so; empty if it is not known."""
    round: int
    """How many rounds had been suggested then."""


def vetoes_of(state: CampaignState) -> list[VetoView]:
    """Return the vetoes of a campaign."""
    return [VetoView(id=each.id, reason=each.reason, by=each.by, round=each.round) for each in state.vetoed]


def comments_of(state: CampaignState) -> list[CommentView]:
    """Return the comments of a campaign, in the order in which they came."""
    return [CommentView(id=each.id, text=each.text, by=each.by, round=each.round) for each in state.comments]
