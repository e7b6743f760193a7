"""Measure the features of edges: their distribution, and what they make of the structure as weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from agents.process.parts.structure import DIGITS, MOST_NODES, Floats, split_edges

if TYPE_CHECKING:
    from torch_geometric.data import Batch

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
OF_A_FEATURE = 17  # numbers


def measure_edges(batch: Batch) -> Floats:
    """Return numbers of each feature of edges, as if it were their weight.

    They are mean, standard deviation, sum over nodes, and quantiles of the weights; spread and extremes of their sums
    over the edges of a node; the weights of the smallest and of the largest spanning tree; and quantiles of the
    spectrum of the weighted Laplacian. Directions do not count.

    Args:
        batch: K graphs with e features an edge.

    Returns:
        `(K, 17 e)`. NaN where a graph has no edge, or too many nodes for what takes n^3 steps.
    """
    features = batch.edge_attr.double().numpy()
    rows = [
        [_of_weights(count, links, column) for column in features[edges].T]
        for count, links, edges in split_edges(batch)
    ]
    return np.array(rows).reshape(batch.num_graphs, -1)


def _of_weights(count: int, links: NDArray[np.int64], weights: Floats) -> Floats:
    """Return the numbers of one feature in a graph of `count` nodes, rounded: a sum that is 0 may be an error of it."""
    if not len(weights):
        return np.full(OF_A_FEATURE, np.nan)
    unit = float(np.abs(weights).max()) or 1.0
    return np.round(_of_units(count, links, weights / unit), DIGITS) * unit


def _of_units(count: int, links: NDArray[np.int64], weights: Floats) -> Floats:
    """Return the numbers of weights of which the largest is 1."""
    matrix = csr_array((weights, links), shape=(count, count))
    matrix = (matrix + matrix.T) / 2
    strengths = np.asarray(matrix.sum(axis=1)).ravel()
    own = [weights.mean(), weights.std(), weights.sum() / count, *np.quantile(weights, QUANTILES)]
    nodes = [strengths.std(), strengths.min(), strengths.max()]
    if count > MOST_NODES:
        return np.array([*own, *nodes, *[np.nan] * 6])
    trees = [_tree(matrix, 1.0), _tree(matrix, -1.0)]
    laplacian = np.diag(strengths) - matrix.toarray()
    spectrum = np.linalg.eigvalsh(laplacian)
    frequencies = [spectrum[min(1, count - 1)], *np.quantile(spectrum, (0.25, 0.5)), spectrum[-1]]
    return np.array([*own, *nodes, *trees, *frequencies])


def _tree(matrix: csr_array, sign: float) -> float:
    """Return the weight of the smallest spanning tree over its number of nodes; of the largest if `sign` is -1.

    SciPy takes a weight of 0 for no edge, so weights are counted from below the smallest.
    """
    lowest = (sign * matrix.data).min() - 1
    shifted = csr_array((sign * matrix.data - lowest, matrix.indices, matrix.indptr), shape=matrix.shape)
    tree = minimum_spanning_tree(shifted)
    return float(sign * (tree.sum() + tree.nnz * lowest) / matrix.shape[0])
