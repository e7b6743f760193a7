"""Find the most promising molecules of a prepared pool, part by part, in any number of processes."""

from __future__ import annotations

import math
import pickle
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray
from tqdm import tqdm

from agents.molecule import Rater
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.failures.forecast import FailureJudge
from graph_bandit_campaign.limits.columns import LimitColumns
from graph_bandit_campaign.limits.limits import Limits
from graph_bandit_campaign.pages.numbers import duration
from graph_bandit_campaign.plates.offers import Offers, find_offers
from graph_bandit_campaign.plates.scaffolds import murcko_scaffolds
from graph_bandit_campaign.prepared import Block, PreparedPool
from graph_bandit_campaign.prepared.calls import opened, results_of
from graph_bandit_campaign.streaming.best import Best
from graph_bandit_campaign.streaming.cells import ColumnNames, read_cells
from graph_bandit_campaign.streaming.own_columns import PackedRanks, read_own_columns, restore, strip
from graph_bandit_campaign.streaming.spares import SOUND, Spare, Spares, come_back
from graph_bandit_lab.execution import choose_workers

KEPT = "Nothing was changed: give the same command again, with fewer --workers."
MANY, SAMPLE = 20_000, 512  # molecules; above that the time is estimated first, by so many


@dataclass(frozen=True, eq=False)
class Query:
    """What is asked of each molecule of a pool."""

    rater: Rater
    """Rates molecules, given the results."""
    size: int
    """How many of the most promising molecules are wanted."""
    settings: SuggestSettings
    """Limits and prices."""
    names: ColumnNames
    """The columns of the pool that these are in."""
    own: tuple[str, ...] = ()
    """The user's own columns, which the rater reads."""
    taken: frozenset[tuple[int, int]] = frozenset()
    """Part and row of molecules that are measured or failed."""
    judge: FailureJudge | None = None
    """Tells which molecules are likely to fail; None: failures do not teach."""
    likely: float = 1.0
    """Probability of failing above which a molecule is likely to fail."""
    best: float | None = None
    """The best result so far, as a reward; None: there is none, or results so far tell no scale."""
    hopeful: int = 0
    """How many of those are wanted that beat it with the largest probability."""
    seed: int = 0
    """Chooses among those of equal probability."""
    groups: frozenset[str] = frozenset()
    """Groups of which no molecule is wanted: the batch holds as many as it may."""
    money: float = math.inf
    """What a molecule may cost."""
    last: Spare | None = None
    """Molecules that are likely to fail come back up to this one; None: none does."""
    pending: frozenset[tuple[int, int]] | None = None
    """If not None, that one is looked for, and nothing else: part and row of molecules that are being measured."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return all columns that are read."""
        return tuple(dict.fromkeys((*self.names.columns, *self.own)))


@dataclass(eq=False)
class Found:
    """The molecules that were found, by three measures."""

    offered: Best
    """Largest index among those that meet the limits."""
    sound: Best
    """The same, without those that are likely to fail, unless they come back."""
    hopeful: Best
    """Largest probability to beat the best result so far, among those that are not likely to fail."""
    spares: Spares
    """Those on which it depends how many likely failures come back."""
    rated: int = 0
    """How many molecules were rated."""
    meeting: int = 0
    """How many of them meet the limits on columns."""
    unpriced: int = 0
    """How many of these have no known price, although there are prices."""

    @classmethod
    def nothing(cls, query: Query) -> Found:
        """Return empty lists for the answer to a query."""
        offered, sound = (Best(query.size, query.rater.seed) for _ in range(2))
        spares = Spares(query.settings.n, query.settings.at_most)
        return cls(offered, sound, Best(query.hopeful, query.seed), spares)

    def merge(self, other: Found) -> None:
        """Take in what was found elsewhere."""
        for mine, its in ((self.offered, other.offered), (self.sound, other.sound), (self.hopeful, other.hopeful)):
            mine.merge(its)
        self.spares.merge(other.spares)
        self.rated += other.rated
        self.meeting += other.meeting
        self.unpriced += other.unpriced

    @property
    def places(self) -> set[tuple[int, int]]:
        """Return part and row of each molecule that was found."""
        every = np.concatenate([self.offered.places, self.sound.places, self.hopeful.places])
        return set(map(tuple, every.tolist()))


def scan(pool: PreparedPool, query: Query, workers: int | None = None, scheduler: str | None = None) -> Found:
    """Rate every molecule of a pool, and return the most promising ones.

    The answer does not depend on parts, workers or their order. A process that dies costs its part, which is done
    again.

    Args:
        pool: the pool.
        query: what is asked.
        workers: processes; 0: one for each core; None: this process.
        scheduler: address of a Dask scheduler whose workers can read the folder of the pool; None: no cluster.

    Raises:
        ValueError: if a part is damaged or missing, or a cell of a column that is needed cannot be read.
        ChildProcessError: an OSError, if two processes die at the same part.
    """
    open_workers, slots = choose_workers(workers, scheduler)
    found = Found.nothing(query)
    if len(pool) > MANY:
        print(_estimate(pool, query, slots), file=sys.stderr, flush=True)
    work = partial(scan_part, pool.folder.resolve(), _pack(query))
    wrong: dict[int, ValueError] = {}
    parts = ((number,) for number in range(len(pool.parts)) if not wrong)  # those before are under way already
    progress = tqdm(total=len(pool), unit=" molecules", unit_scale=True, disable=None, file=sys.stderr)
    with progress as bar, opened(open_workers) as opened_workers:
        for each in results_of(opened_workers, work, parts, lambda number: str(pool.parts[number].path), KEPT):
            if isinstance(each, Found):
                found.merge(each)
                bar.update(each.rated)
            else:
                wrong |= dict([each])
    if wrong:
        raise wrong[min(wrong)]
    return found


def scan_part(folder: Path, query: bytes, number: int) -> Found | tuple[int, ValueError]:
    """Rate the molecules of a part; return its number and what is wrong with it, if something is.

    Args:
        folder: folder of the pool.
        query: a `Query` that was packed.
        number: number of the part.
    """
    asked, pool = _unpack(query, folder), PreparedPool.open(folder)
    found = Found.nothing(asked)
    try:
        for block in pool.parts[number].blocks(columns=asked.columns):
            _scan_block(block, asked, found)
    except ValueError as error:  # of all workers' errors that of the first part is told
        return number, error
    return found


def _estimate(pool: PreparedPool, query: Query, slots: int) -> str:
    """Say how long it takes to rate all molecules, and how much memory, from a timed sample."""
    block = next(pool.blocks(columns=query.columns))
    sample = block.take(range(0, len(block), max(1, len(block) // SAMPLE)))
    _scan_block(sample.take(range(1)), query, Found.nothing(query))  # compiles what is not compiled yet
    begin = time.perf_counter()
    _scan_block(sample, query, Found.nothing(query))
    seconds = (time.perf_counter() - begin) / len(sample) * len(pool)
    memory = psutil.Process().memory_full_info().uss * (1 + (slots if slots > 1 else 0))
    return (
        f"{len(pool):,} molecules to rate, by a timed sample of {len(sample):,}: about {duration(seconds / slots)} "
        f"with {slots} at a time, and {memory / 1e9:.1f} GB of memory."
    )


def _pack(query: Query) -> bytes:
    rater, ranks = strip(query.rater)
    return pickle.dumps((replace(query, rater=rater), ranks))


@lru_cache(maxsize=1)
def _unpack(query: bytes, folder: Path) -> Query:
    packed: tuple[Query, PackedRanks | None] = pickle.loads(query)  # noqa: S301 - packed by `_pack`
    asked, ranks = packed
    return replace(asked, rater=restore(asked.rater, ranks, folder))


def _scan_block(block: Block, asked: Query, found: Found) -> None:
    on_columns, on_structures = limits_of(asked.settings, asked.names)
    cells = read_cells(block.cells, asked.names, asked.settings)
    selection = on_columns.select_rows(block.smiles, cells).organic(block.smiles)
    by_scaffold = asked.settings.per is not None and asked.settings.per not in asked.names.texts
    is_grouped = asked.pending is not None or not by_scaffold
    terms = asked.settings if is_grouped else replace(asked.settings, per=None, at_most=None)
    offers = find_offers(terms, cells, selection, block.smiles)
    offered = selection.mask & offers.priced
    found.rated += len(block)
    found.meeting += int(selection.mask.sum())
    found.unpriced += int((selection.mask & ~offers.priced).sum())
    offered &= [(part, row) not in asked.taken for part, row in block.places.tolist()]
    tests = _Tests(block, on_structures, asked)
    if asked.pending is not None:
        offered &= [(part, row) not in asked.pending for part, row in block.places.tolist()]
        found.spares.add(_list_spares(block, offers, np.flatnonzero(offered), tests, asked))
        return
    rating = asked.rater(block.traits, read_own_columns(block, asked.own, asked.settings) if asked.own else None)
    if asked.best is not None:  # what is too dear for this batch may still be better
        left = np.flatnonzero(offered)
        chances, ids = rating.exceeds(asked.best)[left], [block.ids[k] for k in left.tolist()]
        found.hopeful.add_if(chances, ids, block.places[left], lambda some: tests.is_sound(left[some]))
    if asked.settings.price is not None:
        offered &= np.nan_to_num(offers.prices, nan=math.inf) <= asked.money
    if asked.groups and not by_scaffold:
        offered &= np.array([group not in asked.groups for group in offers.groups], np.bool_)
    rest = np.flatnonzero(offered)
    prices = None if asked.settings.price is None or asked.settings.budget_only else offers.prices
    if asked.groups and by_scaffold:
        tests = _Tests(block, on_structures, asked, asked.groups)
    keys, places, names = rating.index(prices)[rest], block.places[rest], [block.smiles[k] for k in rest.tolist()]
    found.offered.add_if(keys, names, places, lambda some: tests.meets(rest[some]))
    if asked.judge is not None:
        found.sound.add_if(keys, names, places, lambda some: tests.may_come(rest[some]))


def _list_spares(
    block: Block, offers: Offers, index: NDArray[np.int64], tests: _Tests, asked: Query
) -> Iterator[Spare]:
    """Yield those of some molecules that meet the limits."""
    index = index[tests.meets(index)]
    places, prices = block.places[index].tolist(), offers.prices[index]
    for k, (part, row), price, probability in zip(index, places, prices, tests.probability(index), strict=True):
        sorts_as = float(probability) if probability > asked.likely else SOUND
        yield Spare(sorts_as, part, row, offers.groups[k], bool(price <= asked.money))


def limits_of(settings: SuggestSettings, names: ColumnNames) -> tuple[Limits, Limits]:
    """Return the limits on columns, and those on structures and what is computed of them."""
    here = [limit.text for limit in Limits(settings.require).requirements if limit.name in names.numbers]
    computed = [limit.text for limit in Limits(settings.require).requirements if limit.name not in names.numbers]
    return Limits(here, only=settings.only), Limits(computed, settings.forbid)


@dataclass(eq=False)
class _Tests:
    """Tests of structures, each made once, and only where its outcome matters."""

    block: Block
    limits: Limits
    asked: Query
    full: frozenset[str] = frozenset()  # scaffolds of which no other molecule is wanted
    _meets: dict[int, bool] = field(default_factory=dict)
    _probability: dict[int, float] = field(default_factory=dict)

    def meets(self, index: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some molecules meet the limits."""
        new = [k for k in index.tolist() if k not in self._meets]
        texts = [self.block.smiles[k] for k in new]
        mask = self.limits.select_rows(texts, LimitColumns(())).mask
        if self.full:
            mask &= np.array([scaffold not in self.full for scaffold in murcko_scaffolds(texts)], np.bool_)
        self._meets.update(zip(new, mask.tolist(), strict=True))
        return np.array([self._meets[k] for k in index.tolist()], np.bool_)

    def probability(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of some molecules to fail; 0 if failures do not teach."""
        if self.asked.judge is None:
            return np.zeros(len(index))
        new = [k for k in index.tolist() if k not in self._probability]
        probability = self.asked.judge.probability([self.block.smiles[k] for k in new])
        self._probability.update(zip(new, probability.tolist(), strict=True))
        return np.array([self._probability[k] for k in index.tolist()])

    def is_sound(self, index: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some molecules meet the limits and are not likely to fail."""
        sound = self.meets(index)
        sound[sound] = self.probability(index[sound]) <= self.asked.likely
        return sound

    def may_come(self, index: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some molecules meet the limits, and are not likely to fail or come back."""
        may = self.meets(index)
        met = index[may]
        probability = self.probability(met)
        may[may] = (probability <= self.asked.likely) | come_back(probability, self.block.places[met], self.asked.last)
        return may
