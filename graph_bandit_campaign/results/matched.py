"""Find the graph of each row of results, and turn the rows into results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from graph_bandit_campaign.results.measurement import TYPED, Failure, Measurement, Result
from graph_bandit_campaign.results.rows import BadResultsError, MeasuredRow

Find = Callable[[MeasuredRow], tuple[str, str]]
"""Returns the id of a row's graph, and its SMILES in the row if that is another form; refuses what it cannot find."""


@dataclass(frozen=True)
class Matched:
    """Results of graphs that were found, before a campaign takes them in."""

    results: tuple[Result, ...] = ()
    """Values, bounds and failures, each with the table of its row; of the words of a graph its last row counts."""
    pending: tuple[str, ...] = ()
    """Ids of graphs that are being measured, by their last row."""
    rows: frozenset[tuple[str, str, str]] = frozenset()
    """Table, id and goal of every row."""
    structures: Mapping[str, str] = field(default_factory=dict)
    """What tells the graphs apart, by id."""
    outside: frozenset[str] = frozenset()
    """Ids of graphs that are not in the pool."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """SMILES of results that are another form of their molecule, or whose id was trusted, by its id."""
    features: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Values of the user's own columns in the rows of each graph, by id and column: the mean of what is known."""

    def best(self, maximize: bool) -> Matched:
        """Return the results with the best exact value of each graph alone, such as that of docking poses.

        Args:
            maximize: whether large values are good.
        """
        exact = [each for each in self.results if isinstance(each, Measurement) and not each.bound]
        best = {result.id: result for result in sorted(exact, key=lambda each: each.value, reverse=not maximize)}
        others = (each for each in self.results if not isinstance(each, Measurement) or each.bound)
        return replace(self, results=(*best.values(), *others))


def match_rows(
    rows_by_goal: Mapping[str, Iterable[MeasuredRow]],
    find: Find,
    columns: Sequence[str] = (),
    several: bool = False,
    sources: Mapping[str, str] | None = None,
) -> Matched:
    """Find the graph of each row; a name is the same graph for all goals.

    Args:
        rows_by_goal: rows from `ResultTables.read`, by the name of the goal.
        find: finds the graph of a row.
        columns: the user's own columns, of which each row has a value.
        several: whether results are kept by goal.
        sources: what the campaign calls each table, by its path; others are `TYPED`.

    Raises:
        BadResultsError: a ValueError that lists the rows whose graph is not found.
    """
    results, forms, problems = list[Result](), dict[str, str](), dict[str, None]()
    words, places = dict[tuple[str, str], tuple[str, str]](), set[tuple[str, str, str]]()
    known: dict[str, dict[str, list[float]]] = {}
    for name, rows in rows_by_goal.items():
        goal = name * several
        for row in rows:
            try:
                identifier, other = find(row)
            except ValueError as error:
                problems[f"{row.where}: {error}"] = None
                continue
            source = (sources or {}).get(row.table, TYPED)
            places.add((source, identifier, goal))
            forms |= {identifier: other} if other else {}
            for column, number in zip(columns, row.features, strict=False):
                if not math.isnan(number):
                    known.setdefault(identifier, {}).setdefault(column, []).append(number)
            if isinstance(row.value, str):
                words[identifier, goal] = row.value, source
            else:
                results.append(Measurement(identifier, row.value, 0, row.side, goal, row.noise, (source,)))
    if problems:
        raise BadResultsError(list(problems))
    results += [
        Failure(key, goal=goal, sources=(source,)) for (key, goal), (word, source) in words.items() if word == "failed"
    ]
    pending = dict.fromkeys(key for (key, _), (word, _) in words.items() if word == "pending")
    return Matched(
        results=tuple(results),
        pending=tuple(pending),
        rows=frozenset(places),
        forms=forms,
        features={key: {column: fmean(given) for column, given in by.items()} for key, by in known.items()},
    )
