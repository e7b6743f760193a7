"""Find the most promising molecules of a prepared pool, part by part, in parallel."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from agents.beliefs import short_list
from agents.molecule import Rater
from graph_bandit_campaign.constraints.batch.batch import ROUNDING, Terms
from graph_bandit_campaign.constraints.batch.offers import find_offers, murcko_scaffolds
from graph_bandit_campaign.constraints.limits.limits import ColumnNames, Limits, find_failures
from graph_bandit_campaign.model.failures import FailureRater
from graph_bandit_campaign.model.goals_choice import GoalsIndex, choose_short_list
from graph_bandit_campaign.pool.block import Block
from graph_bandit_campaign.pool.prepared.pool import Place, PreparedPool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.workers import results_of
from graph_bandit_env.pools import is_bare_salt

T = TypeVar("T")
Entry = tuple[str, int, int, str]
"""Name, part, row and group of a molecule."""
Places = NDArray[np.int64]
"""`(n, 2)`. Part and row of molecules in a prepared pool."""
AT_A_TIME = 256  # candidates that are tested before the threshold is updated
NEAR = 1e-8  # larger than the rounding of keys
SPARES = 10  # multiple of the batch size that is kept, for each group and in total


@dataclass(frozen=True, eq=False, kw_only=True)
class Query:
    """The query for each molecule of a pool."""

    raters: tuple[Rater, ...]
    """Raters of molecules given the results, one for each goal."""
    size: int
    """Number of the most promising molecules to find."""
    limits: Limits
    """Limits on columns and structures."""
    terms: Terms
    """Prices and groups."""
    names: ColumnNames
    """The columns of the pool for these options."""
    source: Source
    """The pool, with the user's own columns, which are input for the raters."""
    index: GoalsIndex | None = None
    """The worth of molecules for several goals. None if the first rater decides."""
    taken: frozenset[tuple[int, int]] = frozenset()
    """Part and row of molecules that are measured, failed or pending."""
    fails: FailureRater | None = None
    """Predicts failures of molecules. None if there are not enough failures."""
    likely: float = 1.0
    """Threshold for the probability of failure, above which a molecule is likely to fail."""
    seed: int = 0
    """Seed for breaking ties between molecules, for several goals."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return all columns to read."""
        return tuple(dict.fromkeys((*self.names.columns, *self.source.columns)))

    def numbers(self, block: Block) -> NDArray[np.float64] | None:
        """Return the user's own columns of some molecules, `(n, c)`, as input for raters, or None."""
        return block.numbers(self.source.columns, self.source.skip_bad_rows) if self.source.columns else None


class Best:
    """The molecules with the largest keys so far, as `agents.beliefs.short_list` would choose them from all.

    The number of molecules of each group is limited. Since a batch has a limit as well, the kept molecules suffice for
    any batch from the pool.

    Args:
        size: number of molecules to keep.
        seed: seed for breaking ties between keys.
        max_per_group: maximum number of molecules of one group. None means unlimited.
    """

    keys: NDArray[np.float64]
    """`(n,)`. Keys of the kept molecules."""
    entries: list[Entry]
    """The n kept molecules."""

    def __init__(self, size: int, seed: int, max_per_group: int | None = None) -> None:
        self._size, self._seed, self._max_per_group = size, seed, max_per_group
        self.keys, self.entries = np.zeros(0), []

    def add(
        self,
        keys: NDArray[np.float64],
        names: Sequence[str],
        places: Sequence[tuple[int, int]],
        groups_of: Callable[[list[int]], Sequence[str | None]],
    ) -> None:
        """Add n molecules.

        Args:
            keys: `(n,)`, without NaN.
            names: n names.
            places: part and row of each.
            groups_of: returns the groups of molecules, given their indices: an empty text without a group, None to
                exclude a molecule.
        """
        order = np.argsort(-keys, kind="stable")
        for start in range(0, len(order), AT_A_TIME):
            least = float(self.keys.min()) - NEAR if len(self.keys) >= self._size else -np.inf
            some = order[start : start + AT_A_TIME]
            some = some[keys[some] >= least].tolist()
            if not some:
                return
            found = [(k, group) for k, group in zip(some, groups_of(some), strict=True) if group is not None]
            self.merge(keys[[k for k, _ in found]], [(names[k], *places[k], group) for k, group in found])

    def merge(self, keys: NDArray[np.float64], entries: Sequence[Entry]) -> None:
        """Add the molecules of another list."""
        self.keys, self.entries = np.concatenate([self.keys, keys]), [*self.entries, *entries]
        if self._max_per_group is not None:
            groups: dict[str, list[int]] = {}
            for k, entry in enumerate(self.entries):
                groups.setdefault(entry[-1], []).append(k)
            alone = groups.pop("", [])
            self._keep([*alone, *(k for own in groups.values() for k in self._choose(own, self._max_per_group))])
        self._keep(self._choose(range(len(self.keys)), self._size))

    def _choose(self, index: Sequence[int], size: int) -> list[int]:
        """Return the best of some molecules."""
        kept = short_list(self.keys[index], [self.entries[k][0] for k in index], size, self._seed)
        return [index[k] for k in kept.tolist()]

    def _keep(self, index: Sequence[int]) -> None:
        self.keys, self.entries = self.keys[index], [self.entries[k] for k in index]


class Found:
    """The best molecules found: those with the largest index that meet the limits and the budget.

    For several goals, there is a list for each of many weightings.

    Args:
        query: the query.
    """

    def __init__(self, query: Query) -> None:
        max_per_group = None if query.terms.max_per_group is None else SPARES * query.terms.max_per_group
        count, kinds = 1 if query.index is None else len(query.index.ways), 1 if query.fails is None else 2
        self._size, self._seed = query.size, query.raters[0].seed if query.index is None else query.seed
        self._every = [[Best(query.size, self._seed, max_per_group) for _ in range(count)] for _ in range(kinds)]

    def merge(self, other: Found) -> None:
        """Add the molecules found elsewhere."""
        for mine, its in zip(chain(*self._every), chain(*other._every), strict=True):
            mine.merge(its.keys, its.entries)

    @property
    def places(self) -> set[Place]:
        """Return part and row of the best molecules, and of the best that are not likely to fail."""
        return {place for lists in self._every for place in self._join(lists)}

    def _join(self, lists: Sequence[Best]) -> list[Place]:
        """Return part and row of molecules that are among the best for a weighting, at most `size` of them."""
        place_of = {name: (part, row) for best in lists for name, part, row, _ in best.entries}
        names, worths = [*place_of], []
        rows = {name: row for row, name in enumerate(names)}
        for best in lists:
            worth = np.full(len(rows), -np.inf)
            worth[[rows[entry[0]] for entry in best.entries]] = best.keys
            worths.append(worth)
        kept = choose_short_list(worths, names, self._size, self._seed) if len(lists) > 1 else range(len(names))
        return [place_of[names[k]] for k in kept]

    def add(self, block: Block, query: Query) -> None:
        """Rate the molecules of a block, and keep the best."""
        terms, tests = query.terms, query.limits.tests(query.names.numbers)
        by_scaffold = terms.group_by is not None and terms.group_by not in query.names.texts
        cells = query.names.read(block.cells, query.source.skip_bad_rows)
        selection = query.limits.select_columns(len(block), cells)
        prices, given_groups = find_offers(terms, cells, selection)
        money = math.inf if terms.budget is None else terms.budget * (1 + ROUNDING)
        offered = selection.mask & (prices <= money)
        offered &= [(part, row) not in query.taken for part, row in block.places.tolist()]
        rest, own = np.flatnonzero(offered), query.numbers(block)
        ratings = [rater(block.descriptors, own, block.smiles) for rater in query.raters]
        if query.index is None:
            worths = [ratings[0].index(None if terms.price is None or terms.budget_only else prices)[rest]]
        else:
            worths = query.index.worths([rating.prediction for rating in ratings], rest, np.zeros(len(rest)))

        places = [(part, row) for part, row in block.places[rest].tolist()]
        names = [block.smiles[k] for k in rest.tolist()]

        def groups(some: list[int]) -> list[str | None]:
            """Return the groups of molecules, or None if they do not meet the limits on structures."""
            texts = [names[k] for k in some]
            given = murcko_scaffolds(texts) if by_scaffold else [given_groups[k] for k in rest[some]]
            are_bad = (find_failures(tests, texts) >= 0) | np.array([*map(is_bare_salt, texts)], np.bool_)
            return [None if is_bad else group for group, is_bad in zip(given, are_bad, strict=True)]

        def sound_groups(some: list[int]) -> list[str | None]:
            """Return the same groups, but also None for molecules that are likely to fail."""
            if query.fails is None or not some:
                return []
            at, texts = rest[some], [names[k] for k in some]
            likely = query.fails(block.descriptors.take(at), None if own is None else own[at], texts) > query.likely
            return [None if fails else group for group, fails in zip(find(some), likely, strict=True)]

        find = remember(groups)
        for lists, groups_of in zip(self._every, (find, remember(sound_groups)), strict=False):
            for best, worth in zip(lists, worths, strict=True):
                best.add(worth, names, places, groups_of)


def remember(compute: Callable[[list[int]], list[T]]) -> Callable[[list[int]], list[T]]:
    """Cache a function of indices, so that each value is computed once."""
    known = dict[int, T]()

    def values_of(index: list[int]) -> list[T]:
        new = [k for k in index if k not in known]
        known.update(zip(new, compute(new), strict=True))
        return [known[k] for k in index]

    return values_of


def scan(pool: PreparedPool, query: Query) -> Found:
    """Rate every molecule of a pool, and return the most promising ones.

    The result does not depend on parts, workers or their order.

    Args:
        pool: the pool.
        query: the query, whose source has the number of workers.

    Raises:
        ValueError, OSError: as `visit_parts`.
    """
    found = Found(query)
    for _, part in visit_parts(pool, query, find_best):
        found.merge(part)
    return found


def find_best(blocks: Iterable[Block], query: Query) -> Found:
    """Return the most promising molecules of some blocks."""
    found = Found(query)
    for block in blocks:
        found.add(block, query)
    return found


def visit_parts(
    pool: PreparedPool, query: Query, visit: Callable[[Iterable[Block], Query], T]
) -> Iterator[tuple[int, T]]:
    """Yield the number of each part and the result of a function for it, in the order of completion.

    If a process dies, its part is repeated.

    Args:
        pool: the pool.
        query: the query, whose source has the number of workers.
        visit: called with the blocks of a part, with the columns of the query, and the query. It must be picklable.

    Raises:
        ValueError: if a part is damaged or missing, or a cell of a required column cannot be read.
        ChildProcessError: an OSError, if two processes die during the same part.
    """
    work, count = partial(_visit_part, pool.folder.resolve(), pickle.dumps((visit, query))), pool.manifest.parts
    name, kept = f"part {{}} of {pool.folder}", "Give the same command again, with fewer --workers."
    return results_of(work, ((k,) for k in range(count)), query.source.workers, name, kept, "parts", count)


def _visit_part(folder: Path, packed: bytes, number: int) -> tuple[int, Any]:
    (visit, query), pool = _unpack(packed), PreparedPool.open(folder)
    return number, visit(pool.blocks(columns=query.columns, parts=[number]), query)


@lru_cache(maxsize=1)
def _unpack(packed: bytes) -> tuple[Callable[[Iterable[Block], Query], Any], Query]:
    visit, query = pickle.loads(packed)  # noqa: S301 - packed by `visit_parts`
    return visit, query
