"""Check the nodes, edges and features of graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

HOW_TO_ONE_HOT = (
    "Give texts a column for each kind, 1 where a label is of this kind (one-hot): "
    "`(numpy.array(labels)[:, None] == kinds).astype(float)`, with `kinds` a list of the labels of all graphs."
)


def check_features(graph: int, kind: str, values: ArrayLike) -> NDArray[np.float32]:
    """Return features of nodes or edges as float32 `(n, d)`, or raise a ValueError that names the graph."""
    array = np.asarray(values)
    if array.ndim != 2 or array.shape[1] == 0 or (kind == "node" and array.shape[0] == 0):
        rows = "n >= 1" if kind == "node" else "E >= 0"
        raise ValueError(f"Graph {graph}: expected {kind} features of shape `({rows}, d >= 1)`. Got `{array.shape}`.")
    if array.dtype.kind not in "biuf":
        one_hot = " " + HOW_TO_ONE_HOT if array.dtype.kind in "USOT" else ""
        raise ValueError(f"Graph {graph}: expected {kind} features that are real numbers. Got {array.dtype}.{one_hot}")
    with np.errstate(over="ignore"):
        checked = np.array(array, np.float32, order="C")
    if not np.isfinite(checked).all():
        bad = int((~np.isfinite(checked)).sum())
        raise ValueError(f"Graph {graph}: expected finite {kind} features. Got {bad} that are not.")
    return checked


def check_same_width(kind: str, features: Sequence[NDArray[np.float32]]) -> None:
    """Raise a ValueError if graphs have different numbers of features."""
    for k, array in enumerate(features):
        if array.shape[1] != features[0].shape[1]:
            raise ValueError(
                f"Expected the same number of {kind} features in all graphs. Graph 0 has {features[0].shape[1]}, "
                f"graph {k} has {array.shape[1]}."
            )


def check_links(graph: int, edges: ArrayLike, num_nodes: int) -> NDArray[np.int64]:
    """Return edges as int64 `(E, 2)`, or raise a ValueError that names the graph."""
    links = np.asarray(edges)
    if links.size == 0:
        return np.zeros((0, 2), np.int64)
    if links.ndim != 2 or links.shape[1] != 2 or links.dtype.kind not in "iu":
        raise ValueError(
            f"Graph {graph}: expected integer edges of shape `(E, 2)`. Got {links.dtype} of shape `{links.shape}`."
        )
    if links.min() < 0 or links.max() >= num_nodes:
        bad = links.max() if links.max() >= num_nodes else links.min()
        raise ValueError(f"Graph {graph}: expected edges between nodes 0 to {num_nodes - 1}. Got node {bad}.")
    return links.astype(np.int64)


def both_directions_once(
    graph: int, links: NDArray[np.int64], features: NDArray[np.float32] | None, num_nodes: int
) -> tuple[NDArray[np.int32], NDArray[np.float32] | None]:
    """Return each edge once in each direction, sorted, with its features; refuse rows that contradict each other.

    A direction that was given keeps its own features; a missing one takes those of the other direction.
    """
    both = np.concatenate([links, links[:, ::-1]])
    keys, first, row_of = np.unique(both[:, 0] * num_nodes + both[:, 1], return_index=True, return_inverse=True)
    unique = np.stack([keys // num_nodes, keys % num_nodes], axis=1).astype(np.int32)
    if features is None:
        return unique, None
    kept = np.concatenate([features, features])[first]  # the first row is one that was given, if there is any
    differ = np.flatnonzero((kept[row_of[: len(links)]] != features).any(axis=1))
    if len(differ):
        row = differ[0]
        raise ValueError(
            f"Graph {graph}: expected equal features for the edge {tuple(links[row].tolist())}. Got "
            f"{kept[row_of[row]].tolist()} and {features[row].tolist()}. Merge parallel edges first, for example by "
            '`torch_geometric.utils.coalesce(..., reduce="mean")`; the two directions of an edge may differ.'
        )
    return unique, kept
