"""Make graphs of the architectures of NAS-Bench-Graph, from their texts or from a table of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.files.graph_rows import read_graph_rows
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.tables import Table

ARCHITECTURE_COLUMNS = ("link", "ops")
"""Columns of the architectures in a table."""
OPERATIONS = ("gcn", "gat", "sage", "gin", "cheb", "arma", "graph", "fc", "skip")
KINDS = ("input", *OPERATIONS, "output")
LINK = re.compile("0[01][0-2][0-3]")  # the parent of each operation: the input, or an earlier operation
LAYERS = 4


def from_architectures(
    links: Sequence[str],
    operations: Sequence[str],
    targets: ArrayLike | None = None,
    ids: Sequence[str] | None = None,
    directed: bool = True,
) -> GraphPool:
    """Make a pool of graph neural networks of NAS-Bench-Graph (Qin et al. 2022).

    A network has four operations. Each takes what one parent gives, the input or an earlier operation; what is nobody's
    parent feeds the output. Each graph has six nodes: the input, the operations in their order, and the output.

    Args:
        links: for each network a text of four digits, the parents: 0 is the input, 1 to 3 an operation. "0013": the
            first two read the input, the third the first one, the fourth the third one.
        operations: for each network four of `OPERATIONS`, joined by `|`, such as `gcn|gat|skip|fc`.
        targets: a number for each network, NaN where nothing was measured; None: nothing was measured.
        ids: identifiers, all different; None: the texts, as `0013|gcn|gat|skip|fc`.
        directed: whether edges lead from parents to children; False: graphs are undirected.

    Returns:
        The networks in the given order, with one-hot features of a node: input, the nine operations, output.

    Raises:
        ValueError: as in `GraphPool`; also if texts are not an architecture.
    """
    rows = [_read_architecture(*texts) for texts in zip(links, operations, strict=True)]
    one_hot = np.eye(len(KINDS), dtype=np.float32)
    nodes = [one_hot[[0, *kinds, len(KINDS) - 1]] for _, kinds in rows]
    edges = [_edges_of(parents) for parents, _ in rows]
    names = [f"{_complete(link)}|{text}" for link, text in zip(links, operations, strict=True)] if ids is None else ids
    return GraphPool(nodes, edges, ids=names, targets=targets, directed=directed)


def read_architecture_table(
    table: Table, target: str | None, identifier: str | None, directed: bool | None = None
) -> GraphPool:
    """Read a table of architectures, with the columns `link` and `ops`, and measured values in the column `target`.

    They are directed graphs, unless `directed` is False.

    Raises:
        ValueError: if a column is missing, or a row has no architecture or a target that is not a number.
    """
    rows = read_graph_rows(table, ARCHITECTURE_COLUMNS, _read_architecture, target, identifier)
    links, operations = zip(*rows.texts, strict=True)
    return from_architectures(links, operations, rows.targets, rows.ids, directed is not False)


def _complete(link: str) -> str:
    """Return the four digits of a text from which a program that took it for a number has cut zeros."""
    return link.zfill(LAYERS)


def _read_architecture(link: str, operations: str) -> tuple[str, list[int]]:
    """Return the parents, and the index of the kind of each operation."""
    names = operations.split("|")
    if LINK.fullmatch(_complete(link)) is None or len(names) != LAYERS or not set(names) <= set(OPERATIONS):
        raise ValueError(
            "Expected an architecture of NAS-Bench-Graph: `link` such as 0013, and `ops`, four of "
            f"{', '.join(OPERATIONS)}, joined by `|`. Got {link!r} and {operations!r}."
        )
    return _complete(link), [KINDS.index(name) for name in names]


@cache
def _edges_of(parents: str) -> NDArray[np.int32]:
    """Return edges from each parent to its child, and from what has no child to the output, sorted."""
    pairs = [(int(parent), child) for child, parent in enumerate(parents, start=1)]
    pairs += [(node, LAYERS + 1) for node in range(1, LAYERS + 1) if str(node) not in parents]
    return np.array(sorted(pairs), np.int32)
