"""Compute a digest of the parts of a graph set that affect play."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from graph_bandit_env.graphs.graph_set import GraphSet

FORMAT = 2  # increase it when the digest of the same graphs changes
ROWS_AT_ONCE = 1 << 16


def digest(pool: GraphSet) -> str:
    """Compute a digest of the content of a graph set, independent of its source.

    The content is the graphs in their order (node features, edges, the flag of directions, edge features), the targets
    of a pool, its kernel or places in slots if present, and the SMILES of molecules with any columns. Identifiers and
    paths are excluded, since they do not affect play.

    Args:
        pool: K graphs.

    Returns:
        The first 32 hexadecimal digits of a SHA-256 digest, the same on every type of CPU.
    """
    packed = pool._packed
    sizes = [pool.num_nodes.tolist(), np.diff(packed.edge_offsets).tolist()]
    smiles, columns = getattr(pool, "smiles", None), getattr(pool, "column_names", ())
    header = [FORMAT, len(pool), pool.feature_dim, pool.edge_feature_dim, *sizes, pool.directed, smiles, columns]
    content = hashlib.sha256(json.dumps(header).encode() + b"\0")
    arrays: list[tuple[Callable[[slice], Any], int, str]] = [
        (packed.node_features, len(packed.nodes), "<f4"),
        (packed.links.__getitem__, len(packed.links), "<i4"),
        (packed.edge_features, len(packed.links), "<f4"),
    ]
    for read, count, kind in arrays:
        for start in range(0, count, ROWS_AT_ONCE):  # made one at a time
            rows = read(slice(start, start + ROWS_AT_ONCE))
            content.update(b"" if rows is None else np.ascontiguousarray(rows, kind).data)
    for name in ("targets", "columns", "kernel", "places"):
        if (values := getattr(pool, name, None)) is not None:
            one_form = np.where(np.isnan(values), np.nan, values + 0.0)  # a single form of NaN and of zero
            content.update(np.ascontiguousarray(one_form, "<f8").data)
    return content.hexdigest()[:32]
