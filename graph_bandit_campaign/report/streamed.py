"""Predict every molecule of a prepared pool, part by part, and write the predictions in the order of the pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.constraints.batch.offers import find_offers
from graph_bandit_campaign.model.front import join_forecasts
from graph_bandit_campaign.model.learner import read_prediction
from graph_bandit_campaign.model.scan import Query, visit_parts
from graph_bandit_campaign.pool.prepared import Block, PreparedPool
from graph_bandit_campaign.report.answer import Answer, Quantities
from graph_bandit_campaign.report.predictions import heading, prediction_row, states_of
from graph_bandit_campaign.report.tables import to_csv, write_table
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_env.tables import split_entry

T = TypeVar("T")
KEPT = "The suggestions were written: give the same command again, with fewer --workers."


@dataclass(frozen=True, eq=False)
class Forecaster:
    """What is written for each molecule of a pool."""

    state: CampaignState
    """The campaign, with all results."""
    quantities: Quantities
    """What is predicted."""
    added: Mapping[str, tuple[float, ...]]
    """Values of the user's own columns that results have added, by id; NaN where the pool has one."""
    states: Mapping[str, str]
    """States of the molecules that are more than offered, by id."""

    def predict(self, blocks: Iterable[Block], query: Query) -> list[list[str]]:
        """Return the rows of some molecules, as `predictions_table` writes them.

        Args:
            blocks: the molecules.
            query: holds what rates molecules, and limits and prices.
        """
        return [row for block in blocks for row in self._rows(block, query)]

    def _rows(self, block: Block, query: Query) -> Iterator[list[str]]:
        skip_bad = query.source.skip_bad_rows
        cells = query.names.read(block.cells, skip_bad)
        selection = query.limits.select_rows(block.smiles, cells)
        offers = find_offers(query.terms, cells, selection)
        selection = selection.with_known(query.names.price, offers.priced)
        own = query.numbers(block)
        for k, name in enumerate(block.ids):
            if own is not None and name in self.added:
                own[k] = np.where(np.isnan(own[k]), self.added[name], own[k])
        fails = None if query.fails is None else query.fails(block.traits, own, block.smiles)
        for k, (suggestion, smiles) in enumerate(zip(self._expect(block, own, query), block.smiles, strict=True)):
            failing = None if fails is None else (float(fails[k]), bool(fails[k] > query.likely))
            state = self.states.get(suggestion.id)
            structure = split_entry(smiles)[0]
            yield prediction_row(self.quantities, suggestion, structure, failing, state, selection.reason(k))

    def _expect(self, block: Block, own: NDArray[np.float64] | None, query: Query) -> tuple[Suggestion, ...]:
        """Return the predictions of some molecules, by each goal and jointly."""
        nothing, forecasts = tuple(map(Suggestion, block.ids)), []
        for rater, view in zip(query.raters, self.state.views(), strict=True):
            best = view.yardstick()
            if best is None:
                forecasts.append(nothing)
                continue
            prediction = rater(block.traits, own, block.smiles).prediction
            forecasts.append(read_prediction(prediction, best, range(len(block)), block.ids, view))
        return join_forecasts(self.state, forecasts) if self.state.goals else forecasts[0]


def write_predictions(
    pool: PreparedPool,
    query: Query,
    added: Mapping[str, tuple[float, ...]],
    path: Path,
    campaign: Campaign,
    answer: Answer,
) -> Iterator[bytes]:
    """Yield the table of `predictions_table` part by part, in the order of the pool.

    Workers write the rows; those of a part that is ready before an earlier one wait in memory. Of other files than
    text all rows do.

    Args:
        pool: the pool.
        query: what was asked of it, by the results that the campaign still has.
        added: values of the user's own columns that results have added, by id.
        path: path of the table, whose end says of which kind it is.
        campaign: the campaign, after the choice.
        answer: the suggestions.

    Raises:
        ValueError: if a part is damaged.
        ChildProcessError: an OSError, if two processes die at the same part.
    """
    judged = query if campaign.failing().teaches else replace(query, fails=None)
    forecaster = Forecaster(campaign.state, answer.quantities, added, states_of(answer))
    head = heading(answer.quantities, True, judged.fails is not None)
    parts = in_order(visit_parts(pool, judged, forecaster.predict, "predictions", KEPT))
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if delimiter is not None:
        yield to_csv([head], delimiter).encode()
        for rows in parts:
            yield to_csv(rows, delimiter).encode()
    else:
        yield write_table(path, [head, *(row for rows in parts for row in rows)])


def in_order(parts: Iterable[tuple[int, T]]) -> Iterator[T]:
    """Yield what comes with 0, 1 and so on, in this order; what comes early waits."""
    waiting, following = dict[int, T](), 0
    for number, content in parts:
        waiting[number] = content
        while following in waiting:
            yield waiting.pop(following)
            following += 1
