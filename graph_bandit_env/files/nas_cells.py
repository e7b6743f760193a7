"""Make graphs of the cells of NAS-Bench-201, from their texts or from a table of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.files.graph_rows import read_graph_rows
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.tables import Table

CELL_COLUMN = "cellstr"
"""Column of the cells in a table."""
OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")

# A cell has four tensors, 0 (its input) to 3 (its output), and an operation from each of them to each later one.
PAIRS = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
INPUT, OUTPUT = (-1, 0), (3, 4)
CELL = re.compile(r"\+".join(r"\|" + "".join(rf"(\w+)~{a}\|" for a, b in PAIRS if b == target) for target in (1, 2, 3)))


def from_nas_cells(
    cells: Sequence[str],
    targets: ArrayLike | None = None,
    ids: Sequence[str] | None = None,
    directed: bool = True,
) -> GraphPool:
    """Make a pool of cells of NAS-Bench-201 (Dong & Yang 2020).

    Each operation except "none" is a node, with edges to the operations that it feeds. Two more nodes are the input and
    the output. A node has the one-hot pair (source, target) of its operation in addition to its one-hot kind, so that
    the graph describes the whole cell to an agent that reads no directions, too.

    Args:
        cells: texts such as `|avg_pool_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|`, all different.
        targets: a number for each cell, NaN where nothing was measured; None: nothing was measured.
        ids: identifiers, all different; None: the texts of the cells.
        directed: whether edges have the direction of the data; False: graphs are undirected, as before there were
            directed ones.

    Returns:
        The cells in the given order, with 12 features of a node: kinds input, output, skip_connect, nor_conv_1x1,
        nor_conv_3x3, avg_pool_3x3; pairs (0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3).

    Raises:
        ValueError: as in `GraphPool`; also if a text is not a cell.
    """
    operations = np.array([_read_cell(cell) for cell in cells], np.int64).reshape(-1, len(PAIRS))
    features, ends = _features_of_operations(), _features_of_ends()
    nodes, links = [], []
    for row in operations:
        present = np.flatnonzero(row)
        nodes.append(np.concatenate([features[present, row[present]], ends]))
        links.append(_links_among(tuple(present.tolist())))
    ids = cells if ids is None else ids
    return GraphPool(nodes, links, ids=ids, targets=targets, directed=directed)


def read_nas_table(table: Table, target: str | None, identifier: str | None, directed: bool | None = None) -> GraphPool:
    """Read a table of cells: their texts in the column `cellstr`, and measured values in the column `target`.

    They are directed graphs, unless `directed` is False.

    Raises:
        ValueError: if a column is missing, or a row has no cell or a target that is not a number.
    """
    rows = read_graph_rows(table, [CELL_COLUMN], _read_cell, target, identifier)
    return from_nas_cells([cell for (cell,) in rows.texts], rows.targets, rows.ids, directed is not False)


def _read_cell(cell: str) -> list[int]:
    """Return the indices of the six operations, in the order of `PAIRS`."""
    match = CELL.fullmatch(str(cell))
    if match is None or not set(match.groups()) <= set(OPERATIONS):
        raise ValueError(f"Expected a cell of NAS-Bench-201 with operations {', '.join(OPERATIONS)}. Got {cell!r}.")
    return [OPERATIONS.index(name) for name in match.groups()]


@cache
def _features_of_operations() -> NDArray[np.float32]:
    """Return the features of each operation at each pair, `(6, 5, 12)`."""
    pair, operation = np.indices((len(PAIRS), len(OPERATIONS)))
    features = np.zeros((len(PAIRS), len(OPERATIONS), 6 + len(PAIRS)), np.float32)
    features[pair, operation, 1 + operation] = 1  # "none" never becomes a node
    features[pair, operation, 6 + pair] = 1
    return features


@cache
def _features_of_ends() -> NDArray[np.float32]:
    return np.eye(2, 6 + len(PAIRS), dtype=np.float32)


@cache
def _links_among(present: tuple[int, ...]) -> NDArray[np.int32]:
    """Return edges from each operation to those that begin where it ends, sorted."""
    pairs = [*(PAIRS[k] for k in present), INPUT, OUTPUT]
    links = [(i, j) for i, (a, b) in enumerate(pairs) for j, (c, d) in enumerate(pairs) if b == c]
    return np.array(links, np.int32).reshape(-1, 2)
