"""Write the prediction and state of every molecule of the pool, at once or part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.contract import Prediction
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.constraints.batch.offers import find_offers
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.model.front import read_forecasts
from graph_bandit_campaign.model.scan import Query, visit_parts
from graph_bandit_campaign.pool.block import Block
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_campaign.report.answer import Answer, Quantities
from graph_bandit_campaign.report.tables import to_csv, write_table
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_campaign.text import shield, short

MEASURED = "measured"

Row = list[str]


def predictions_table(
    answer: Answer, ids: Sequence[str], predictions: Mapping[str, Suggestion], selection: Selection
) -> list[Row]:
    """Return a table with the names of the columns, and a row for each molecule of the pool, in its order.

    Its column `state` is `measured`, `failed`, `suggested` (now), `pending` (from earlier rounds), `excluded by` the
    first limit that the molecule fails, `likely to fail`, or `offered` if it could be suggested. A measured molecule
    has no probability of beating the best, or of being on the front.

    Args:
        answer: the suggestions.
        ids: ids of the molecules of the pool.
        predictions: predictions for all of them, by id, possibly without numbers.
        selection: selection of the molecules of the pool by the limits.
    """
    shown = [*map(answer.parts_of, ids)]
    fails = [answer.fails[key] for key in ids] if answer.fails else None
    expected, head = [predictions[key] for key in ids], _heading(answer.quantities, [*shown[0]], bool(fails))
    return [head, *_rows(answer.quantities, _states_of(answer), expected, shown, fails, answer.likely, selection)]


def write_predictions(
    pool: PreparedPool,
    query: Query,
    added: Mapping[str, tuple[float, ...]],
    path: Path,
    campaign: Campaign,
    answer: Answer,
) -> Iterator[bytes]:
    """Yield the table of `predictions_table` part by part, in the order of the pool.

    Workers write the rows. The rows of a part that finishes before an earlier one wait in memory. Workbooks need all
    rows in memory.

    Args:
        pool: the pool.
        query: the query for the pool, for the current results of the campaign.
        added: values in results of the user's own columns, by id.
        path: path of the table, whose ending gives the format.
        campaign: the campaign, after the choice.
        answer: the suggestions.

    Raises:
        ValueError, OSError: if a part is damaged, or two processes die during the same part.
    """
    judged, quantities = query if campaign.failing().teaches else replace(query, fails=None), answer.quantities
    predict = partial(_predict, campaign.state, quantities, dict(added), _states_of(answer))
    head = _heading(quantities, ["smiles"], judged.fails is not None)
    parts = _in_order(visit_parts(pool, judged, predict))
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if delimiter is None:
        yield write_table(path, [head, *(row for rows in parts for row in rows)])
    else:
        yield to_csv([head], delimiter).encode()
        for rows in parts:
            yield to_csv(rows, delimiter).encode()


def _predict(
    state: CampaignState,
    quantities: Quantities,
    added: Mapping[str, tuple[float, ...]],
    states: Mapping[str, str],
    blocks: Iterable[Block],
    query: Query,
) -> list[Row]:
    """Return the rows of the molecules of some blocks."""
    rows = list[Row]()
    for block in blocks:
        cells = query.names.read(block.cells, query.source.skip_bad_rows)
        selection = query.limits.select_rows(block.smiles, cells)
        prices, _ = find_offers(query.terms, cells, selection)
        selection = selection.with_known(query.terms.price or "", ~np.isnan(prices))
        own = query.numbers(block)
        for k, name in enumerate(block.ids):
            if own is not None and name in added:
                own[k] = np.where(np.isnan(own[k]), added[name], own[k])
        fails = None if query.fails is None else query.fails(block.descriptors, own, block.smiles).tolist()
        rate = partial(_rate, query, block, own)
        expected = read_forecasts(state, rate, range(len(block)), block.ids)
        shown = [{"smiles": text} for text in block.smiles]
        rows += _rows(quantities, states, expected, shown, fails, query.likely, selection)
    return rows


def _rate(query: Query, block: Block, own: NDArray[np.float64] | None, number: int) -> Prediction:
    return query.raters[number](block.descriptors, own, block.smiles).prediction


def _heading(quantities: Quantities, shown: Sequence[str], has_fails: bool) -> Row:
    columns = ["id", *shown, *quantities.cells(Suggestion(""))]
    return [*columns, *["probability_of_failing"] * has_fails, "state"]


def _rows(
    quantities: Quantities,
    states: Mapping[str, str],
    expected: Sequence[Suggestion],
    shown: Sequence[Mapping[str, str]],
    fails: Sequence[float] | None,
    likely: float,
    selection: Selection,
) -> Iterator[Row]:
    """Yield the rows of some graphs, given their predictions, probabilities to fail, and limits."""
    for k, each in enumerate(expected):
        state, reason = states.get(each.id), selection.reason(k)
        cells = quantities.cells(replace(each, probability=None) if state == MEASURED else each)
        row = [shield(each.id), *map(shield, shown[k].values()), *cells.values()]
        row += [] if fails is None else [short(fails[k])]
        other = "likely to fail" if fails is not None and fails[k] > likely else "offered"
        yield [*row, state or (f"excluded by {reason}" if reason else other)]


def _states_of(answer: Answer) -> dict[str, str]:
    """Return the state of the molecules that are not just offered, by id."""
    state = answer.state
    states = dict.fromkeys(state.vetoes, "vetoed") | dict.fromkeys(state.settled(), MEASURED)
    states |= dict.fromkeys(state.failed, "failed") | dict.fromkeys(state.pending, "pending")
    return states | dict.fromkeys((suggestion.id for suggestion in answer.suggested), "suggested")


def _in_order(parts: Iterable[tuple[int, list[Row]]]) -> Iterator[list[Row]]:
    """Yield the contents with numbers 0, 1 and so on, in this order, and buffer early ones."""
    waiting, following = dict[int, list[Row]](), 0
    for number, content in parts:
        waiting[number] = content
        while following in waiting:
            yield waiting.pop(following)
            following += 1
