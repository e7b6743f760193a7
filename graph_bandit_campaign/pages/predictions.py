"""Write a prediction for every molecule of the pool, and its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph_bandit_campaign.limits.selection import Selection
from graph_bandit_campaign.pages.answer import Answer, forecast_cells, forecast_columns
from graph_bandit_campaign.pages.numbers import short
from graph_bandit_campaign.state import Suggestion
from graph_bandit_campaign.tables.spreadsheets import shield

MEASURED = "measured"


def predictions_table(
    answer: Answer, ids: Sequence[str], predictions: Mapping[str, Suggestion], selection: Selection
) -> list[list[str]]:
    """Return a table with a row for each molecule of the pool, in its order, after the names of the columns.

    Its column `state` is `measured`, `failed`, `suggested` (now), `pending` (from earlier), `excluded by` the first
    limit that the molecule does not meet, `likely to fail`, or `offered`: it could be suggested. A molecule that is
    measured has no probability to beat the best, or to be on the front.

    Args:
        answer: the suggestions.
        ids: ids of the molecules of the pool.
        predictions: predictions of all of them, by id; without numbers if there are none.
        selection: the molecules of the pool that meet the limits.
    """
    states = states_of(answer)
    rows = [heading(answer)]
    for index, identifier in enumerate(ids):
        expected = predictions[identifier]
        if states.get(identifier) == MEASURED:
            expected = replace(expected, probability=None)
        smiles = [answer.smiles_of[identifier]] if answer.graphs is None else []
        fails = [short(answer.fails[identifier])] if answer.fails else []
        words = words_of(states.get(identifier), selection.reason(index), identifier in answer.likely)
        rows.append([shield(identifier), *smiles, *forecast_cells(answer, expected), *fails, words])
    return rows


def heading(answer: Answer) -> list[str]:
    """Return the names of the columns."""
    structure = ["smiles"] if answer.graphs is None else []
    return ["id", *structure, *forecast_columns(answer), *["probability_of_failing"] * bool(answer.fails), "state"]


def states_of(answer: Answer) -> dict[str, str]:
    """Return the state of the molecules that are more than offered, by id."""
    state = answer.state
    states = dict.fromkeys(state.settled(), MEASURED) | dict.fromkeys(state.failed, "failed")
    states |= dict.fromkeys(state.pending, "pending")
    return states | dict.fromkeys((suggestion.id for suggestion in answer.suggested), "suggested")


def words_of(state: str | None, reason: str, is_likely: bool) -> str:
    """Return the text of the column `state`.

    Args:
        state: as in `states_of`; None: it is only on offer.
        reason: the limit that excludes the molecule; empty if it meets all.
        is_likely: whether it is likely to fail.
    """
    return state or (f"excluded by {reason}" if reason else "likely to fail" if is_likely else "offered")
