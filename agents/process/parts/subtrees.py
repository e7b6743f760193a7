"""Compare graphs by their subtree patterns, counted by Weisfeiler-Lehman refinement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack
from torch import Tensor

from gntk import keep_nodes

if TYPE_CHECKING:
    from torch_geometric.data import Batch

MOST_FEATURES, DIRECTIONS = 64, 32  # most node features with separate labels; random directions for more
SAMPLE = 500  # graphs whose distances represent all

Labels = NDArray[np.uint64]
"""64-bit hashes: among a million different patterns, two collide with a probability of 3e-8."""


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """Number of occurrences of each subtree pattern in each of K graphs."""

    patterns: Labels
    """`(V,)`. Different patterns in ascending order, including all patterns of the graphs."""
    table: csr_array
    """`(K, V)` float64. Numbers of occurrences: integers, so that sums of their products are exact."""

    @cached_property
    def by_pattern(self) -> csr_array:
        """Return the number of occurrences of each pattern in each graph, `(V, K)`."""
        return self.table.T.tocsr()

    @cached_property
    def squares(self) -> Tensor:
        """Return the sum of squared counts of each graph, `(K,)` float64."""
        return torch.from_numpy(self.table.power(2).sum(axis=1))

    def __len__(self) -> int:
        return int(self.table.shape[0])

    def take(self, slots: NDArray[np.int64]) -> PatternCounts:
        """Return the counts of some graphs, in the order of their slots `(n,)`."""
        return PatternCounts(self.patterns, self.table[slots])

    @staticmethod
    def stack(lists: Sequence[PatternCounts]) -> PatternCounts:
        """Concatenate the counts of lists of graphs, without patterns that occur in none of them."""
        patterns = np.unique(np.concatenate([each.patterns[np.unique(each.table.indices)] for each in lists]))
        tables = list[csr_array]()
        for each in lists:
            columns = np.searchsorted(patterns, each.patterns)[each.table.indices]
            shape = len(each), len(patterns)
            tables.append(csr_array((each.table.data, columns, each.table.indptr), shape=shape))
        return PatternCounts(patterns, vstack(tables, format="csr"))

    def fold(self, bits: int) -> NDArray[np.float64]:
        """Return the number of occurrences of patterns by the remainder of their hash, `(K, bits)`."""
        folded = (self.patterns % np.uint64(bits)).astype(np.int64)[self.table.indices]
        table = csr_array((self.table.data, folded, self.table.indptr), shape=(len(self), bits))
        return np.asarray(table.toarray())


def count_patterns(
    batch: Batch, labels: Labels, edges: Labels, iterations: int, directed: bool = False
) -> PatternCounts:
    """Count labels and their refinements: a node's label hashed repeatedly with those of its neighbours.

        l_0 = label,   l_{h+1}(v) = hash(l_h(v), {(e_uv, l_h(u)) : u -> v})      [Shervashidze et al. 2011]

    Here {...} is a multiset, and e_uv the label of the edge. Each column of labels is refined independently, and all
    are counted. For directed edges, {(e_vw, l_h(w)) : v -> w} is hashed with the rest.

    Args:
        batch: K graphs with n nodes and E edges in all.
        labels: `(n, c)`. Labels of nodes.
        edges: `(E,)`. Labels of edges.
        iterations: number of refinements.
        directed: treat edges as directed. If False, each edge must exist in both directions.

    Returns:
        The counts of all patterns of depth 0 to `iterations`.
    """
    sources, targets = batch.edge_index.numpy()
    depths = [labels]
    for _ in range(iterations):
        arriving, leaving = np.zeros_like(labels), np.zeros_like(labels)
        np.add.at(arriving, targets, _mix(depths[-1][sources] + edges[:, None]))
        if directed:
            np.add.at(leaving, sources, _mix(depths[-1][targets] + edges[:, None]))
            leaving = _mix(_mix(leaving))  # so that incoming and outgoing neighbours differ
        depths.append(_mix(np.uint64(3) * depths[-1] + _mix(arriving) + leaving))
    patterns, columns = np.unique(np.concatenate(depths, axis=1), return_inverse=True)
    places = np.repeat(batch.batch.numpy(), columns.shape[1]), columns.ravel()
    table = coo_array((np.ones(columns.size), places), shape=(batch.num_graphs, len(patterns)))
    return PatternCounts(patterns, table.tocsr())


def compare_patterns(first: PatternCounts, second: PatternCounts, square_width: float | None = None) -> Tensor:
    """Compare the counts of graphs by their cosine or, with a width, by a Gaussian of their distance.

        k(G, G') = <phi(G), phi(G')> / (|phi(G)| |phi(G')|)   or   exp(-|phi(G) - phi(G')|^2 / (2 w^2))

    Args:
        first: n graphs.
        second: K graphs whose counts have the same columns.
        square_width: w^2, in squared counts. None: the cosine.

    Returns:
        `(n, K)` float64, each entry from 0 to 1, independent of the other graphs.
    """
    if square_width is None:
        return _products(first, second) / torch.outer(first.squares, second.squares).sqrt()
    return torch.exp(-_square_distances(first, second) / (2 * square_width))


def typical_square_distance(graphs: PatternCounts) -> float:
    """Return the median squared distance between the counts of distinct graphs, or 1 if all are equal.

    Args:
        graphs: K graphs, of which at most `SAMPLE`, evenly spaced, are compared.
    """
    size = min(len(graphs), SAMPLE)
    sample = graphs.take(np.arange(size) * len(graphs) // size)
    distances = _square_distances(sample, sample)
    different = distances[distances > 0]
    return float(different.median()) if len(different) else 1.0


def _products(first: PatternCounts, second: PatternCounts) -> Tensor:
    """Return the exact inner products of counts, `(n, K)` float64."""
    return torch.from_numpy((first.table @ second.by_pattern).toarray())


def _square_distances(first: PatternCounts, second: PatternCounts) -> Tensor:
    return first.squares.unsqueeze(1) + second.squares - 2 * _products(first, second)


@dataclass(frozen=True, eq=False)
class Labelling:
    """The labels of nodes and edges, as chosen for the graphs of `reset`.

    Integer node features are the label of a node. Otherwise the bin of each feature is a separate label. Integer edge
    features are the label of an edge, except a single feature that is always 1.
    """

    thresholds: NDArray[np.float64] | None
    """`(bins - 1, d)`. Thresholds between the bins of each node feature. None: features are integers."""
    reads_edges: bool
    """True if edges have labels."""
    directions: NDArray[np.float64] | None = None
    """`(d, 32)`. Random directions whose projections replace very many features. None: no projection."""

    @staticmethod
    def of(batch: Batch, bins: int) -> Labelling:
        """Choose bins with equal numbers of nodes, or none."""
        edges = batch.edge_attr
        plain = edges is None or (edges.shape[1] == 1 and bool((edges == 1).all()))
        reads_edges = not plain and _are_integers(edges)
        if _are_integers(batch.x):
            return Labelling(None, reads_edges)
        features, directions = batch.x.double().numpy(), None
        if features.shape[1] > MOST_FEATURES:
            directions = np.random.default_rng(0).normal(size=(features.shape[1], DIRECTIONS))
            features = features @ directions
        shares = np.arange(1, bins) / bins  # values that occur, so that rounding does not affect the side
        thresholds = np.quantile(features, shares, axis=0, method="inverted_cdf")
        return Labelling(thresholds, reads_edges, directions)

    def of_nodes(self, batch: Batch) -> Labels:
        """Return the labels of n nodes with d features: `(n, d)`, or `(n, 1)` for integer features."""
        if self.thresholds is None:
            return _hash_rows(batch.x)[:, None]
        features = batch.x.double().numpy()
        features = features if self.directions is None else features @ self.directions
        bins = (features[:, None, :] > self.thresholds).sum(axis=1)
        return _mix(bins.astype(np.uint64) * np.uint64(bins.shape[1]) + np.arange(bins.shape[1], dtype=np.uint64))

    def of_edges(self, batch: Batch) -> Labels:
        """Return the labels of E edges, `(E,)`, all equal for edges without labels.

        They are hashed once more than those of nodes, so that the sums of (edge a, node b) and (b, a) differ.
        """
        if self.reads_edges:
            return _mix(_hash_rows(batch.edge_attr))
        return np.zeros(batch.edge_index.shape[1], np.uint64)


@dataclass(frozen=True, eq=False)
class Subtrees:
    """Graphs with the kernel of their subtree patterns."""

    labelling: Labelling
    """Labels of nodes and edges."""
    iterations: int
    """Number of refinements of the labels."""
    directed: bool
    """True if edge directions count."""
    counts: PatternCounts
    """The patterns of each graph."""
    square_width: float | None
    """w^2 of the Gaussian of their distances, the median over the graphs of `reset`. None: their cosine."""
    name: str = "subtrees"
    """Name of the compared features."""
    shares: Sequence[float] = (1.0,)
    """Share of the only kernel."""

    @staticmethod
    def of(batch: Batch, iterations: int, bins: int, directed: bool = False, cosine: bool = False) -> Subtrees:
        """Choose labels for the nodes of some graphs, count their patterns, and choose the width w.

        Raises:
            ValueError: as in `gntk.keep_nodes`.
        """
        labelling = Labelling.of(batch, bins)
        counts = _count(batch, labelling, iterations, directed)
        width = None if cosine else typical_square_distance(counts)
        return Subtrees(labelling, iterations, directed, counts, width)

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return similarities `(1, q, n)`, 1 for equal counts."""
        every = len(index) == len(self.counts) and bool((index == torch.arange(len(index))).all())
        first, second = self.counts.take(rows.numpy()), self.counts if every else self.counts.take(index.numpy())
        return compare_patterns(first, second, self.square_width).unsqueeze(0)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones: equal counts have a cosine of 1, and a distance of 0."""
        return torch.ones(1, len(index), dtype=torch.float64)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> Subtrees:
        """Return the patterns of the remaining graphs, followed by new ones."""
        lists = [self.counts.take(kept.numpy())]
        if graphs is not None:
            lists.append(_count(graphs, self.labelling, self.iterations, self.directed))
        return replace(self, counts=PatternCounts.stack(lists))

    def known(self) -> Sequence[Tensor]:
        """Return the patterns, their counts, and the labelling of nodes and edges of other graphs."""
        thresholds = np.zeros((0, 0)) if self.labelling.thresholds is None else self.labelling.thresholds
        table, patterns = self.counts.table, self.counts.patterns.view(np.int64)
        arrays = patterns[table.indices], table.data, table.indptr.astype(np.int64), thresholds
        width = [] if self.square_width is None else [torch.tensor(self.square_width, dtype=torch.float64)]
        return [*map(torch.from_numpy, arrays), torch.tensor(self.labelling.reads_edges), *width]


def _count(batch: Batch, labelling: Labelling, iterations: int, directed: bool) -> PatternCounts:
    keep_nodes(batch, own_count=True)  # raises on unreadable graphs
    return count_patterns(batch, labelling.of_nodes(batch), labelling.of_edges(batch), iterations, directed)


def _are_integers(features: Tensor) -> bool:
    values = features.double()
    return bool((values == values.round()).all())


def _hash_rows(features: Tensor) -> Labels:
    """Return a hash of each row, `(n,)`."""
    values = (features.double().numpy() + 0.0).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
    hashed = np.zeros(len(values), np.uint64)
    for column in values.T:
        hashed = _mix(np.uint64(3) * hashed + column)
    return hashed


def _mix(values: Labels) -> Labels:
    """Return hashes whose bits each depend on all bits of a value: the end of SplitMix64 (Steele et al. 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
