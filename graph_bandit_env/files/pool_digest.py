"""Compute a digest of what an agent can see or be paid for in a graph set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import numpy as np

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.pools.graph_pool import GraphPool, KernelPool
from graph_bandit_env.pools.molecule_set import MoleculeSet

FORMAT = 2  # raise it when the digest of the same graphs changes
ROWS_AT_ONCE = 1 << 16


def digest(pool: GraphSet) -> str:
    """Compute a digest of the content of a graph set: equal for equal content, wherever it was read.

    The content is the graphs in their order (node features, edges and whether they have a direction, edge features),
    the targets of a pool, its kernel if it has one, and the SMILES of molecules, with their columns if they have any.
    Identifiers and paths are left out, since they do not affect play.

    Args:
        pool: K graphs.

    Returns:
        The first 32 hexadecimal digits of a SHA-256 digest, the same on every kind of CPU.
    """
    packed = pool._packed
    sizes = [pool.num_nodes.tolist(), np.diff(packed.edge_offsets).tolist()]
    smiles, columns = (pool.smiles, pool.column_names) if isinstance(pool, MoleculeSet) else (None, ())
    header = [FORMAT, len(pool), pool.feature_dim, pool.edge_feature_dim, *sizes, pool.directed, smiles, columns]
    content = hashlib.sha256(json.dumps(header).encode() + b"\0")
    for rows in _parts(len(packed.nodes)):
        content.update(np.ascontiguousarray(packed.node_features(rows), "<f4").data)
    for rows in _parts(len(packed.links)):
        content.update(np.ascontiguousarray(packed.links[rows], "<i4").data)
    for rows in _parts(len(packed.links)):
        features = packed.edge_features(rows)
        content.update(b"" if features is None else np.ascontiguousarray(features, "<f4").data)
    if isinstance(pool, GraphPool):
        values = np.where(pool.known, pool.targets + 0.0, np.nan)  # one form of NaN, and of zero
        content.update(np.ascontiguousarray(values, "<f8").data)
    if isinstance(pool, MoleculeSet):
        values = np.where(np.isnan(pool.columns), np.nan, pool.columns + 0.0)
        content.update(np.ascontiguousarray(values, "<f8").data)
    if isinstance(pool, KernelPool):
        content.update(np.ascontiguousarray(pool.kernel + 0.0, "<f8").data)
    return content.hexdigest()[:32]


def _parts(count: int) -> Iterator[slice]:
    """Yield parts of so many rows, which are made one after the other."""
    return (slice(start, start + ROWS_AT_ONCE) for start in range(0, count, ROWS_AT_ONCE))
