"""Find the most promising molecules of a prepared pool, part by part, in any number of processes."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.molecule import Rater
from graph_bandit_campaign.constraints.batch.batch import Terms
from graph_bandit_campaign.constraints.batch.offers import Offers, find_offers, murcko_scaffolds
from graph_bandit_campaign.constraints.limits.columns import ColumnNames, LimitColumns
from graph_bandit_campaign.constraints.limits.limits import Limits
from graph_bandit_campaign.model.failures import FailureRater
from graph_bandit_campaign.model.goals_index import GoalsIndex, choose_short_list
from graph_bandit_campaign.model.scan.best import Best, Places
from graph_bandit_campaign.model.scan.passes import make_pass
from graph_bandit_campaign.model.scan.spares import SOUND, Spare, Spares, come_back
from graph_bandit_campaign.pool.own_columns import PackedRanks, restore, strip
from graph_bandit_campaign.pool.prepared import Block, PreparedPool
from graph_bandit_campaign.pool.source import Source

KEPT = "Nothing was changed: give the same command again, with fewer --workers."


@dataclass(frozen=True, eq=False, kw_only=True)
class Query:
    """What is asked of each molecule of a pool."""

    raters: tuple[Rater, ...]
    """Rate molecules, given the results: one for each goal."""
    size: int
    """How many of the most promising molecules are wanted."""
    limits: Limits
    """Limits on columns and structures."""
    terms: Terms
    """Prices and groups."""
    names: ColumnNames
    """The columns of the pool that these are in."""
    source: Source
    """The pool, with the user's own columns, which the raters read."""
    index: GoalsIndex | None = None
    """What molecules are worth for several goals; None: the first rater says it."""
    taken: frozenset[tuple[int, int]] = frozenset()
    """Part and row of molecules that are measured, failed or pending."""
    fails: FailureRater | None = None
    """Rates how likely molecules are to fail; None: there are not enough failures."""
    likely: float = 1.0
    """Probability of failing above which a molecule is likely to fail."""
    best: float | None = None
    """The best result so far, as a reward; None: there is none, or results so far tell no scale."""
    hopeful: int = 0
    """How many of those are wanted that beat it with the largest probability."""
    seed: int = 0
    """Chooses among those of equal probability, and of equal worth for several goals."""
    signs: tuple[float, ...] = (1.0,)
    """1 for each goal, or -1 if it is learnt from minus its results."""
    groups: frozenset[str] = frozenset()
    """Groups of which no molecule is wanted: the batch holds as many as it may."""
    money: float = math.inf
    """What a molecule may cost."""
    last: Spare | None = None
    """Molecules that are likely to fail come back up to this one; None: none does."""
    lists_spares: bool = False
    """Whether that one is looked for, and nothing else."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return all columns that are read."""
        return tuple(dict.fromkeys((*self.names.columns, *self.source.columns)))

    @property
    def every_rater(self) -> list[Rater]:
        """Return the raters, and that of failures after them if there is one."""
        return [*self.raters, *([self.fails.rater] if self.fails else [])]

    def with_raters(self, raters: Sequence[Rater]) -> Query:
        """Return the same query with others in the place of `every_rater`."""
        fails = self.fails and replace(self.fails, rater=raters[-1])
        return replace(self, raters=tuple(raters[: len(self.raters)]), fails=fails)

    def numbers(self, block: Block) -> NDArray[np.float64] | None:
        """Return the user's own columns of some molecules, `(n, c)`, as raters read them; None: there are none."""
        return block.numbers(self.source.columns, self.source.skip_bad_rows) if self.source.columns else None


class Ways:
    """The molecules with the largest keys for each of some ways to rank them; with one goal there is one.

    Args:
        count: number of ways.
        size: how many are kept for each.
        seed: chooses among equal keys.
    """

    def __init__(self, count: int, size: int, seed: int) -> None:
        self.size, self.seed, self.lists = size, seed, [Best(size, seed) for _ in range(count)]

    def merge(self, other: Ways) -> None:
        """Take in what other lists have kept."""
        for mine, its in zip(self.lists, other.lists, strict=True):
            mine.merge(its)

    @property
    def is_full(self) -> bool:
        """Return whether there are as many molecules as are wanted."""
        return len(self.lists[0].keys) >= self.size

    @property
    def places(self) -> Places:
        """Return part and row of those that are among the best for one of the ways, `(n, 2)`, n at most the size."""
        if len(self.lists) == 1:
            return self.lists[0].places
        place_of = {
            name: place for best in self.lists for name, place in zip(best.names, best.places.tolist(), strict=True)
        }
        names, worths = list(place_of), []
        rows = {name: row for row, name in enumerate(names)}
        for best in self.lists:
            worth = np.full(len(names), -np.inf)
            worth[[rows[name] for name in best.names]] = best.keys
            worths.append(worth)
        kept = choose_short_list(worths, names, self.size, self.seed).tolist()
        return np.array([place_of[names[k]] for k in kept], np.int64).reshape(-1, 2)


@dataclass(eq=False)
class Found:
    """The molecules that were found, by three measures."""

    offered: Ways
    """Largest index among those that meet the limits."""
    sound: Ways
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
    dear: set[str] = field(default_factory=set)
    """Groups of those that meet all limits, are not of a full group and cost too much; empty texts for scaffolds."""

    @classmethod
    def nothing(cls, query: Query) -> Found:
        """Return empty lists for the answer to a query."""
        count, seed = 1 if query.index is None else len(query.index.ways), query.raters[0].seed
        seed = seed if query.index is None else query.seed
        offered, sound = (Ways(count, query.size, seed) for _ in range(2))
        spares = Spares(query.terms.count, query.terms.at_most)
        return cls(offered, sound, Best(query.hopeful, query.seed), spares)

    def merge(self, other: Found) -> None:
        """Take in what was found elsewhere."""
        self.offered.merge(other.offered)
        self.sound.merge(other.sound)
        self.hopeful.merge(other.hopeful)
        self.spares.merge(other.spares)
        self.rated += other.rated
        self.meeting += other.meeting
        self.unpriced += other.unpriced
        self.dear |= other.dear

    @property
    def places(self) -> set[tuple[int, int]]:
        """Return part and row of each molecule that was found."""
        every = np.concatenate([self.offered.places, self.sound.places, self.hopeful.places])
        return set(map(tuple, every.tolist()))


def scan(pool: PreparedPool, query: Query) -> Found:
    """Rate every molecule of a pool, and return the most promising ones.

    The answer does not depend on parts, workers or their order. A process that dies costs its part, which is done
    again.

    Args:
        pool: the pool.
        query: what is asked; its source says which workers answer.

    Raises:
        ValueError: if a part is damaged or missing, or a cell of a column that is needed cannot be read.
        ChildProcessError: an OSError, if two processes die at the same part.
    """
    scanned, wrong = Found.nothing(query), dict[int, ValueError]()
    work = partial(scan_part, pool.folder.resolve(), pickle.dumps(strip_raters(query)))
    for result in make_pass(pool, query.source, work, KEPT, "molecules", stop=lambda: bool(wrong)):
        if isinstance(result, Found):
            scanned.merge(result)
        else:
            wrong.update([result])
    if wrong:
        raise wrong[min(wrong)]
    return scanned


def scan_part(folder: Path, query: bytes, number: int) -> Found | tuple[int, ValueError]:
    """Rate the molecules of a part; return its number and what is wrong with it, if something is.

    Args:
        folder: folder of the pool.
        query: a `Query` that was packed.
        number: number of the part.
    """
    asked, pool = _unpack(query, folder), PreparedPool.open(folder)
    scanned = Found.nothing(asked)
    try:
        for block in pool.parts[number].blocks(columns=asked.columns):
            _scan_block(block, asked, scanned)
    except ValueError as error:  # of all workers' errors that of the first part is told
        return number, error
    return scanned


def strip_raters(query: Query) -> tuple[Query, list[PackedRanks | None]]:
    """Return a query whose raters lack their ranks, and these as they travel."""
    raters, ranks = zip(*map(strip, query.every_rater), strict=True)
    return query.with_raters(raters), list(ranks)


def restore_raters(query: Query, ranks: Sequence[PackedRanks | None], folder: Path) -> Query:
    """Return the query of `strip_raters` with the ranks, whose files are in the folder of the pool."""
    pairs = zip(query.every_rater, ranks, strict=True)
    return query.with_raters([restore(rater, own, folder) for rater, own in pairs])


@lru_cache(maxsize=1)
def _unpack(packed: bytes, folder: Path) -> Query:
    query, ranks = pickle.loads(packed)  # noqa: S301 - packed by `scan`
    return restore_raters(query, ranks, folder)


def _scan_block(block: Block, asked: Query, scanned: Found) -> None:
    on_columns, on_structures = asked.limits.split(asked.names.numbers)
    terms, skip_bad = asked.terms, asked.source.skip_bad_rows
    cells = asked.names.read(block.cells, skip_bad)
    selection = on_columns.select_rows(block.smiles, cells).organic(block.smiles)
    by_scaffold = terms.per is not None and terms.per not in asked.names.texts
    is_grouped = asked.lists_spares or not by_scaffold
    offers = find_offers(
        terms if is_grouped else replace(terms, per=None, at_most=None), cells, selection, block.smiles
    )
    offered = selection.mask & offers.priced
    scanned.rated += len(block)
    scanned.meeting += int(selection.mask.sum())
    scanned.unpriced += int((selection.mask & ~offers.priced).sum())
    offered &= [(part, row) not in asked.taken for part, row in block.places.tolist()]
    own = asked.numbers(block)
    tests = _Tests(block, on_structures, asked, own)
    if asked.lists_spares:
        scanned.spares.add(_list_spares(block, offers, np.flatnonzero(offered), tests, asked))
        return
    ratings = [rater(block.traits, own, block.smiles) for rater in asked.raters]
    if asked.best is not None:  # what is too dear for this batch may still be better
        left = np.flatnonzero(offered)
        chances, ids = ratings[0].exceeds(asked.best)[left], [block.ids[k] for k in left.tolist()]
        scanned.hopeful.add_if(chances, ids, block.places[left], lambda some: tests.is_sound(left[some]))
    if asked.groups and not by_scaffold:
        offered &= np.array([group not in asked.groups for group in offers.groups], np.bool_)
    if asked.groups and by_scaffold:
        tests = _Tests(block, on_structures, asked, own, asked.groups)
    if terms.price is not None:
        cheap = np.nan_to_num(offers.prices, nan=math.inf) <= asked.money
        for k in np.flatnonzero(offered & ~cheap).tolist():
            if offers.groups[k] not in scanned.dear and tests.meets(np.array([k])).all():
                scanned.dear.add(offers.groups[k])
        offered &= cheap
    rest = np.flatnonzero(offered)
    places, names = block.places[rest], [block.smiles[k] for k in rest.tolist()]
    if asked.index is None:
        prices = None if terms.price is None or terms.budget_only else offers.prices
        worths = [ratings[0].index(prices)[rest]]
    else:
        forecasts = [(rating.prediction.mean[rest], rating.prediction.std[rest]) for rating in ratings]
        worths = asked.index.worths(
            [(sign * mean, std) for sign, (mean, std) in zip(asked.signs, forecasts, strict=True)]
        )
    for way, worth in enumerate(worths):
        scanned.offered.lists[way].add_if(worth, names, places, lambda some: tests.meets(rest[some]))
        if asked.fails is not None:
            scanned.sound.lists[way].add_if(worth, names, places, lambda some: tests.may_come(rest[some]))


def _list_spares(
    block: Block, offers: Offers, index: NDArray[np.int64], tests: _Tests, asked: Query
) -> Iterator[Spare]:
    """Yield those of some molecules that meet the limits."""
    index = index[tests.meets(index)]
    places, prices = block.places[index].tolist(), offers.prices[index]
    for k, (part, row), price, probability in zip(index, places, prices, tests.probability(index), strict=True):
        sorts_as = float(probability) if probability > asked.likely else SOUND
        yield Spare(sorts_as, part, row, offers.groups[k], bool(price <= asked.money))


@dataclass(eq=False)
class _Tests:
    """Tests of structures, each made once, and only where its outcome matters."""

    block: Block
    limits: Limits
    asked: Query
    own: NDArray[np.float64] | None
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
        """Return the probability of some molecules to fail; 0 if there are not enough failures."""
        if self.asked.fails is None:
            return np.zeros(len(index))
        new = [k for k in index.tolist() if k not in self._probability]
        if new:
            own, smiles = None if self.own is None else self.own[new], [self.block.smiles[k] for k in new]
            probability = self.asked.fails(self.block.traits.take(np.array(new)), own, smiles)
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
