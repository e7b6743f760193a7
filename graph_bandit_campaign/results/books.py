"""Sum up the rows of results of each molecule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TypeVar, cast

from graph_bandit_campaign.pool.forms import parent_of
from graph_bandit_campaign.results.matching import Matcher
from graph_bandit_campaign.results.measurement import Measurement
from graph_bandit_campaign.results.rows import BadResultsError, MeasuredRow
from graph_bandit_env import GraphPool, MoleculeSet, canonical_smiles, from_smiles
from graph_bandit_env.pools import MOST_ATOMS

Molecules = TypeVar("Molecules", bound=MoleculeSet)


@dataclass(frozen=True)
class Books:
    """The results for each molecule, by its id in the pool or, if it is not there, in the table of results."""

    results: tuple[Measurement, ...] = ()
    """Values and, of molecules without an exact value, bounds; each once for a molecule and goal."""
    failed: tuple[str, ...] = ()
    """Ids of molecules that could not be measured, by their last row."""
    pending: tuple[str, ...] = ()
    """Ids of molecules that are being measured, by their last row."""
    repeated: int = 0
    """How many rows repeat the molecule and value of an earlier row."""
    bounds: Mapping[str, str] = field(default_factory=dict)
    """Cells such as ">4.5" of molecules without an exact value, by id; with several goals "id, goal"."""
    outside: Mapping[str, str] = field(default_factory=dict)
    """Ids and canonical SMILES of all these molecules that are not in the pool."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """SMILES of results that are another form of their molecule, or whose id was trusted, by its id."""
    features: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Values of the user's own columns in the rows of each molecule, by id: the mean of what is known, else NaN."""
    conflicts: Mapping[str, str] = field(default_factory=dict)
    """Results that contradict each other, such as "1.5, failed", by id as in `bounds`."""

    def values(self) -> dict[str, dict[str, list[float]]]:
        """Return the exact values of each molecule, by the name of the goal and by id."""
        values: dict[str, dict[str, list[float]]] = {}
        for result in self.results:
            if not result.bound:
                values.setdefault(result.goal, {}).setdefault(result.id, []).append(result.value)
        return values

    def best(self, maximize: bool) -> Books:
        """Return the results with the best exact value of each molecule alone, such as that of docking poses.

        Args:
            maximize: whether large values are good.
        """
        exact = [result for result in self.results if not result.bound]
        best = {result.id: result for result in sorted(exact, key=lambda each: each.value, reverse=not maximize)}
        return replace(self, results=(*best.values(), *(each for each in self.results if each.bound)), repeated=0)


def match_results(
    rows_by_goal: Mapping[str, Iterable[MeasuredRow]],
    pool: GraphPool,
    structures: Mapping[str, str] | None = None,
    trust_ids: bool = False,
    most_atoms: int = MOST_ATOMS,
    several_goals: bool = False,
) -> Books:
    """Find the molecule of each row, and sum up its results; a name is the same molecule for all goals.

    A molecule is failed or pending if it is one of ours, its last row for a goal says so, and it has no value for that
    goal. One that failed is not pending, and neither is one that has a value for every goal.

    Args:
        rows_by_goal: rows from `ResultTables.read`, by the name of the goal.
        pool: molecules or other graphs to choose from.
        structures: canonical SMILES of molecules that were suggested, by id; the pool need not have them any more.
        trust_ids: a row with a known id is that molecule, whatever its SMILES.
        most_atoms: how many atoms a molecule may have, without hydrogens.
        several_goals: whether results are kept by goal.

    Raises:
        BadResultsError: a ValueError that lists the rows with an unknown molecule, or an id and SMILES that disagree;
            also if a name is one molecule for one goal, and another for another.
    """
    matcher = Matcher(pool, structures or {}, trust_ids, most_atoms)
    ours = matcher.ids | (structures or {}).keys()
    groups: dict[tuple[str, str], list[MeasuredRow]] = {}
    forms: dict[str, str] = {}
    features: dict[str, list[tuple[float, ...]]] = {}
    problems: dict[str, None] = {}
    for goal, rows in rows_by_goal.items():
        for row in rows:
            try:
                identifier, other = matcher.find(row)
            except ValueError as error:
                problems[f"{row.where}: {error}"] = None
                continue
            groups.setdefault((goal * several_goals, identifier), []).append(row)
            forms |= {identifier: other} if other else {}
            if not all(map(math.isnan, row.features)):
                features.setdefault(identifier, []).append(row.features)
    if problems:
        raise BadResultsError(list(problems))
    results, repeated = list[Measurement](), 0
    bounds, conflicts, states = dict[str, str](), dict[str, str](), dict[str, dict[str, None]]()
    for (goal, identifier), given in groups.items():
        exact = [row for row in given if not row.bound and not isinstance(row.value, str)]
        bounded = [row for row in given if row.bound]
        counted = [Measurement(identifier, float(row.value), 0, row.side, goal, row.noise) for row in exact or bounded]
        repeated += len(counted) - len(set(counted))
        results += dict.fromkeys(counted)
        name = ", ".join(filter(None, (identifier, goal)))
        if bounded and not exact:
            bounds[name] = ", ".join(dict.fromkeys(row.bound for row in bounded))
        if text := _find_conflict(exact, bounded, any(row.value == "failed" for row in given)):
            conflicts[name] = text
        if not counted and identifier in ours:
            states.setdefault(str(given[-1].value), {})[identifier] = None
    with_results = [{result.id for result in results if result.goal == goal} for goal in {goal for goal, _ in groups}]
    settled = set.intersection(*with_results) if len(with_results) == len(rows_by_goal) else set()
    failed = [key for key in states.get("failed", ()) if key not in settled]
    pending = [key for key in states.get("pending", ()) if key not in settled and key not in failed]
    needed = {*(result.id for result in results), *failed, *pending}
    return Books(
        results=tuple(results),
        failed=tuple(failed),
        pending=tuple(pending),
        repeated=repeated,
        bounds=bounds,
        outside={key: text for key, text in matcher.outside.items() if key in needed},
        forms=forms,
        features={key: tuple(map(_mean_of_known, zip(*given, strict=True))) for key, given in features.items()},
        conflicts=conflicts,
    )


def match_molecules(
    rows: Mapping[str, Sequence[MeasuredRow]],
    pool: Molecules,
    structures: Mapping[str, str],
    pending: Sequence[str],
    trust_ids: bool,
    most_atoms: int,
    several_goals: bool,
) -> tuple[Books, Molecules]:
    """Return the results of each molecule; and the pool, then molecules that are measured or pending and not in it.

    Args:
        rows: rows of results of each goal, by its name.
        pool: the pool, or all of it that results and earlier rounds speak of.
        structures: SMILES of the molecules that were suggested before, by id.
        pending: ids of those that are pending.
        trust_ids: a row with a known id is that molecule, whatever its SMILES.
        most_atoms: how many atoms a molecule may have, without hydrogens.
        several_goals: whether results are kept by goal.

    Raises:
        ValueError: if the pool gives the id of a molecule that was suggested to another one, or a row cannot be
            understood.
    """
    standard = {
        identifier: pool.standard_smiles(canonical_smiles(text, most_atoms) or text)
        for identifier, text in structures.items()
    }
    for identifier, text in zip(pool.ids, pool.smiles, strict=True):
        before = standard.get(identifier, text)
        if text != before and not trust_ids and parent_of(text) != parent_of(before):
            raise ValueError(
                f"Expected `{identifier}` to be {before}, as in earlier rounds. The pool has {text}. Correct the pool; "
                "pass --trust-ids if it was corrected; or use another --out to start a new campaign."
            )
        if identifier in standard:
            standard[identifier] = text
    books = match_results(rows, pool, standard, trust_ids, most_atoms, several_goals)
    in_pool, outside = {*pool.smiles, *books.outside.values()}, dict(books.outside)
    for identifier in pending:
        if identifier in standard and standard[identifier] not in in_pool:
            outside[identifier] = standard[identifier]
    if not outside:
        return books, pool
    others = from_smiles(list(outside.values()), ids=list(outside), most_atoms=most_atoms, salts=pool.salts)
    return books, cast(Molecules, pool.join(others))


def _find_conflict(exact: Sequence[MeasuredRow], bounded: Sequence[MeasuredRow], failed: bool) -> str:
    """Return the results of a molecule if they cannot be true together; else an empty text."""
    values = [float(row.value) for row in exact]
    low = max((float(row.value) for row in bounded if row.side == "above"), default=-math.inf)
    high = min((float(row.value) for row in bounded if row.side == "below"), default=math.inf)
    contradict = low > min(high, max(values, default=math.inf)) or high < min(values, default=-math.inf)
    texts = (*(f"{value:g}" for value in values), *(row.bound for row in bounded), *["failed"] * failed)
    return ", ".join(dict.fromkeys(texts)) * ((failed and bool(exact or bounded)) or contradict)


def _mean_of_known(values: Sequence[float]) -> float:
    numbers = [value for value in values if not math.isnan(value)]
    return fmean(numbers) if numbers else math.nan
