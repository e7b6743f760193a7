"""Readings of graphs: the words for them, graphs without their directions, and graphs that look equal."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

NODE_FEATURES, EDGE_FEATURES, DIRECTIONS, SMILES = "node features", "edge features", "directions", "SMILES"
READABLE = (NODE_FEATURES, EDGE_FEATURES, DIRECTIONS, SMILES)
"""What an agent can read of graphs, in the words of its attribute `reads`."""

WAVES = 16  # random features of a node, or random directions of a kernel
REFINEMENTS = 3
EDGES_AT_ONCE = 1 << 20
VALUES_AT_ONCE = 1 << 15  # which stay in the cache of a core
EQUAL_TO_MODEL = 1e-6  # of the largest number; float32 features err by 1e-7
EQUAL = 1e-9  # the same of sums in float64

Floats = NDArray[np.float64]
Graphs = TypeVar("Graphs", "Batch", "Data")


def name_readings(reads: frozenset[str] | None) -> str:
    """Write in words what an agent reads; None: it does not say."""
    if reads is None:
        return "what it does not say (attribute `reads`)"
    return ", ".join(word for word in READABLE if word in reads) or "nothing"


class BlindAgentWarning(UserWarning):
    """An agent does not read something in which its graphs differ."""


class AddedFeaturesWarning(BlindAgentWarning):
    """An agent adds to the features of its graphs, which tell them apart too little."""


def with_both_directions(graphs: Graphs) -> Graphs:
    """Return graphs in which each edge is there in both directions; the same object if it is so already.

    A missing direction gets the features of the other. Edges are then sorted, and there once each.

    Args:
        graphs: a batch, or a graph.
    """
    count, (sources, targets) = graphs.num_nodes, graphs.edge_index.numpy().astype(np.int64)
    there, back = sources * count + targets, targets * count + sources
    if _sum_of_hashes(there) == _sum_of_hashes(back):  # sorting them would take much longer
        return graphs
    both, first = np.unique(np.concatenate([there, back]), return_index=True)
    undirected = copy(graphs)
    undirected.edge_index = torch.from_numpy(np.stack([both // count, both % count]))
    if graphs.edge_attr is not None:
        undirected.edge_attr = torch.cat([graphs.edge_attr, graphs.edge_attr])[first]
    if hasattr(graphs, "_slice_dict"):  # by which a batch is taken apart again
        offsets = torch.from_numpy(np.searchsorted(both // count, graphs.ptr.numpy()))
        undirected._slice_dict = graphs._slice_dict | {
            name: offsets for name in ("edge_index", "edge_attr") if name in graphs._slice_dict
        }
    return undirected


def edge_features_vary(graphs: Batch) -> bool:
    """Return whether there are features of edges that are not all equal."""
    features = graphs.edge_attr
    return features is not None and len(features) > 0 and bool((features != features[0]).any())


def wave_nodes(nodes: Tensor, seed: int = 0) -> Tensor:
    """Return random features of the rows of nodes: equal for equal rows, and 0 for a row of zeros.

        phi(h) = sin(W h + b) - sin(b)      [after Rahimi & Recht 2007]

    Sums of them tell multisets of rows apart.

    Args:
        nodes: `(M, d)`.
        seed: seed of W and b.

    Returns:
        `(M, WAVES)` float64.
    """
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(nodes.shape[1], WAVES, generator=generator, dtype=torch.float64)
    shifts = 2 * torch.pi * torch.rand(WAVES, generator=generator, dtype=torch.float64)
    return torch.sin(nodes.cpu().double() @ weights + shifts) - torch.sin(shifts)


def find_alike(appearance: Tensor, graphs: Batch) -> tuple[int, int] | None:
    """Return two graphs of different content that look equal; None if there are none.

    Another order of nodes is the same content. Contents are compared by sums over nodes of random features,
    refined over edges, which tell apart what the test of Weisfeiler and Lehman does, and graphs with other triangles.

    Args:
        appearance: `(K, q)`, finite. Equal rows look equal.
        graphs: K graphs.
    """
    looks = _label_rows(_project(appearance.detach().cpu().double()).numpy(), EQUAL_TO_MODEL)
    order = np.argsort(looks, kind="stable")
    shared = np.bincount(looks)[looks[order]] > 1
    for index in _parts(order[shared], graphs):
        contents = _label_rows(_contents(graphs.index_select(index)), EQUAL)
        pairs = np.flatnonzero((np.diff(looks[index]) == 0) & (np.diff(contents) != 0))
        if len(pairs):
            first, second = sorted(index[pairs[0] : pairs[0] + 2].tolist())
            return first, second
    return None


def _sum_of_hashes(values: NDArray[np.int64]) -> int:
    """Return a number of 64 bits that is the same for the same values in any order, and hardly ever for others.

    Hashes are the end of SplitMix64 (Steele et al. 2014).
    """
    total = 0
    for start in range(0, len(values), VALUES_AT_ONCE):
        mixed = values[start : start + VALUES_AT_ONCE].astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total += int((mixed ^ (mixed >> np.uint64(31))).sum(dtype=np.uint64))
    return total % 2**64


def _parts(index: NDArray[np.int64], graphs: Batch) -> Iterator[NDArray[np.int64]]:
    """Yield parts of some graphs with a bounded number of edges, each with the last graph of the part before."""
    sizes = np.bincount(graphs.batch[graphs.edge_index[0]].numpy(), minlength=graphs.num_graphs)[index]
    start = 0
    while start < len(index) - 1:
        fitting = int(np.searchsorted(sizes[start:].cumsum(), EDGES_AT_ONCE))
        yield index[start : start + max(2, fitting)]
        start += max(2, fitting) - 1


def _contents(graphs: list[Data]) -> Floats:
    """Return numbers that are equal, but for rounding, for graphs of equal content, `(K, WAVES)`."""
    from torch_geometric.data import Batch

    batch = Batch.from_data_list(graphs)
    (sources, targets), count = batch.edge_index.numpy(), batch.num_nodes
    weights = np.ones(len(sources)) if batch.edge_attr is None else wave_nodes(_scaled(batch.edge_attr)).numpy()[:, 0]
    arriving = csr_array((3 + weights, (targets, sources)), shape=(count, count))  # positive: nothing cancels
    joined = (arriving + arriving.T > 0).astype(np.float64)
    triangles = ((joined @ joined) * joined).sum(axis=1)
    degrees = [arriving.sum(axis=1), arriving.T.sum(axis=1)]
    counts = np.log1p(np.column_stack([*degrees, triangles]))
    values = wave_nodes(torch.cat([_scaled(batch.x), torch.from_numpy(counts)], dim=1))
    for refinement in range(REFINEMENTS):
        sums = [matrix @ values.numpy() for matrix in (arriving, arriving.T)]  # divided, so that errors do not grow
        near = [torch.from_numpy(rows / (1 + degree[:, None])) for rows, degree in zip(sums, degrees, strict=True)]
        values = wave_nodes(torch.cat([values, *near], dim=1), seed=refinement + 1)
    of_graphs = torch.zeros(len(graphs), WAVES, dtype=torch.float64).index_add_(0, batch.batch, values)
    return np.column_stack([batch.ptr.diff().numpy(), of_graphs.numpy()])


def _scaled(features: Tensor) -> Tensor:
    """Return features whose largest number is 1."""
    values = features.double()
    return values / values.abs().max().clamp(min=1e-300) if len(values) else values


def _project(rows: Tensor) -> Tensor:
    """Return rows of at most `WAVES` numbers, of which the largest is 1, that are equal for equal rows."""
    if rows.shape[1] > WAVES:
        generator = torch.Generator().manual_seed(0)
        directions = torch.randn(rows.shape[1], WAVES, generator=generator, dtype=torch.float64)
        rows = rows @ directions / rows.shape[1] ** 0.5
    return rows / rows.abs().max().clamp(min=1e-300)


def _label_rows(rows: Floats, tolerance: float) -> NDArray[np.int64]:
    """Return a number for each row; rows that differ by no more than the tolerance have equal ones."""
    labels = np.zeros(len(rows), np.int64)
    for column in rows.T:
        order = np.lexsort((column, labels))
        begins = (np.diff(labels[order]) != 0) | (np.diff(column[order]) > tolerance)
        labels[order] = np.concatenate([[0], begins.cumsum()])
    return labels
