"""Measure the structure of graphs, also without features, and edge features as weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree, shortest_path

if TYPE_CHECKING:
    from torch_geometric.data import Batch

Floats = NDArray[np.float64]
T = TypeVar("T")

MOST_NODES = 1000  # of larger graphs, measures of n^3 steps are skipped
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
DIGITS = 9  # an eigenvalue of 0 is a rounding error, which must not become a number of unit spread
OF_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)  # quantiles
OF_A_FEATURE = 17  # numbers
DEGREES = 6  # counts of nodes of 0, 1, 2, 3, 4, and at least 5 neighbours


def measure_structure(batch: Batch) -> Floats:
    """Return numbers that depend only on adjacency: edges as if undirected, without loops or weights.

    They are sizes, degrees with their shares and assortativity, transitivity, clustering, triangles and walks of length
    4, components and distances, and the spectra of the adjacency matrix and of the normalised Laplacian, whose
    quantiles reflect communities, bipartite parts and expansion.

    Args:
        batch: K graphs.

    Returns:
        `(K, 32)`, rounded to nine decimals. NaN for numbers of n^3 steps in a graph of more than `MOST_NODES` nodes.
    """
    return np.asarray(np.round([*measure_each(batch, _of_links)], DIGITS), np.float64)


def measure_each(batch: Batch, measure: Callable[[int, NDArray[np.int64]], T]) -> Iterator[T]:
    """Yield the measure of the number of nodes of each graph and its edges `(2, E)`, computed once for equal graphs.

    Tables of networks have few structures and many labels.
    """
    kept: dict[tuple[int, bytes], T] = {}
    for count, links, _ in split_edges(batch):
        key = count, links.tobytes()
        if key not in kept:
            kept[key] = measure(count, links)
        yield kept[key]


def split_edges(batch: Batch) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the number of nodes of each graph, its edges `(2, E)` between these nodes, and their positions `(E,)`."""
    graph, links = batch.batch[batch.edge_index[0]].numpy(), batch.edge_index.numpy()
    order = np.argsort(graph, kind="stable")
    ends = np.searchsorted(graph[order], np.arange(batch.num_graphs + 1))
    starts = batch.ptr.tolist()
    for k in range(batch.num_graphs):
        edges = order[ends[k] : ends[k + 1]]
        yield starts[k + 1] - starts[k], links[:, edges] - starts[k], edges


def _of_links(count: int, links: NDArray[np.int64]) -> Floats:
    """Return all 32 numbers, from the distinct pairs of nodes joined in either direction, each in both orders."""
    sources, targets = links[:, links[0] != links[1]]
    numbers = np.unique(np.concatenate([sources * count + targets, targets * count + sources]))
    pairs = np.stack([numbers // count, numbers % count])
    return np.concatenate([_of_degrees(count, pairs), _of_distances(count, pairs)])


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
    """Return the correlation of two lists of equal distribution, or 0 for constant lists."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return 0.0 if len(x) == 0 or x.std() < 1e-12 else float(np.corrcoef(x, y)[0, 1])


def measure_edges(batch: Batch) -> Floats:
    """Return numbers of each edge feature, treated as a weight.

    They are mean, standard deviation, sum over nodes, and quantiles of the weights, spread and extremes of their sums
    over the edges of a node, the weights of the smallest and of the largest spanning tree, and quantiles of the
    spectrum of the weighted Laplacian. Directions are ignored.

    Args:
        batch: K graphs with e features an edge.

    Returns:
        `(K, 17 e)`. NaN for graphs without edges, and for measures of n^3 steps on large graphs.
    """
    features = batch.edge_attr.double().numpy()
    rows = [
        [_of_weights(count, links, column) for column in features[edges].T]
        for count, links, edges in split_edges(batch)
    ]
    return np.array(rows).reshape(batch.num_graphs, -1)


def _of_weights(count: int, links: NDArray[np.int64], weights: Floats) -> Floats:
    """Return the numbers of one feature in a graph of `count` nodes, rounded: a sum of 0 may be a rounding error."""
    if not len(weights):
        return np.full(OF_A_FEATURE, np.nan)
    unit = float(np.abs(weights).max()) or 1.0
    return np.round(_of_units(count, links, weights / unit), DIGITS) * unit


def _of_units(count: int, links: NDArray[np.int64], weights: Floats) -> Floats:
    """Return the numbers of weights whose largest is 1."""
    matrix = csr_array((weights, links), shape=(count, count))
    matrix = (matrix + matrix.T) / 2
    strengths = np.asarray(matrix.sum(axis=1)).ravel()
    own = [weights.mean(), weights.std(), weights.sum() / count, *np.quantile(weights, OF_WEIGHTS)]
    nodes = [strengths.std(), strengths.min(), strengths.max()]
    if count > MOST_NODES:
        return np.array([*own, *nodes, *[np.nan] * 6])
    trees = [_tree(matrix, 1.0), _tree(matrix, -1.0)]
    laplacian = np.diag(strengths) - matrix.toarray()
    spectrum = np.linalg.eigvalsh(laplacian)
    frequencies = [spectrum[min(1, count - 1)], *np.quantile(spectrum, (0.25, 0.5)), spectrum[-1]]
    return np.array([*own, *nodes, *trees, *frequencies])


def _tree(matrix: csr_array, sign: float) -> float:
    """Return the weight of the smallest spanning tree over its number of nodes, or of the largest if `sign` is -1.

    SciPy treats a weight of 0 as no edge, so weights are offset from below the smallest.
    """
    lowest = (sign * matrix.data).min() - 1
    shifted = csr_array((sign * matrix.data - lowest, matrix.indices, matrix.indptr), shape=matrix.shape)
    tree = minimum_spanning_tree(shifted)
    return float(sign * (tree.sum() + tree.nnz * lowest) / matrix.shape[0])
