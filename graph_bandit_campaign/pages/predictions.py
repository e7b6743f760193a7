"""Write a prediction for every molecule of the pool, and its state."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph_bandit_campaign.limits.selection import Selection
from graph_bandit_campaign.pages.answer import Answer, forecast_cells, forecast_columns
from graph_bandit_campaign.pages.numbers import short
from graph_bandit_campaign.state import Suggestion
from graph_bandit_campaign.tables.spreadsheets import shield


def predictions_table(
    answer: Answer, ids: Sequence[str], predictions: Mapping[str, Suggestion], selection: Selection
) -> str:
    """Return a CSV table with a row for each molecule of the pool, in the order of the pool.

    Its column `state` is `measured`, `failed`, `suggested` (now), `pending` (from earlier), `excluded by` the first
    limit that the molecule does not meet, `likely to fail`, or `offered`: it could be suggested. A molecule that is
    measured has no probability to beat the best, or to be on the front.

    Args:
        answer: the suggestions.
        ids: ids of the molecules of the pool.
        predictions: predictions of all of them, by id; without numbers if there are none.
        selection: the molecules of the pool that meet the limits.
    """
    state = answer.state
    states = dict.fromkeys(state.settled(), "measured") | dict.fromkeys(state.failed, "failed")
    states |= dict.fromkeys(state.pending, "pending")
    states |= dict.fromkeys((suggestion.id for suggestion in answer.suggested), "suggested")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    structure = ["smiles"] if answer.graphs is None else []
    columns = ["id", *structure, *forecast_columns(answer), *["probability_of_failing"] * bool(answer.fails)]
    writer.writerow([*columns, "state"])
    for index, identifier in enumerate(ids):
        expected, reason = predictions[identifier], selection.reason(index)
        if states.get(identifier) == "measured":
            expected = replace(expected, probability=None)
        fails = [short(answer.fails[identifier])] if answer.fails else []
        offered = "likely to fail" if identifier in answer.likely else "offered"
        words = states.get(identifier) or (f"excluded by {reason}" if reason else offered)
        smiles = [answer.smiles_of[identifier] for _ in structure]
        writer.writerow([shield(identifier), *smiles, *forecast_cells(answer, expected), *fails, words])
    return text.getvalue()
