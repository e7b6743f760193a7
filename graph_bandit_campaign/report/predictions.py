"""Write a prediction for every molecule of the pool, and its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.report.answer import Answer, Quantities
from graph_bandit_campaign.state import Suggestion
from graph_bandit_campaign.text import shield, short

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
    states, quantities = states_of(answer), answer.quantities
    rows = [heading(quantities, answer.graphs is None, bool(answer.fails))]
    for index, identifier in enumerate(ids):
        smiles = answer.smiles_of[identifier] if answer.graphs is None else None
        failing = (answer.fails[identifier], identifier in answer.likely) if answer.fails else None
        state, expected = states.get(identifier), predictions[identifier]
        rows.append(prediction_row(quantities, expected, smiles, failing, state, selection.reason(index)))
    return rows


def heading(quantities: Quantities, has_smiles: bool, has_fails: bool) -> list[str]:
    """Return the names of the columns of `prediction_row`."""
    columns = ["id", *["smiles"] * has_smiles, *quantities.columns()]
    return [*columns, *["probability_of_failing"] * has_fails, "state"]


def prediction_row(
    quantities: Quantities,
    expected: Suggestion,
    smiles: str | None,
    failing: tuple[float, bool] | None,
    state: str | None,
    reason: str,
) -> list[str]:
    """Return the row of a graph.

    Args:
        quantities: what is predicted.
        expected: the prediction.
        smiles: its SMILES; None: it is not a molecule.
        failing: the probability to fail, and whether that makes it likely to; None: there are not enough failures.
        state: as in `states_of`; None: it is only on offer.
        reason: the limit that excludes it; empty if it meets all.
    """
    if state == MEASURED:
        expected = replace(expected, probability=None)
    texts = [] if failing is None else [short(failing[0])]
    likely = "likely to fail" if failing is not None and failing[1] else "offered"
    words = state or (f"excluded by {reason}" if reason else likely)
    return [shield(expected.id), *([] if smiles is None else [smiles]), *quantities.cells(expected), *texts, words]


def states_of(answer: Answer) -> dict[str, str]:
    """Return the state of the molecules that are more than offered, by id."""
    state = answer.state
    states = dict.fromkeys(state.vetoes, "vetoed") | dict.fromkeys(state.settled(), MEASURED)
    states |= dict.fromkeys(state.failed, "failed")
    states |= dict.fromkeys(state.pending, "pending")
    return states | dict.fromkeys((suggestion.id for suggestion in answer.suggested), "suggested")
