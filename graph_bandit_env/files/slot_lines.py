"""Read actions of several parts from JSON lines: graphs as node-link data, words and numbers, by slot."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.pools.actions.slots import NOTHING, Slot, SlotSet, slot_of
from graph_bandit_env.pools.graph_pool import GraphPool

if TYPE_CHECKING:
    import networkx as nx

Row = Mapping[str, Any]


def holds_slots(row: object) -> bool:
    """Return True if a line is an action: not a graph, but with graphs among its values."""
    return isinstance(row, dict) and "nodes" not in row and any(map(_is_graph, row.values()))


def make_actions(
    rows: Sequence[Row],
    target: str | None,
    identifier: str | None,
    to_pool: Callable[[Sequence[nx.Graph]], GraphPool],
    to_graph: Callable[[dict[str, Any]], nx.Graph],
) -> SlotSet:
    """Create actions from the lines of a file.

    Each key except the target and the identifier is a slot. Graphs are equal if their JSON is equal. `null` among
    graphs is an empty choice.

    Args:
        rows: the lines.
        target: key of the measured value, `null` if missing. If None, there are no measured values.
        identifier: key of the identifiers. If None, `id` if all lines have it.
        to_pool: converts the graphs of a slot to a pool.
        to_graph: reads a graph.

    Raises:
        ValueError: if the keys of lines differ, or as in `SlotSet`.
    """
    name = identifier or ("id" if all("id" in row for row in rows) else "")
    names = [key for key in rows[0] if key not in (target, name)]
    wanted = {*names, *filter(None, [name])}
    if wrong := next((k for k, row in enumerate(rows) if row.keys() - {target} != wanted), None):
        has = ", ".join(rows[wrong])
        raise ValueError(f"expected {', '.join(sorted(wanted))} in each line. Action {wrong} (from 0) has {has}.")
    read = [_read_slot(slot, [row[slot] for row in rows], to_pool, to_graph) for slot in names]
    values = [row.get(target) if target else None for row in rows]
    return SlotSet(
        [slot for slot, _ in read],
        np.stack([places for _, places in read], axis=1),
        [str(row[name]) for row in rows] if name else None,
        [math.nan if value is None else float(value) for value in values],
    )


def _is_graph(value: object) -> bool:
    return isinstance(value, dict) and "nodes" in value


def _read_slot(
    name: str,
    column: Sequence[Any],
    to_pool: Callable[[Sequence[nx.Graph]], GraphPool],
    to_graph: Callable[[dict[str, Any]], nx.Graph],
) -> tuple[Slot, NDArray[np.int64]]:
    if not any(map(_is_graph, column)):
        return slot_of(name, column, False)
    texts = [NOTHING if value is None else json.dumps(value, sort_keys=True) for value in column]
    different = [text for text in dict.fromkeys(texts) if text != NOTHING]
    pool = to_pool([to_graph(json.loads(text)) for text in different])
    choices = (*pool.ids, *[NOTHING] * (NOTHING in texts))
    place_of = {text: k for k, text in enumerate([*different, NOTHING])}
    return Slot(name, "structure", choices, pool), np.array([place_of[text] for text in texts], np.int64)
