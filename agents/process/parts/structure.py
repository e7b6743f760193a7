"""Measure the structure of graphs, which those without features or labels have too."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

if TYPE_CHECKING:
    from torch_geometric.data import Batch

Floats = NDArray[np.float64]

MOST_NODES = 1000  # of larger graphs, what takes n^3 steps is not measured
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
DIGITS = 9  # an eigenvalue that is 0 is a rounding error, which must not become a number of unit spread
DEGREES = 6  # counts of nodes of 0, 1, 2, 3, 4, and at least 5 neighbours


def measure_structure(batch: Batch) -> Floats:
    """Return numbers that depend on which nodes are joined alone: edges as if undirected, without loops or weights.

    They are sizes; degrees and their shares, and how alike those of neighbours are; transitivity, clustering, triangles
    and walks of length 4; components and distances; and the spectra of the adjacency matrix and of the normalised
    Laplacian, whose quantiles show communities, bipartite parts and expansion.

    Args:
        batch: K graphs.

    Returns:
        `(K, 32)`, rounded to nine decimals. NaN where a graph has more than `MOST_NODES` nodes and the number would
        take n^3 steps.
    """
    kept: dict[tuple[int, bytes], Floats] = {}  # tables of networks have few structures and many labels
    rows: list[Floats] = []
    for count, links in split_links(batch):
        key = count, links.tobytes()
        if key not in kept:
            pairs = join_ends(count, links)
            kept[key] = np.concatenate([_of_degrees(count, pairs), _of_distances(count, pairs)])
        rows.append(kept[key])
    return np.asarray(np.round(np.stack(rows), DIGITS), np.float64)


def join_ends(count: int, links: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different pairs of nodes that an edge joins either way, `(2, m)`, each in both orders, in order."""
    sources, targets = links[:, links[0] != links[1]]
    numbers = np.unique(np.concatenate([sources * count + targets, targets * count + sources]))
    return np.stack([numbers // count, numbers % count])


def split_links(batch: Batch) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the number of nodes of each graph, and its edges `(2, E)` between these nodes."""
    links = batch.edge_index.numpy()
    for (begin, count), edges in split_edges(batch):
        yield count, links[:, edges] - begin


def split_edges(batch: Batch) -> Iterator[tuple[tuple[int, int], NDArray[np.int64]]]:
    """Yield the first node and the number of nodes of each graph, and the positions of its edges."""
    graph = batch.batch[batch.edge_index[0]].numpy()
    order = np.argsort(graph, kind="stable")
    ends = np.searchsorted(graph[order], np.arange(batch.num_graphs + 1))
    starts = batch.ptr.tolist()
    for k in range(batch.num_graphs):
        yield (starts[k], starts[k + 1] - starts[k]), order[ends[k] : ends[k + 1]]


def _of_degrees(count: int, pairs: NDArray[np.int64]) -> Floats:
    """Return 12 numbers of the degrees: sizes, moments, shares, and the correlation over edges."""
    degrees = np.bincount(pairs[0], minlength=count)
    shares = np.bincount(np.minimum(degrees, DEGREES - 1), minlength=DEGREES) / count
    alike = _correlation(*degrees[pairs].astype(np.float64))
    sizes = [np.log(count), np.log1p(degrees.sum() / 2)]
    return np.array([*sizes, degrees.mean(), degrees.std(), degrees.max(), *shares, alike])


def _of_distances(count: int, pairs: NDArray[np.int64]) -> Floats:
    """Return 20 numbers of triangles, distances and spectra."""
    degrees = np.bincount(pairs[0], minlength=count)
    matrix = csr_array((np.ones(pairs.shape[1]), pairs), shape=(count, count))
    parts = connected_components(matrix, directed=False, return_labels=False)
    if count > MOST_NODES:
        return np.array([parts, *[np.nan] * 19])
    dense = np.zeros((count, count))
    dense[pairs[0], pairs[1]] = 1
    squared = dense @ dense
    triangles = (squared * dense).sum(axis=1) / 2
    corners = degrees * (degrees - 1) / 2
    local = np.divide(triangles, corners, out=np.zeros(count), where=corners > 0)
    transitivity = triangles.sum() / corners.sum() if corners.sum() else 0.0
    distances = shortest_path(matrix, unweighted=True, directed=False)
    reached = distances[np.isfinite(distances) & (distances > 0)]
    lengths = [reached.mean(), reached.std(), reached.max()] if len(reached) else [0.0, 0.0, 0.0]
    spectrum = np.linalg.eigvalsh(dense)
    scale = 1 / np.sqrt(np.maximum(degrees, 1))
    laplacian = np.linalg.eigvalsh(np.diag((degrees > 0).astype(float)) - scale[:, None] * dense * scale)
    walks = np.log1p([triangles.sum() / 3, (squared**2).sum() / count])
    clustering = [transitivity, local.mean(), local.std(), *walks]
    largest, smallest = spectrum[-1], spectrum[0]
    returns = largest + np.log(np.exp(spectrum - largest).mean())  # closed walks of all lengths [Estrada 2000]
    gap = laplacian[min(1, count - 1)]
    spectra = [largest, smallest, returns, gap, *np.quantile(laplacian, QUANTILES), laplacian[-1]]
    return np.array([parts, *clustering, *lengths, *spectra, np.square(spectrum).mean()])


def _correlation(x: Floats, y: Floats) -> float:
    """Return the correlation of two lists of equal distribution; 0 where nothing varies."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return 0.0 if len(x) == 0 or x.std() < 1e-12 else float(np.corrcoef(x, y)[0, 1])
