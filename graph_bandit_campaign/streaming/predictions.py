"""Predict every molecule of a prepared pool, part by part, and write the predictions in the order of the pool."""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from tqdm import tqdm

from agents.molecule import MoleculeAgent, Rater
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.failures.forecast import FailureJudge
from graph_bandit_campaign.learner import read_prediction
from graph_bandit_campaign.limits.limits import Limits
from graph_bandit_campaign.pages.answer import Answer, interval_cells
from graph_bandit_campaign.pages.numbers import duration, short
from graph_bandit_campaign.pages.predictions import MEASURED, heading, states_of, words_of
from graph_bandit_campaign.pages.tables import to_csv
from graph_bandit_campaign.plates.offers import find_offers
from graph_bandit_campaign.prepared import Block, PreparedPool
from graph_bandit_campaign.prepared.calls import opened, results_of
from graph_bandit_campaign.state import Suggestion
from graph_bandit_campaign.streaming.cells import ColumnNames, read_cells
from graph_bandit_campaign.streaming.own_columns import PackedRanks, read_own_columns, restore, strip
from graph_bandit_campaign.tables.spreadsheets import shield
from graph_bandit_lab.execution import choose_workers

KEPT = "The suggestions were written: give the same command again, with fewer --workers."
MANY, SAMPLE = 20_000, 512  # molecules; above that the time is estimated first, by so many


@dataclass(frozen=True, eq=False)
class Forecaster:
    """What is written for each molecule of a pool."""

    rater: Rater
    """Predicts values, given the results."""
    best: float | None
    """The best result so far; None: there is none, or results so far tell no scale, and nothing is predicted."""
    settings: SuggestSettings
    """Limits and prices."""
    names: ColumnNames
    """The columns of the pool that these are in."""
    own: tuple[str, ...]
    """The user's own columns."""
    added: Mapping[str, tuple[float, ...]]
    """Values of these that results have added, by id; NaN where the pool has one."""
    states: Mapping[str, str]
    """States of the molecules that are more than offered, by id."""
    judge: FailureJudge | None
    """Tells which molecules are likely to fail; None: failures do not teach."""
    likely: float
    """Probability of failing above which a molecule is likely to fail."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return all columns that are read."""
        return tuple(dict.fromkeys((*self.names.columns, *self.own)))

    def rows(self, block: Block) -> Iterator[list[str]]:
        """Yield the rows of some molecules, as `predictions_table` writes them."""
        values = read_own_columns(block, self.own, self.settings)
        for k, name in enumerate(block.ids if self.added else ()):
            if name in self.added:
                values[k] = np.where(np.isnan(values[k]), self.added[name], values[k])
        expected = tuple(map(Suggestion, block.ids))
        if self.best is not None:
            prediction = self.rater(block.traits, values if self.own else None).prediction
            maximize = self.settings.goals[0].sign > 0
            expected = read_prediction(prediction, self.best, range(len(block)), block.ids, maximize)
        cells, settings = read_cells(block.cells, self.names, self.settings), self.settings
        limits = Limits(settings.require, settings.forbid, settings.only)
        selection = limits.select_rows(block.smiles, cells).organic(block.smiles)
        offers = find_offers(replace(settings, per=None, at_most=None), cells, selection, block.smiles)
        selection = selection.with_known(settings.price or "", offers.priced)
        fails = None if self.judge is None else self.judge.probability(block.smiles)
        for k, (each, smiles) in enumerate(zip(expected, block.smiles, strict=True)):
            state = self.states.get(each.id)
            beats = short(None if state == MEASURED else each.probability)
            texts = [] if fails is None else [short(float(fails[k]))]
            words = words_of(state, selection.reason(k), fails is not None and bool(fails[k] > self.likely))
            yield [shield(each.id), smiles, *interval_cells(each), beats, *texts, words]


def make_forecaster(
    campaign: Campaign,
    answer: Answer,
    settings: SuggestSettings,
    names: ColumnNames,
    added: Mapping[str, tuple[float, ...]],
) -> Forecaster:
    """Return what is written of each molecule.

    Args:
        campaign: the campaign, with all results.
        answer: the suggestions.
        settings: settings of the command.
        names: columns that limits and prices are in.
        added: values of the user's own columns that results have added, by id.

    Raises:
        TypeError: if the agent is none for molecules, which no round on a prepared pool takes.
    """
    agent, failing = campaign.model(), campaign.failing()
    if not isinstance(agent, MoleculeAgent):
        raise TypeError(f"Expected a `molecule-` agent. Got {type(agent).__name__}.")
    return Forecaster(
        agent.rater(),
        campaign.state.yardstick(),
        settings,
        names,
        settings.feature_columns,
        added,
        states_of(answer),
        failing.judge if failing.teaches else None,
        failing.bound,
    )


def write_predictions(pool: PreparedPool, forecaster: Forecaster, answer: Answer) -> Iterator[bytes]:
    """Yield the table of `predictions_table` part by part, in the order of the pool.

    Workers write the rows; those of a part that is ready before an earlier one wait in memory.

    Args:
        pool: the pool.
        forecaster: says what is written.
        answer: the suggestions.

    Raises:
        ValueError: if a part is damaged.
        ChildProcessError: an OSError, if two processes die at the same part.
    """
    settings = forecaster.settings
    open_workers, slots = choose_workers(settings.workers, settings.scheduler)
    if len(pool) > MANY:
        print(_estimate(pool, forecaster, slots), file=sys.stderr, flush=True)
    yield to_csv([heading(answer)]).encode()
    rater, ranks = strip(forecaster.rater)
    packed = pickle.dumps((replace(forecaster, rater=rater), ranks))
    work, parts = partial(predict_part, pool.folder.resolve(), packed), ((number,) for number in range(len(pool.parts)))
    progress = tqdm(total=len(pool), unit=" predictions", unit_scale=True, disable=None, file=sys.stderr)
    ready, following = dict[int, bytes](), 0
    with progress as bar, opened(open_workers) as workers:
        for number, content in results_of(workers, work, parts, lambda number: str(pool.parts[number].path), KEPT):
            ready[number] = content
            bar.update(len(pool.parts[number]))
            while following in ready:
                yield ready.pop(following)
                following += 1


def predict_part(folder: Path, packed: bytes, number: int) -> tuple[int, bytes]:
    """Return the number of a part, and the rows of its molecules.

    Args:
        folder: folder of the pool.
        packed: a `Forecaster` that was packed.
        number: number of the part.
    """
    forecaster, pool = _unpack(packed, folder), PreparedPool.open(folder)
    blocks = pool.parts[number].blocks(columns=forecaster.columns)
    return number, "".join(to_csv(forecaster.rows(block)) for block in blocks).encode()


@lru_cache(maxsize=1)
def _unpack(content: bytes, folder: Path) -> Forecaster:
    packed: tuple[Forecaster, PackedRanks | None] = pickle.loads(content)  # noqa: S301 - packed above
    forecaster, ranks = packed
    return replace(forecaster, rater=restore(forecaster.rater, ranks, folder))


def _estimate(pool: PreparedPool, forecaster: Forecaster, slots: int) -> str:
    """Say how long it takes to predict all molecules, from a timed sample."""
    block = next(pool.blocks(columns=forecaster.columns))
    sample = block.take(range(0, len(block), max(1, len(block) // SAMPLE)))
    begin = time.perf_counter()
    list(forecaster.rows(sample))
    seconds = (time.perf_counter() - begin) / len(sample) * len(pool)
    return (
        f"{len(pool):,} predictions to write, by a timed sample of {len(sample):,}: about {duration(seconds / slots)} "
        f"with {slots} at a time."
    )
