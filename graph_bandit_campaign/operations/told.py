"""An answer to a page or a program: the suggestions, and what is told with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph_bandit_campaign.report.answer import Answer


@dataclass(frozen=True)
class Told:
    """A round of suggestions, in texts."""

    round: int
    """Its number; 1 is the first."""
    suggested: tuple[str, ...]
    """Ids of the graphs, the best first."""
    columns: tuple[str, ...]
    """Names of the columns of the table of suggestions."""
    rows: tuple[tuple[str, ...], ...]
    """A row for each suggestion: predictions, nearest measured molecules, reasons, prices and the pool's columns."""
    notes: tuple[str, ...]
    """Sentences about tables, limits, results to check, and what else is to be known."""
    outlook: str
    """Whether the pool holds a better graph, and whether to stop; empty if the agent cannot say."""


def tell_answer(answer: Answer, remarks: Sequence[str]) -> Told:
    """Put an answer into texts.

    Args:
        answer: the answer of `suggest`.
        remarks: remarks about the tables.
    """
    columns, *rows = answer.rows()
    parts = (f"{answer.pool_size:,} {answer.noun}, {len(answer.state.measured):,} results", *remarks)
    notes = [f"{', '.join(parts)}.", answer.agent_change, *answer.notes, answer.bill.sentence(), answer.way]
    return Told(
        round=len(answer.state.rounds),
        suggested=tuple(suggestion.id for suggestion in answer.suggested),
        columns=tuple(columns),
        rows=tuple(map(tuple, rows)),
        notes=tuple(filter(None, notes)),
        outlook="" if answer.outlook is None else answer.outlook.sentence(answer.target),
    )
