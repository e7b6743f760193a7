"""Read results that a user types, or a program sends, like cells of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from graph_bandit_campaign.checks import Kind, check_noise, check_value
from graph_bandit_campaign.results.classes import UNKNOWN, rank_of
from graph_bandit_campaign.results.rows import WORDS, BadResultsError, MeasuredRow, read_cell
from graph_bandit_env.tables import Table

Pair: TypeAlias = tuple[str, float | str] | tuple[str, float | str, float | str | None]
"""Id and value, as a number or as in the cell of a table, and optionally the standard deviation of its noise."""
Typed: TypeAlias = Mapping[str, float | str] | Iterable[Pair]
PLAIN = Table(Path("results"), ("value",), ())
"""Parses numbers with decimal points."""


@dataclass(frozen=True)
class Entry:
    """A result that a user types, or a program sends."""

    id: str = ""
    """Id of the graph. Optional with a SMILES."""
    value: str | float = ""
    """A number, True or False for a class, or a text: `4.5`, `yes`, a bound such as `>4.5`, or `failed`."""
    goal: str = ""
    """Name of the measured quantity. Optional for a single goal."""
    noise: str | float = ""
    """Standard deviation of the value. Empty if unknown."""
    smiles: str = ""
    """Structure that identifies a molecule."""


def read_typed(given: Typed, goal: str = "") -> list[Entry]:
    """Return results as entries.

    Args:
        given: values by id, or pairs of id and value, or triples with the noise.
        goal: name of the measured quantity.
    """
    pairs = [*given.items()] if isinstance(given, Mapping) else [*given]
    return [Entry(str(key), value, goal, *noise) for key, value, *noise in pairs]


def read_entries(
    entries: Sequence[Entry], quantities: Sequence[str], kind: Kind
) -> tuple[dict[str, list[MeasuredRow]], Kind]:
    """Return the rows of results of each goal, by its name, and the kind of the values of a single goal.

    Args:
        entries: the results. A failure without a goal applies to all goals.
        quantities: names of the goals. For a single goal, entries need not name it.
        kind: known kind of the values. If empty, words decide, and for 0 and 1 the first `ask` decides.

    Raises:
        BadResultsError: a ValueError that lists the results that are invalid, or have an unknown goal.
    """
    rows, problems, words = dict[str, list[MeasuredRow]](), list[str](), 0
    for number, each in enumerate(entries, start=1):
        where = f"`{each.id or each.smiles}` (result {number})"
        given = f"{each.value}" if isinstance(each.value, bool | np.bool_) else each.value
        try:
            value: float | str | None = None
            bound = ""
            if isinstance(given, str):
                word = given.strip().casefold()
                rank = rank_of(word, {word}) if kind != "number" and word not in WORDS else UNKNOWN
                value, bound = (rank, "") if rank != UNKNOWN else read_cell(given.strip(), PLAIN)
                words += rank != UNKNOWN
                if value is None:
                    raise ValueError(f"expected a number, a bound such as `>4.5`, or `failed`. Got {given!r}.")
            else:
                value = check_value(each.id, given)
            noise = PLAIN.number(each.noise) if isinstance(each.noise, str) else each.noise
            row = MeasuredRow(where, each.id, each.smiles, value, bound, (), check_noise(each.id, noise, bound))
            names = (each.goal,) if each.goal or not (value == "failed" or len(quantities) == 1) else quantities
            if not {*names} <= {*quantities}:
                raise ValueError(f"expected its goal to be one of {', '.join(quantities)}. Got {each.goal!r}.")
        except ValueError as error:
            problems.append(f"{where}: {error}")
            continue
        for name in names:
            rows.setdefault(name, []).append(row)
    if problems:
        raise BadResultsError(problems)
    return rows, kind or ("class" if words and words == len(entries) else "")
