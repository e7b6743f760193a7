"""Read the rows of a table of graphs that are written as text: cells of networks, or architectures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from graph_bandit_env.tables import Table


class GraphRows(NamedTuple):
    """The rows of a table, each a graph."""

    texts: list[list[str]]
    """The cells that describe each graph."""
    ids: list[str] | None
    """Their identifiers, if a column of them was asked for."""
    targets: list[float]
    """Their values, NaN where there is none."""


def read_graph_rows(
    table: Table, columns: Sequence[str], read: Callable[..., object], target: str | None, identifier: str | None
) -> GraphRows:
    """Read all rows of a table.

    Args:
        table: the table.
        columns: the columns that describe a graph.
        read: called with the cells of these columns; it raises a ValueError if they are not a graph.
        target: column of the values; None: there are none.
        identifier: column of the identifiers, or None.

    Raises:
        ValueError: if a column is missing, a row is not a graph, a value is not a number, or there is no row.
    """
    rows = GraphRows([], None if identifier is None else [], [])
    for number, cells in table.rows([*columns, *filter(None, (identifier, target))]):
        texts = cells[: len(columns)]
        try:
            read(*texts)
            value = None if target is None else table.number(cells[-1], f" in `{target}`")
        except ValueError as error:
            table.problems.append((number, str(error)))
            continue
        rows.texts.append(texts)
        rows.targets.append(np.nan if value is None else value)
        if rows.ids is not None:
            rows.ids.append(cells[len(columns)])
    if table.problems:
        number, problem = min(table.problems)
        raise ValueError(f"{table.where(number)}: {problem}")
    if not rows.texts:
        raise ValueError(f"Expected at least one graph in {table.path}. Got none.")
    return rows
