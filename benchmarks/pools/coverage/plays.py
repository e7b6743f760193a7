"""Tell each player some results at once, and test its predictions on other graphs; finished work is kept."""

from __future__ import annotations

import sys
import time
import zlib
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from agents.contract import Prediction
from benchmarks.kept_rows import Row, append_rows, read_rows
from benchmarks.parallel import run_in_parallel
from benchmarks.pools.coverage.splits import (
    LEAST_TESTED,
    Parts,
    Split,
    split_at_random,
    split_by_scaffold,
)
from benchmarks.pools.data.catalogue import Pool
from benchmarks.pools.players import make_forecaster, needs_molecules
from benchmarks.pools.screening import Floats
from graph_bandit_campaign.constraints.batch import murcko_scaffolds
from graph_bandit_env import GraphPool, MoleculeSet

SCORES = ("% in 90 %", "% in 50 %", "rank correlation", "width of 90 % (sd)")


class Task(NamedTuple):
    """A player that is told some results of a pool."""

    pool: Pool
    player: str
    split: Split
    results: int
    """How many graphs are measured."""
    draw: int
    """Seed of the graphs measured and tested, and, in a separate stream, of the player."""

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """Return the entries by which its row is found in a file."""
        return self.pool.name, self.player, self.split, self.results, self.draw


KEY = Task._fields
COLUMNS = (*KEY, "tested", "seconds", *SCORES)


def cover_all(
    folder: Path, tasks: Sequence[Task], workers: int = 1, out: Path | None = None
) -> tuple[pd.DataFrame, int]:
    """Test each task that is not in `out` yet.

    A task is left out, and stderr says so, if the player does not play the pool, a pool without molecules should be
    split by scaffold, or fewer than 50 graphs would be left to test.

    Args:
        folder: folder of the tables.
        tasks: what to test; neighbours in the list should have the same pool, which is read again otherwise.
        workers: how many processes to use.
        out: CSV file to which each row is appended at once; None: nothing is kept.

    Returns:
        A table with a row for each finished task (`COLUMNS`), and how many failed.

    Raises:
        ValueError: if a player is unknown or predicts nothing, or the file has other columns.
    """
    for player in dict.fromkeys(task.player for task in tasks):
        make_forecaster(player)  # refuses before anything is tested
    rows = [_read_row(row) for row in ([] if out is None else read_rows(out, COLUMNS))]
    known = {row[: len(KEY)] for row in rows}
    playable = [task for task in tasks if _can_play(task)]
    missing = [task for task in playable if task.key not in known]
    left_out = {f"{task.pool.name}, {task.player}, {task.split}" for task in tasks if not _can_play(task)}
    failed = 0
    with closing(run_in_parallel(partial(cover_one, folder), missing, workers)) as outcomes:
        for task, outcome in outcomes:
            name = ", ".join(map(str, task.key))
            if isinstance(outcome, TooFewError):
                left_out.add(f"{task.pool.name}, {task.split}, {task.results} results")
            elif isinstance(outcome, Exception):
                failed += 1
                print(f"{name} failed: {type(outcome).__name__}: {outcome}", file=sys.stderr)
            else:
                rows.append(outcome)
                if out is not None:
                    append_rows(out, COLUMNS, [outcome])
                print(f"{name}: {', '.join(map(str, outcome[len(KEY) :]))}", file=sys.stderr)
    for case in sorted(left_out):
        print(f"Left out, since molecules are needed or too few graphs are left to test: {case}", file=sys.stderr)
    asked = {task.key for task in playable}
    return pd.DataFrame([row for row in rows if row[: len(KEY)] in asked], columns=list(COLUMNS)), failed


class TooFewError(ValueError):
    """Too few graphs are left to test."""


def cover_one(folder: Path, pool: Pool, player: str, split: Split, results: int, draw: int) -> Row:
    """Test one task on one thread, and return its row.

    The player is given the graphs measured and tested and no others, so that a large pool takes no longer than a small
    one.

    Raises:
        TooFewError: if fewer than 50 graphs are left to test.
    """
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    whole, forecaster = _read_once(folder, pool), make_forecaster(player)
    of_split, of_player = np.random.SeedSequence([draw, zlib.crc32(pool.molecules.encode())]).spawn(2)
    parts = _split(folder, pool, split, results, np.random.default_rng(of_split))
    if len(parts.measured) < results or len(parts.tested) < LEAST_TESTED:
        raise TooFewError(
            f"Expected at least {LEAST_TESTED} graphs to test after {results} results by {split} split, draw {draw}. "
            f"Got {len(parts.tested)} of {len(whole)}."
        )
    graphs = cast(MoleculeSet, whole.take(np.concatenate(parts)))  # players of other graphs take these, too
    with threadpool_limits(1):
        begin = time.perf_counter()
        forecaster.begin(graphs, int(of_player.generate_state(1)[0]))
        prediction = forecaster.predict(np.arange(results), graphs.targets[:results])
        seconds = round(time.perf_counter() - begin, 3)
    scores = score(prediction, graphs.targets, results, float(whole.targets.std()))
    return pool.name, player, split, results, draw, len(parts.tested), seconds, *(round(value, 5) for value in scores)


def score(prediction: Prediction, values: Floats, results: int, unit: float) -> tuple[float, ...]:
    """Return the scores of a prediction, in the order of their names.

    Args:
        prediction: of the `(K,)` graphs.
        values: `(K,)`, their values.
        results: how many of the graphs, from the first, were measured; the others are tested.
        unit: standard deviation of the pool, in units of the values.

    Raises:
        ValueError: if a bound is not a number.
    """
    covered, widths, tested = [], [], values[results:]
    for level in (0.9, 0.5):
        low, high = (bound[results:] for bound in prediction.interval(level))
        if not (low <= high).all():
            raise ValueError(f"Expected intervals of all graphs. Got {(~(low <= high)).sum()} that are none.")
        covered.append(100 * float(np.mean((low <= tested) & (tested <= high))))
        widths.append(float(np.mean(high - low)) / unit)
    means = prediction.mean[results:]
    ordered = np.ptp(means) > 0 and np.ptp(tested) > 0  # equal means order nothing
    return *covered, float(spearmanr(means, tested).statistic) if ordered else 0.0, widths[0]


def _can_play(task: Task) -> bool:
    return task.pool.has_molecules or not (task.split == "scaffold" or needs_molecules(task.player))


def _read_row(row: Sequence[str]) -> Row:
    pool, player, split, results, draw, tested, *numbers = row
    return pool, player, split, int(results), int(draw), int(tested), *map(float, numbers)


def _split(folder: Path, pool: Pool, split: Split, results: int, generator: np.random.Generator) -> Parts:
    if split == "random":
        return split_at_random(len(_read_once(folder, pool)), results, generator)
    return split_by_scaffold(_scaffolds_once(folder, pool), results, generator)


@lru_cache(maxsize=1)
def _read_once(folder: Path, pool: Pool) -> GraphPool:
    return pool.read(folder)


@lru_cache(maxsize=1)
def _scaffolds_once(folder: Path, pool: Pool) -> list[str]:
    return murcko_scaffolds(cast(MoleculeSet, _read_once(folder, pool)).smiles)
