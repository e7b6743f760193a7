"""Columns of two classes, such as `active` and `inactive`, read as results above and below one number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graph_bandit_campaign.names import find_column
from graph_bandit_campaign.results.rows import BOUND, WORDS
from graph_bandit_env.tables import Table

ABOVE, BELOW = ">0", "<0"  # in place of the upper and the lower class; any number would do
LOWER = frozenset({"no", "false", "negative", "neg", "low", "miss", "fail", "failed", "n", "f"})
NOT = ("in", "non", "not", "un", "no")  # an upper class after one of these is the lower one
PASSED = frozenset({"pass", "passed"})  # with one of these, `failed` is a class, and not a measurement that failed
MOST_WORDS = 5  # in a message


def order_classes(words: Iterable[str]) -> tuple[str, str]:
    """Return the lower and the upper of two classes, by what they mean or else by the alphabet.

    Which is which does not change what they teach: correlations may be negative.

    Args:
        words: two different words, in small letters.
    """
    first, second = sorted(words)

    def is_lower(word: str, other: str) -> bool:
        prefixes = (prefix + mark for prefix in NOT for mark in ("", "-", " ", "_"))
        return word in LOWER or any(word == prefix + other for prefix in prefixes)

    return (second, first) if is_lower(second, first) and not is_lower(first, second) else (first, second)


def classes_as_bounds(table: Table, column: str) -> tuple[Table, str]:
    """Return a table with bounds in place of two classes in a column, and a remark; the same one where it has values.

    Args:
        table: the table; its records are lists.
        column: name of the column.

    Raises:
        ValueError: if there are words, no numbers, and more or fewer classes than two.
    """
    name = find_column(column, table.columns, str(table.path)) or column
    words, has_values = set[str](), False
    for _, (cell,) in replace(table, problems=[]).rows([name]):
        word = cell.casefold()
        try:
            is_empty = table.number(BOUND.sub(r"\2", cell), "") is None
        except ValueError:
            words.add(word)
        else:
            has_values |= not is_empty
    states = set() if words & PASSED else words & WORDS.keys()
    classes = words - states
    if has_values or not classes:  # a word among numbers is told by who reads them
        return table, ""
    if len(classes) != 2:
        some = ", ".join(sorted(classes)[:MOST_WORDS]) + ", ..." * (len(classes) > MOST_WORDS)
        raise ValueError(
            f"Expected numbers, bounds such as `>4.5`, or two classes in column `{name}` of {table.path}. Got {some}."
        )
    lower, upper = order_classes(classes)
    place, text_of = table.columns.index(name), {lower: BELOW, upper: ABOVE}
    records = [
        (
            number,
            [text_of.get(str(cell).strip().casefold(), cell) if k == place else cell for k, cell in enumerate(cells)],
        )
        for number, cells in table.records
    ]
    return replace(table, records=records), f"`{name}` has two classes: `{upper}` counts as above `{lower}`"
