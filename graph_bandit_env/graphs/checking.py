"""Check nodes, edges and features of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

HOW_TO_ONE_HOT = (
    " Give texts a column for each kind, 1 where a label is of this kind (one-hot): "
    "`(numpy.array(labels)[:, None] == kinds).astype(float)`, with `kinds` a list of the labels of all graphs."
)


def check_features(graph: int, kind: str, values: ArrayLike) -> NDArray[np.float32]:
    """Return features of nodes or edges as float32 `(n, d)`, or raise a ValueError that names the graph."""
    array = to_numbers(graph, kind, values)
    if array.ndim != 2 or array.shape[1] == 0 or (kind == "node" and array.shape[0] == 0):
        rows = "n >= 1" if kind == "node" else "E >= 0"
        raise ValueError(f"Graph {graph}: expected {kind} features of shape `({rows}, d >= 1)`. Got `{array.shape}`.")
    with np.errstate(over="ignore"):
        checked = np.array(array, np.float32, order="C")
    if not np.isfinite(checked).all():
        bad = int((~np.isfinite(checked)).sum())
        raise ValueError(f"Graph {graph}: expected finite {kind} features. Got {bad} that are not.")
    return checked


def to_numbers(graph: int, kind: str, values: Any) -> NDArray[Any]:
    """Return features as an array of numbers, or raise a ValueError that names the graph."""
    what = f"Graph {graph}: expected {kind} features that are real numbers, as many for each {kind}."
    try:
        array = np.asarray(values)
        array = array.astype(np.float64) if array.dtype.kind in "OUS" else array  # numbers may be stored as text
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} Got: {error}.{HOW_TO_ONE_HOT if 'string' in str(error) else ''}") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} Got {array.dtype}.")
    return array


def check_same_width(kind: str, features: Sequence[NDArray[np.float32]]) -> None:
    """Raise a ValueError if graphs have different numbers of features."""
    for k, array in enumerate(features):
        if array.shape[1] != features[0].shape[1]:
            raise ValueError(
                f"Graph {k}: expected the same number of {kind} features as in graph 0, {features[0].shape[1]}. Got "
                f"{array.shape[1]}."
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


def each_edge_once(
    graph: int,
    links: NDArray[np.int64],
    features: NDArray[np.float32] | None,
    num_nodes: int,
    directed: bool | None,
) -> tuple[NDArray[np.int32], NDArray[np.float32] | None, int]:
    """Return the unique edges, sorted, with their features and the number of duplicate rows.

    Args:
        graph: number of the graph, for messages.
        links: `(E, 2)`.
        features: None, or `(E, e)`.
        num_nodes: n.
        directed: True keeps edges unchanged. Otherwise, each is returned once in each direction: False adds a missing
            direction with the features of the other, and None rejects it.

    Raises:
        ValueError: if equal edges have different features, or a direction is missing and `directed` is None.
    """
    both = links if directed else np.concatenate([links, links[:, ::-1]])
    keys, first, row_of = np.unique(both[:, 0] * num_nodes + both[:, 1], return_index=True, return_inverse=True)
    unique = np.stack([keys // num_nodes, keys % num_nodes], axis=1).astype(np.int32)
    added = np.flatnonzero(first >= len(links))  # the first row of an edge is a given one, if any
    if directed is None and len(added):
        end, start = unique[added[0]].tolist()
        raise ValueError(
            f"Graph {graph}: expected each edge in both directions. Got {(start, end)} without {(end, start)}. "
            "`directed=True` keeps the directions as they are, `directed=False` adds those that are missing."
        )
    again = len(links) - len(unique) + len(added)
    if features is None:
        return unique, None, again
    kept = (features if directed else np.concatenate([features, features]))[first]
    differ = np.flatnonzero((kept[row_of[: len(links)]] != features).any(axis=1))
    if len(differ):
        row = differ[0]
        raise ValueError(
            f"Graph {graph}: expected equal features for the edge {tuple(links[row].tolist())}. Got "
            f"{kept[row_of[row]].tolist()} and {features[row].tolist()}. Merge parallel edges first, for example by "
            '`torch_geometric.utils.coalesce(..., reduce="mean")`; the two directions of an edge may differ.'
        )
    return unique, kept, again
