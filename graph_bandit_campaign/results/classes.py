"""Read columns of two classes, such as `active` and `inactive`, as 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from graph_bandit_campaign.checks import Kind
from graph_bandit_campaign.results.rows import BOUND, WORDS, BadResultsError, ResultTables
from graph_bandit_campaign.text import find_column, listed
from graph_bandit_env.tables import Table

LOWER = frozenset({"no", "false", "negative", "neg", "low", "miss", "fail", "failed", "n", "f"})
UPPER = frozenset({"yes", "true", "positive", "pos", "high", "hit", "pass", "passed", "y", "t", "active"})
NOT = ("in", "non", "not", "un", "no")  # an upper class after one of these prefixes is the lower class
PASSED = frozenset({"pass", "passed"})  # with one of these, `failed` is a class, not a failed measurement
UNKNOWN = 0.5


class Cell(NamedTuple):
    """A nonempty cell."""

    where: str
    """File, sheet and number of its row."""
    text: str
    """Text as written."""
    value: float | None
    """The number, or NaN for a bound, or None for a word."""


def read_classes(tables: ResultTables, column: str, kind: Kind = "") -> tuple[dict[str, float], Kind, str]:
    """Check if the values of a goal are classes: 0 and 1, or words for these, such as `no` and `yes`.

    A single word is a class, but a single number is not.

    Args:
        tables: the tables of results.
        column: column of the goal.
        kind: known kind of the values. If empty, the column decides.

    Returns:
        The words, in lower case, with 0 or 1 for each, the kind of the values (empty if the column does not decide),
        and a remark.

    Raises:
        BadResultsError: a ValueError that lists the rows with a third value.
        ValueError: if there are only words, and it is unknown which of them is a hit.
    """
    cells = [cell for table in tables.tables for cell in _cells(table, column)]
    words, numbers = _words(cells), {cell.value for cell in cells} - {None}
    ranks = {word: rank_of(word, words) for word in words}
    unknown = {word for word, rank in ranks.items() if rank == UNKNOWN}
    if kind != "class" and (numbers - {0, 1} or (unknown and (numbers or kind == "number"))):
        return {}, kind, ""
    if words and words == unknown:
        got = f"Got {listed(sorted(words))} in column `{column}`."
        raise ValueError(f"Expected numbers, or 1 for a hit and 0 for the others. {got}")
    kind = kind or ("class" if words or len(numbers) == 2 else "")
    seen = " and ".join(f"`{text}`" for text in sorted(words - unknown) or ("0", "1"))
    wrong = [
        f"{cell.where}: expected one of two classes in `{column}`, as {seen}. Got {cell.text!r}. If the column holds "
        f"numbers, pass `--goal-kind {column}=number`."
        for cell in cells
        if cell.text.casefold() in unknown or cell.value not in (0, 1, None)
    ]
    if wrong:
        raise BadResultsError(wrong)
    remark = ", ".join(f"`{word}` is {ranks[word]:g}" for word in sorted(words))
    return ranks, kind, f"{remark} in `{column}`" * bool(ranks)


def _cells(table: Table, column: str) -> list[Cell]:
    """Return the nonempty cells of a column, or an empty list if the table lacks it."""
    name, cells = find_column(column, table.columns, str(table.path)), list[Cell]()
    for number, (text,) in replace(table, problems=[]).rows([name]) if name else ():
        bound, where = BOUND.fullmatch(text), table.where(number)
        try:
            value = table.number(bound[2] if bound else text)
        except ValueError:
            cells.append(Cell(where, text, None))
        else:
            cells += [Cell(where, text, math.nan if bound else value)] * (value is not None)
    return cells


def _words(cells: Collection[Cell]) -> set[str]:
    """Return the words in lower case, without those for failed or pending measurements."""
    words = {cell.text.casefold() for cell in cells if cell.value is None}
    return words - {word for word, state in WORDS.items() if state == "pending" or not words & PASSED}


def rank_of(word: str, words: Collection[str]) -> float:
    """Return 0 for the lower and 1 for the upper of two classes, by the meaning of words, or 0.5 if unknown."""

    def negates(word: str, other: str) -> bool:
        return any(word == prefix + mark + other for prefix in NOT for mark in ("", "-", " ", "_"))

    if word in LOWER or any(negates(word, other) for other in UPPER.union(words)):
        return 0.0
    return 1.0 if word in UPPER or any(negates(other, word) for other in words) else UNKNOWN
