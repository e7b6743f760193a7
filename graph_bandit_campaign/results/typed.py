"""Results that somebody types, or a program tells, read as the rows of a table are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from graph_bandit_campaign.checks import Kind, check_value
from graph_bandit_campaign.results.classes import UnknownWordsError, read_classes
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, NoResultsError, ResultTables
from graph_bandit_env.tables import Table

Pair: TypeAlias = tuple[str, float | str] | tuple[str, float | str, float | str | None]
"""Id and value, as a number or as in the cell of a table; and perhaps the standard deviation of its noise."""
Typed: TypeAlias = Mapping[str, float | str] | Iterable[Pair]
COLUMNS = ("id", "smiles", "value", "noise")


@dataclass(frozen=True)
class Entry:
    """A result that somebody types, or a program sends."""

    id: str = ""
    """Id of the graph; it may be left out with a SMILES."""
    value: str | float = ""
    """A number, or a text as in the cell of a table: `4.5`, a bound such as `>4.5`, or `failed`."""
    goal: str = ""
    """Name of the measured quantity; it may be left out with one goal."""
    noise: str | float = ""
    """Standard deviation of the value; empty: it is not known."""
    smiles: str = ""
    """Structure of a molecule that is found by it."""


class _Given(Table):
    """Results that no file holds; messages name the graph of each."""

    def where(self, number: int) -> str:
        cells = dict(self.records)[number]
        return f"`{cells[0] or cells[1]}` (result {number})"


def read_typed(given: Typed, kind: Kind = "") -> tuple[list[MeasuredRow], Kind]:
    """Return the rows of results, and what their values are.

    Args:
        given: values by id; or pairs of id and value, or triples with the noise. A value is a number, True or False of
            a class, or a text as in the cell of a table: `4.5`, `>4.5`, `failed`, `pending`.
        kind: what the values are known to be; empty: they say it themselves.

    Raises:
        ValueError: if one cannot be understood; all that cannot are named.
    """
    pairs = [*given.items()] if isinstance(given, Mapping) else [*given]
    return read_entries([Entry(str(key), value, "", *noise) for key, value, *noise in pairs], kind)


def read_entries(entries: Sequence[Entry], kind: Kind = "") -> tuple[list[MeasuredRow], Kind]:
    """Return the rows of results of one goal; arguments and errors as of `read_typed`."""
    cells = [[each.id, each.smiles, _cell(each.id, each.value), _noise(each.id, each.noise)] for each in entries]
    table = _Given(Path("results"), COLUMNS, [*enumerate(cells, start=1)])
    if not cells:
        return [], kind
    tables, found, remark = ResultTables([table]), kind, ""
    with suppress(UnknownWordsError):  # each of which the reader names
        tables, found, remark = read_classes(tables, "value", kind)
    try:
        rows = tables.read(Columns("value", "id", noise="noise")).rows
    except NoResultsError:
        rows = []
    if len(rows) < len(cells):
        told = {row.where for row in rows}
        name, _, text, _ = next(cell for number, cell in enumerate(cells, start=1) if table.where(number) not in told)
        raise ValueError(f"Expected a number, a bound such as `>4.5`, or `failed`, of `{name}`. Got {text!r}.")
    return rows, found if remark else kind  # of numbers that are all 0 and 1, the first `ask` decides


def _cell(key: str, value: float | str) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return value if isinstance(value, str) else repr(check_value(key, value))


def _noise(key: str, value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    number = float(value) if isinstance(value, int | float | np.number) else math.nan
    if not number > 0:
        raise ValueError(f"Expected the noise of `{key}` to be a standard deviation above 0. Got {value!r}.")
    return repr(number)
