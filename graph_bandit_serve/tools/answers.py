"""Define the answers of the tools: a sentence of ours, and JSON, in which alone stands the text of files and people."""

from __future__ import annotations

import json
from collections.abc import Mapping

from mcp.types import CallToolResult, TextContent

from graph_bandit_campaign import Asked
from graph_bandit_serve.campaigns.views import CampaignSummary, CampaignView, View


class CampaignNow(View):
    """A campaign, with its last rounds and results."""

    campaign: CampaignView
    """The campaign; its `version` is for the next call that changes something."""
    rounds_in_all: int
    """How many rounds it has, those that are left out among them."""
    results_in_all: int
    """How many results it has, those that are left out among them."""


class Column(View):
    """A column of a pool."""

    name: str
    """Its name."""
    filled: int
    """How many cells are not empty; -1: not counted."""
    numbers: int
    """How many of them are numbers; -1: not counted."""


class Pool(View):
    """The contents of a table, read as a pool."""

    kind: str
    """`molecules`, `products` of a library, or other `graphs`."""
    count: int
    """How many there are."""
    columns: list[Column]
    """Columns other than those of ids and SMILES."""
    first: list[list[str]]
    """Id and SMILES of the first ones."""
    bad: list[str]
    """Rows that cannot be read and why, the first hundred."""
    bad_count: int
    """How many such rows there are."""
    notes: list[str]
    """Remarks."""


class Changed(View):
    """A campaign after a change."""

    campaign: CampaignSummary
    """The campaign now; its `version` is for the next call that changes something."""
    suggestions: Asked | None
    """The last round, if there are new suggestions in it."""


class Explanation(View):
    """The prediction for a graph, and its reasons."""

    id: str
    """Its id."""
    smiles: str
    """Its structure; empty if it is not a molecule."""
    predictions: dict[str, str]
    """Predictions by their names; empty texts: there are none."""
    reasons: dict[str, str]
    """Of what the score of each goal is the sum; empty: it cannot be said."""
    nearest: list[str]
    """The measured molecules most similar to it, with similarity and value."""


class Explanations(View):
    """Explanations of some graphs."""

    graphs: list[Explanation]
    """One for each id."""


class Report(View):
    """A text about a campaign or a table."""

    text: str
    """The text."""


def tell(sentence: str, view: View) -> CallToolResult:
    """Return an answer.

    Args:
        sentence: what it is and what to do with it, without any text of a file.
        view: the rest.
    """
    data = view.model_dump(mode="json")
    text = json.dumps(data, ensure_ascii=False)
    content = [TextContent(type="text", text=sentence), TextContent(type="text", text=text)]
    return CallToolResult(content=[*content], structured_content=data)


def tell_problem(sentence: str, data: Mapping[str, str]) -> str:
    """Return the message of a refusal: what to do, and what files and people say about it as JSON.

    Args:
        sentence: what to do next, without any text of a file.
        data: the rest, by names.
    """
    return f"{sentence} {json.dumps(dict(data), ensure_ascii=False)}"
