"""Columns that limits, prices and groups are in, row by row; a molecule may have several rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from graph_bandit_campaign.pool.block import Cells
from graph_bandit_campaign.text import find_column


@dataclass(frozen=True)
class LimitColumns:
    """R rows of columns, which belong to molecules."""

    owners: Sequence[int]
    """Index of the molecule of each row."""
    numbers: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Columns of numbers by name as the limit has it, NaN where a value is not known."""
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Columns of text by name as the limit has it, empty where a value is not known."""


@dataclass(frozen=True)
class ColumnNames:
    """Columns of the pool's table, by their name in a limit, or in what was said of prices and groups."""

    numbers: Mapping[str, str] = field(default_factory=dict)
    """Columns of numbers."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Columns of text."""
    price: str = ""
    """Name of that of prices; empty: there is none."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns, each once."""
        return tuple(dict.fromkeys((*self.numbers.values(), *self.texts.values())))

    def read(self, cells: Cells, skip_bad: bool) -> LimitColumns:
        """Read the columns of some molecules, row by row.

        Args:
            cells: cells of these columns.
            skip_bad: whether a value that cannot be read counts as not known.

        Raises:
            ValueError: if a cell of numbers is not a number, or a price not above 0, and `skip_bad` is False.
        """
        numbers = {
            name: cells.numbers(column, skip_bad, name == self.price).tolist() for name, column in self.numbers.items()
        }
        texts = {name: cells.words(column) for name, column in self.texts.items()}
        return LimitColumns(cells.owners.tolist(), numbers, texts)


def need_column(name: str, columns: Iterable[str], source: str, said: str, instead: str = "") -> str:
    """Return the column of a name, whose capitals do not count.

    Args:
        name: the name.
        columns: all columns that there are.
        source: where they are, for messages.
        said: what the user said.
        instead: what else the user may do.

    Raises:
        ValueError: if there is no such column.
    """
    names = tuple(filter(None, columns))
    column = find_column(name, names, source)
    if not column:
        listed = f"It has {', '.join(names)}" if names else "There are no columns"
        raise ValueError(f"Expected `{said}` to name a column of {source}. {listed}.{instead}")
    return column


def check_cells(name: str, cells: Sequence[object], count: int, kind: Literal["numbers", "texts"]) -> list[Any]:
    """Return the cells of a column.

    Raises:
        ValueError: if there are not `count` cells, or one is not of this kind.
    """
    values = np.array([*cells])
    if values.shape != (count,) or values.dtype.kind not in ("biuf" if kind == "numbers" else "U"):
        raise ValueError(f"Expected {count} {kind} in column `{name}`. Got {values.dtype} of shape `{values.shape}`.")
    return [*values.tolist()]
