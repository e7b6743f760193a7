"""Sum up the rows of results of each molecule."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from graph_bandit_campaign.results.matching import IdMatcher, Matcher
from graph_bandit_campaign.results.measurement import Bound
from graph_bandit_campaign.results.rows import BadResultsError, MeasuredRow
from graph_bandit_env import GraphPool, MoleculeSet
from graph_bandit_env.pools import MOST_ATOMS

EXACT: Bound = ""


@dataclass(frozen=True)
class Books:
    """The results for each molecule, by its id in the pool or, if it is not there, in the table of results."""

    measured: tuple[tuple[str, float], ...] = ()
    """Ids and exact values, row by row."""
    failed: tuple[str, ...] = ()
    """Ids of molecules that could not be measured, by their last row."""
    pending: tuple[str, ...] = ()
    """Ids of molecules that are being measured, by their last row."""
    repeated: int = 0
    """How many rows repeat the molecule and value of an earlier row."""
    bounds: Mapping[str, str] = field(default_factory=dict)
    """Cells such as ">4.5" of molecules without an exact value, by id."""
    bounded: tuple[tuple[str, float, Bound], ...] = ()
    """Ids of these molecules, numbers, and on which side of these the values lie, row by row."""
    outside: Mapping[str, str] = field(default_factory=dict)
    """Ids and canonical SMILES of all these molecules that are not in the pool."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """SMILES of results that are another form of their molecule, or whose id was trusted, by its id."""
    features: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Values of the user's own columns in the rows of each molecule, by id: the mean of what is known, else NaN."""
    noisy: tuple[tuple[str, float, float], ...] = ()
    """Ids, exact values and their noise, row by row, where the noise is known; `measured` has the others."""
    conflicts: Mapping[str, str] = field(default_factory=dict)
    """What is told of molecules and cannot be true together, such as "1.5, failed", by id."""
    by_goal: Mapping[str, Books] = field(default_factory=dict)
    """With several goals, the results for each, by its name; `measured` and `bounded` are empty then."""

    def best(self, maximize: bool) -> Books:
        """Return the results with the best exact value of each molecule alone, such as that of docking poses.

        Args:
            maximize: whether large values are good.
        """
        best: dict[str, float] = {}
        for key, value in self.measured:
            best[key] = (max if maximize else min)(best.get(key, value), value)
        return replace(self, measured=tuple(best.items()), repeated=0)

    def rows(self) -> list[tuple[str, float, Bound, str]]:
        """Return ids, values, bounds and goals of all results, sorted."""
        results = [(*pair, EXACT, "") for pair in self.measured] + [(*triple, "") for triple in self.bounded]
        for goal, books in self.by_goal.items():
            results += [(*row[:3], goal) for row in books.rows()]
        return sorted(results)


def match_goals(
    rows_by_goal: Mapping[str, Iterable[MeasuredRow]],
    pool: GraphPool,
    structures: Mapping[str, str] | None = None,
    trust_ids: bool = False,
    most_atoms: int = MOST_ATOMS,
) -> dict[str, Books]:
    """Find the molecule of each row, and sum up its results for each goal; a name is the same molecule for all goals.

    Args:
        rows_by_goal: rows from `ResultTables.read`, by the name of the goal.
        pool: molecules or other graphs to choose from.
        structures: canonical SMILES of molecules that were suggested, by id; the pool need not have them any more.
        trust_ids: a row with a known id is that molecule, whatever its SMILES.
        most_atoms: how many atoms a molecule may have, without hydrogens.

    Raises:
        BadResultsError: a ValueError that lists the rows with an unknown molecule, or an id and SMILES that disagree;
            also if a name is one molecule for one goal, and another for another.
    """
    matcher: Matcher | IdMatcher = IdMatcher(pool.ids)
    if isinstance(pool, MoleculeSet):
        matcher = Matcher(pool, structures or {}, trust_ids, most_atoms)
    ours = matcher.ids | (structures or {}).keys()
    return {goal: _sum_up(rows, matcher, ours) for goal, rows in rows_by_goal.items()}


def _sum_up(rows: Iterable[MeasuredRow], matcher: Matcher | IdMatcher, ours: Collection[str]) -> Books:
    """Sum up rows; a molecule without a value is failed or pending only if it is one of ours."""
    results: list[tuple[str, float, Bound, float | None]] = []
    cells: dict[str, list[str]] = {}  # with bounds
    status: dict[str, str] = {}  # of molecules without a value, by their last row
    failures = set[str]()
    forms: dict[str, str] = {}
    features: dict[str, list[tuple[float, ...]]] = {}
    problems = []
    for row in rows:
        try:
            identifier, other = matcher.find(row)
        except ValueError as error:
            problems.append(f"{row.where}: {error}")
            continue
        forms |= {identifier: other} if other else {}
        if not all(map(math.isnan, row.features)):
            features.setdefault(identifier, []).append(row.features)
        if isinstance(row.value, str):
            status[identifier] = row.value
            failures |= {identifier} if row.value == "failed" else set()
        else:
            results.append((identifier, row.value, row.side, row.noise))
            if row.bound:
                cells.setdefault(identifier, []).append(row.bound)
    if problems:
        raise BadResultsError(problems)
    exact: dict[str, list[float]] = {}
    for identifier, value, side, _ in results:
        if not side:
            exact.setdefault(identifier, []).append(value)
    conflicts = _find_conflicts(exact, results, cells, failures)
    counted = [result for result in results if not (result[2] and result[0] in exact)]
    once, with_result = tuple(dict.fromkeys(counted)), {result[0] for result in counted}
    failed, pending = (
        tuple(key for key, word in status.items() if word == kind and key in ours and key not in with_result)
        for kind in ("failed", "pending")
    )
    needed = {*with_result, *failed, *pending}
    return Books(
        measured=tuple((key, value) for key, value, side, noise in once if not side and noise is None),
        failed=failed,
        pending=pending,
        repeated=len(counted) - len(once),
        bounds={key: ", ".join(dict.fromkeys(texts)) for key, texts in cells.items() if key not in exact},
        bounded=tuple((key, value, side) for key, value, side, _ in once if side),
        outside={key: text for key, text in matcher.outside.items() if key in needed},
        forms=forms,
        features={key: tuple(map(_mean_of_known, zip(*given, strict=True))) for key, given in features.items()},
        noisy=tuple((key, value, noise) for key, value, _, noise in once if noise is not None),
        conflicts=conflicts,
    )


def _find_conflicts(
    exact: Mapping[str, Sequence[float]],
    results: Iterable[tuple[str, float, Bound, float | None]],
    cells: Mapping[str, Sequence[str]],
    failures: Collection[str],
) -> dict[str, str]:
    """Return what was told of molecules and cannot be true together, by id: values, bounds and failures."""
    limits: dict[Bound, dict[str, float]] = {"": {}, "above": {}, "below": {}}
    for name, value, side, _ in results:
        tightest = max if side == "above" else min
        limits[side][name] = tightest(value, limits[side].get(name, value))
    conflicts = {}
    for name in dict.fromkeys((*exact, *cells)):
        values = exact.get(name, ())
        low, high = limits["above"].get(name, -math.inf), limits["below"].get(name, math.inf)
        if name in failures or low > min(high, max(values, default=math.inf)) or high < min(values, default=-math.inf):
            texts = (*(f"{value:g}" for value in values), *cells.get(name, ()), *["failed"] * (name in failures))
            conflicts[name] = ", ".join(dict.fromkeys(texts))
    return conflicts


def join_books(by_goal: Mapping[str, Books]) -> Books:
    """Return the results for several goals. A molecule failed or is pending if one of its results says so.

    One that failed is not pending, and neither is one that has a value for every goal.

    Args:
        by_goal: the results for each goal, by its name.
    """
    every = list(by_goal.values())
    with_results = [{row[0] for row in books.rows()} for books in every]
    settled = set.intersection(*with_results)
    sides: dict[str, list[tuple[float, ...]]] = {}
    for books in every:
        for key, values in books.features.items():
            sides.setdefault(key, []).append(values)
    failed = dict.fromkeys(key for books in every for key in books.failed if key not in settled)
    waiting = dict.fromkeys(key for books in every for key in books.pending if key not in settled and key not in failed)
    return Books(
        failed=tuple(failed),
        pending=tuple(waiting),
        repeated=sum(books.repeated for books in every),
        bounds={f"{key}, {goal}": text for goal, books in by_goal.items() for key, text in books.bounds.items()},
        outside={key: text for books in every for key, text in books.outside.items()},
        forms={key: text for books in every for key, text in books.forms.items()},
        features={key: tuple(map(_mean_of_known, zip(*given, strict=True))) for key, given in sides.items()},
        conflicts={f"{key}, {goal}": text for goal, books in by_goal.items() for key, text in books.conflicts.items()},
        by_goal=by_goal,
    )


def _mean_of_known(values: Sequence[float]) -> float:
    numbers = [value for value in values if not math.isnan(value)]
    return fmean(numbers) if numbers else math.nan
