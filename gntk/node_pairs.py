"""Sum the kernel of the infinitely wide MLP over pairs of nodes, in compiled loops: `gntk.infinite_width` on the CPU.

If two nodes are nearly equal or opposite, a rounding error of 1e-16 in their cosine c is one of 1e-8 in their angle.
The loops therefore use the gap g = 1 - |c|. The difference of two unit nodes, or their sum if c < 0, gives all its
digits, |u -+ u'|^2 / 2, and each layer gives the gap of the next. With x = |c| = 1 - g and q = arccos(x) / pi:

    m = sqrt(g (2 - g)) / pi - q x,   c^(l+1) = x + m if c^(l) >= 0 else m           [Cho & Saul 2009, J_1]
    g^(l+1) = g - m if c^(l) >= 0 else 1 - m,   1 - a / pi = 1 - q if c^(l) >= 0 else q
    tau^(2) = x + n if c >= 0 else n,   n = (m - q x) / 2 = sqrt(g) P(g)

arccos(x) is pi / 2 - arcsin(x) up to x = 1/2, and 2 arcsin(sqrt(g / 2)) beyond. Polynomials are Chebyshev interpolants
(`mpmath.chebyfit`). The error of a pair of nodes is at most 1e-15 times their lengths.

Columns are stored in tiles of 64 nodes, padded with zeros. The inner loops thus have one length, known to the compiler,
which vectorises them without a remainder, and each pair of nodes is computed by the same instructions at any position.
Nodes of a row are processed two at a time, which halves the loads. Sums over the nodes of two graphs are computed in
the written order: first over those of the graph with the smaller key, a hash of its nodes. The sum for two graphs is
thus exactly independent of the other graphs.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gntk.aggregation import AggregatedGraphs, select_graphs
from gntk.compilation import compile_loop

TILE = 64  # nodes of a tile: its scratch stays in L1, and few lanes are wasted on small sets
PAIRS_PER_CALL = 1 << 26  # a fifth of a second: compiled loops cannot be interrupted
PAIRS = 2 * TILE  # pairs of two nodes and those of a tile
NEAR = 1 / 32  # gaps below it are recomputed; an error e of any other cosine is one of 4 e in its angle
PER_PI = 1 / math.pi

compile_in_order = partial(compile_loop, keep_order=True)


@compile_in_order
def arcsin(s, t):  # type: ignore[no-untyped-def]
    """Approximate the arc sine of s, given t = s^2 <= 1/4, by s + s t P(t). The error is 2^-57 s, plus rounding."""
    t2 = t * t
    t4 = t2 * t2
    a = (0.16666666666666669 + 0.07499999999998433 * t) + t2 * (0.04464285714635543 + 0.030381944138531247 * t)
    b = (0.02237217294214989 + 0.017352392720869973 * t) + t2 * (0.013971212973552933 + 0.011479177415184906 * t)
    c = (0.01032281435018578 + 0.005457506718640358 * t) + t2 * (0.01740087944269402 - 0.014851887071247204 * t)
    return s + s * (t * ((a + t4 * b) + t4 * t4 * (c + t4 * 0.028757851367421566)))


@compile_in_order
def obtuse_ratio(g):  # type: ignore[no-untyped-def]
    """Approximate P(g) = tau^(2) / sqrt(g) at the cosine g - 1, from -1 to 0. The error is 2^-55, plus rounding."""
    g2 = g * g
    g4 = g2 * g2
    a = (-0.22507907903927651 + 0.35637520847885223 * g) + g2 * (0.022038993156200785 + 0.004169991853276842 * g)
    b = (0.0011077416334897713 + 0.0003477402807243888 * g) + g2 * (0.00012059010769198087 + 4.42669266935239e-05 * g)
    c = (1.9021019384320368e-05 + 4.002193947620485e-07 * g) + g2 * (2.1444074717007e-05 - 3.9010346561498e-05 * g)
    d = (6.674838640689585e-05 - 8.234671213732899e-05 * g) + g2 * (7.68128775734128e-05 - 5.155763949796287e-05 * g)
    e = (2.3851958843267845e-05 - 6.798143456727193e-06 * g) + g2 * 9.239995761887073e-07
    return (a + g4 * b) + g4 * g4 * ((c + g4 * d) + g4 * g4 * e)


@compile_in_order
def _fill_four(rows, i, j, tiles, tile, cosines):  # type: ignore[no-untyped-def]
    """Fill the products of nodes i and j and those of a tile in their first four features."""
    a0, a1, a2, a3 = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]
    b0, b1, b2, b3 = rows[j, 0], rows[j, 1], rows[j, 2], rows[j, 3]
    for n in range(TILE):
        c0, c1, c2, c3 = tiles[tile, 0, n], tiles[tile, 1, n], tiles[tile, 2, n], tiles[tile, 3, n]
        cosines[n] = a0 * c0 + a1 * c1 + a2 * c2 + a3 * c3
        cosines[TILE + n] = b0 * c0 + b1 * c1 + b2 * c2 + b3 * c3


@compile_in_order
def _add_four(rows, i, j, tiles, tile, k, cosines):  # type: ignore[no-untyped-def]
    """Add the products in four more features."""
    a0, a1, a2, a3 = rows[i, k], rows[i, k + 1], rows[i, k + 2], rows[i, k + 3]
    b0, b1, b2, b3 = rows[j, k], rows[j, k + 1], rows[j, k + 2], rows[j, k + 3]
    for n in range(TILE):
        c0, c1, c2, c3 = tiles[tile, k, n], tiles[tile, k + 1, n], tiles[tile, k + 2, n], tiles[tile, k + 3, n]
        cosines[n] += a0 * c0 + a1 * c1 + a2 * c2 + a3 * c3
        cosines[TILE + n] += b0 * c0 + b1 * c1 + b2 * c2 + b3 * c3


@compile_in_order
def _measure(rows, i, j, tiles, tile, cosines, gaps, squares):  # type: ignore[no-untyped-def]
    """Fill cosines and gaps of nodes i and j and those of a tile."""
    d = rows.shape[1]
    _fill_four(rows, i, j, tiles, tile, cosines)
    for k in range(4, d, 4):
        _add_four(rows, i, j, tiles, tile, k, cosines)
    near = 0
    for n in range(PAIRS):
        gap = 1 - abs(cosines[n])
        gaps[n] = gap
        near += 1 if gap < NEAR else 0
    if near == 0:
        return
    for n in range(PAIRS):
        squares[n] = 0.0
    for k in range(d):
        a, b = rows[i, k], rows[j, k]
        for n in range(TILE):
            c = tiles[tile, k, n]
            first = a - c if cosines[n] >= 0 else a + c
            second = b - c if cosines[TILE + n] >= 0 else b + c
            squares[n] += first * first
            squares[TILE + n] += second * second
    for n in range(PAIRS):
        gaps[n] = 0.5 * squares[n] if gaps[n] < NEAR else gaps[n]


@compile_in_order
def _take_shallow(cosines, gaps, kernels):  # type: ignore[no-untyped-def]
    """Fill tau^(2)."""
    for n in range(PAIRS):
        gap = gaps[n]
        tau = math.sqrt(gap) * obtuse_ratio(gap)
        kernels[n] = tau + (1 - gap) if cosines[n] >= 0 else tau


@compile_in_order
def _take_deep(cosines, gaps, kernels, depth):  # type: ignore[no-untyped-def]
    """Fill tau^(L)."""
    for n in range(PAIRS):
        kernels[n] = 1 - gaps[n] if cosines[n] >= 0 else gaps[n] - 1
    share = 1.0
    for _ in range(1, depth):
        share *= 0.5
        _pass_layer(cosines, gaps, kernels, share)


@compile_in_order
def _pass_layer(cosines, gaps, kernels, share):  # type: ignore[no-untyped-def]
    """Advance cosines, gaps and tau of a tile by one layer. `share` is 2^-l."""
    for j in range(PAIRS):
        gap = gaps[j]
        x, half = 1 - gap, 0.5 * gap
        wide = gap > 0.5  # x < 1/2
        angle = PER_PI * arcsin(x if wide else math.sqrt(half), x * x if wide else half)
        angle = 0.5 - angle if wide else 2 * angle
        m = PER_PI * math.sqrt(gap * (2 - gap)) - angle * x
        acute = cosines[j] >= 0
        rest = 1 - angle if acute else angle
        cosine = x + m if acute else m
        gap = gap - m if acute else 1 - m
        gaps[j] = 0.0 if gap < 0 else gap
        cosines[j] = cosine
        kernels[j] = share * cosine + 0.5 * (kernels[j] * rest)


@compile_in_order
def sum_node_pairs(  # type: ignore[no-untyped-def]
    rows, row_lengths, row_starts, tiles, lengths, starts, first, begin, end, depth, scratch, kernel
):  # fmt: skip
    """Add up node pairs of graphs `begin:end` of the rows and the graphs from `first` of the columns, in zeros."""
    cosines, gaps, kernels, sums = scratch[0], scratch[1], scratch[2], scratch[3]
    lowest = 0  # the first graph that extends into the tile
    for tile in range(len(tiles)):
        left, right = tile * TILE, (tile + 1) * TILE
        while starts[lowest + 1] <= left:
            lowest += 1
        for graph in range(begin, end):
            if first[graph] == len(starts) - 1 or starts[first[graph]] >= right:
                continue
            for n in range(TILE):
                sums[n] = 0.0
            for i in range(row_starts[graph], row_starts[graph + 1], 2):
                is_two = i + 1 < row_starts[graph + 1]
                j = i + 1 if is_two else i
                _measure(rows, i, j, tiles, tile, cosines, gaps, kernels)
                if depth == 2:
                    _take_shallow(cosines, gaps, kernels)
                else:
                    _take_deep(cosines, gaps, kernels, depth)
                length, other_length = row_lengths[i], row_lengths[j] if is_two else 0.0
                for n in range(TILE):
                    sums[n] += length * kernels[n] + other_length * kernels[TILE + n]
            other = max(first[graph], lowest)
            while other < len(starts) - 1 and starts[other] < right:
                total = kernel[graph, other]
                for n in range(max(starts[other], left), min(starts[other + 1], right)):
                    total += lengths[n] * sums[n - left]
                kernel[graph, other] = total
                other += 1


@compile_in_order
def _scale_to_unit(nodes, rows, lengths):  # type: ignore[no-untyped-def]
    """Fill lengths of nodes, and nodes of unit length. Zeros stay zeros."""
    for i in range(len(nodes)):
        square = 0.0
        for k in range(nodes.shape[1]):
            square += nodes[i, k] * nodes[i, k]
        lengths[i] = math.sqrt(square)
        for k in range(nodes.shape[1]):
            rows[i, k] = nodes[i, k] if square == 0 else nodes[i, k] / lengths[i]


@dataclass(frozen=True, eq=False)
class SortedGraphs:
    """Hold graphs in the layout of the compiled loops, sorted by key.

    Attributes:
        order: `(K,)` int64. Original position of each graph.
        keys: `(K,)` uint64. Hashes of the nodes of each graph, ascending.
        rows: `(M, d')` float64. Nodes of unit length, or zero. d' is a multiple of four, at least 4.
        lengths: `(M,)` float64. The divisor of each node.
        starts: `(K + 1,)` int64. The nodes of graph k are `starts[k]:starts[k + 1]`.
        tiles: `(ceil(M / 64), d', 64)` float64. The same nodes, padded with zeros to whole tiles.
    """

    order: NDArray[np.int64]
    keys: NDArray[np.uint64]
    rows: NDArray[np.float64]
    lengths: NDArray[np.float64]
    starts: NDArray[np.int64]
    tiles: NDArray[np.float64]


def sort_graphs(graphs: AggregatedGraphs) -> SortedGraphs:
    """Sort float64 graphs by key, and arrange them for the compiled loops."""
    nodes = np.ascontiguousarray(graphs.nodes.detach().numpy())
    parts = [nodes[start:stop] for start, stop in itertools.pairwise(graphs.offsets.tolist())]
    digests = b"".join(hashlib.blake2b(part.tobytes(), digest_size=8).digest() for part in parts)
    keys = np.frombuffer(digests, np.uint64)
    order = keys.argsort(kind="stable")
    sorted_graphs = select_graphs(graphs, torch.from_numpy(order))
    count, d = sorted_graphs.nodes.shape
    padded = np.zeros((-(-count // TILE) * TILE, max(4, -(-d // 4) * 4)))
    lengths = np.zeros(count)
    _scale_to_unit(sorted_graphs.nodes.detach().numpy(), padded, lengths)
    tiles = np.ascontiguousarray(padded.reshape(-1, TILE, padded.shape[1]).transpose(0, 2, 1))
    return SortedGraphs(order, keys[order], padded[:count], lengths, sorted_graphs.offsets.numpy(), tiles)


def node_pair_sums(graphs: AggregatedGraphs, others: AggregatedGraphs, depth: int) -> Tensor:
    """Sum the kernel of the infinitely wide MLP over all pairs of a node of one graph and a node of another.

        sum_{i in G, j in G'} |h_i| |h'_j| tau^(L)(<u(h_i), u(h'_j)>)      [see `gntk.infinite_width`]

    Args:
        graphs: K graphs of float64 nodes, on the CPU.
        others: K' graphs of float64 nodes, on the CPU. Passing `graphs` itself halves the time.
        depth: L.

    Returns:
        `(K, K')` float64. Each entry depends exactly on its two graphs only.
    """
    rows = sort_graphs(graphs)
    columns = rows if others is graphs else sort_graphs(others)
    sums = np.zeros((len(rows.keys), len(columns.keys)))
    if others is graphs:
        upper = _sums_from(rows, rows, np.arange(len(rows.keys)), depth)
        by_key = upper + np.triu(upper, 1).T
    else:  # each pair once, with the smaller key first
        by_key = _sums_from(rows, columns, np.searchsorted(columns.keys, rows.keys, "left"), depth)
        by_key += _sums_from(columns, rows, np.searchsorted(rows.keys, columns.keys, "right"), depth).T
    sums[np.ix_(rows.order, columns.order)] = by_key
    return torch.from_numpy(sums)


def _sums_from(rows: SortedGraphs, columns: SortedGraphs, first: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
    """Return the sums of each graph of the rows with the columns starting at its `first`, and zeros before."""
    kernel = np.zeros((len(rows.keys), len(columns.keys)))
    pairs_of_a_graph = max(1, len(rows.rows) * len(columns.rows) // max(1, len(kernel)))
    step = max(1, PAIRS_PER_CALL // pairs_of_a_graph)
    scratch = np.zeros((4, PAIRS))
    arrays = rows.rows, rows.lengths, rows.starts, columns.tiles, columns.lengths, columns.starts
    for begin in range(0, len(kernel), step):
        sum_node_pairs(*arrays, first, begin, min(begin + step, len(kernel)), depth, scratch, kernel)
    return kernel
