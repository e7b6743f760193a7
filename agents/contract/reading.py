"""The names of the parts of a graph that an agent reads, and graphs without directions."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

NODE_FEATURES, EDGE_FEATURES, DIRECTIONS, SMILES = "node features", "edge features", "directions", "SMILES"
READABLE = (NODE_FEATURES, EDGE_FEATURES, DIRECTIONS, SMILES)
"""The parts of a graph that an agent can read, as named in its attribute `reads`."""

VALUES_AT_ONCE = 1 << 15  # values that fit into the cache of a core

Graphs = TypeVar("Graphs", "Batch", "Data")


def name_readings(reads: frozenset[str] | None) -> str:
    """Describe in words the parts of a graph that an agent reads. None if the agent does not declare them."""
    if reads is None:
        return "unknown (it has no attribute `reads`)"
    return ", ".join(word for word in READABLE if word in reads) or "nothing"


class BlindAgentWarning(UserWarning):
    """An agent ignores a difference between its graphs."""


class AddedFeaturesWarning(BlindAgentWarning):
    """An agent adds to the features of its graphs, which differ too little."""


def as_read(graphs: Graphs, reads: frozenset[str], directed: bool | None = None) -> Graphs:
    """Return graphs as an agent reads them: with each edge in both directions, unless it reads directions.

    Args:
        graphs: a batch or a graph. Other objects, such as molecules, are returned unchanged.
        reads: the parts of a graph that the agent reads.
        directed: False if each edge is known to exist in both directions.
    """
    if DIRECTIONS in reads or directed is False or getattr(graphs, "edge_index", None) is None:
        return graphs
    return with_both_directions(graphs)


def blindness(name: str, reads: frozenset[str], graphs: Batch, seen: Batch) -> str:
    """Return sentences about differences between graphs that an agent ignores, or an empty string.

    Args:
        name: name of the agent.
        reads: the parts of a graph that the agent reads, empty if it uses only rewards.
        graphs: the graphs.
        seen: the graphs as it reads them.
    """
    problems = ""
    if reads and EDGE_FEATURES not in reads and edge_features_vary(graphs):
        problems += "It does not read edge features, which differ here. "
    if reads and seen is not graphs:
        problems += "It does not read directions: each edge counts in both. "
    return f"{name} does not see all of these graphs. {problems}`gp-ucb` reads all of it." if problems else ""


def with_both_directions(graphs: Graphs) -> Graphs:
    """Return graphs with each edge in both directions, or the same object if they are already symmetric.

    A missing direction gets the features of the other. Edges are then sorted and unique.

    Args:
        graphs: a batch, or a graph.
    """
    count, (sources, targets) = graphs.num_nodes, graphs.edge_index.numpy().astype(np.int64)
    there, back = sources * count + targets, targets * count + sources
    if _sum_of_hashes(there) == _sum_of_hashes(back):  # much faster than sorting them
        return graphs
    both, first = np.unique(np.concatenate([there, back]), return_index=True)
    undirected = copy(graphs)
    undirected.edge_index = torch.from_numpy(np.stack([both // count, both % count]))
    if graphs.edge_attr is not None:
        undirected.edge_attr = torch.cat([graphs.edge_attr, graphs.edge_attr])[first]
    if hasattr(graphs, "_slice_dict"):  # used to split a batch again
        offsets = torch.from_numpy(np.searchsorted(both // count, graphs.ptr.numpy()))
        undirected._slice_dict = graphs._slice_dict | {
            name: offsets for name in ("edge_index", "edge_attr") if name in graphs._slice_dict
        }
    return undirected


def edge_features_vary(graphs: Batch) -> bool:
    """Return True if there are edge features that are not all equal."""
    features = graphs.edge_attr
    return features is not None and len(features) > 0 and bool((features != features[0]).any())


def _sum_of_hashes(values: NDArray[np.int64]) -> int:
    """Return a 64-bit number that does not depend on the order of the values and almost never collides.

    Hashes are the end of SplitMix64 (Steele et al. 2014).
    """
    total = 0
    for start in range(0, len(values), VALUES_AT_ONCE):
        mixed = values[start : start + VALUES_AT_ONCE].astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total += int((mixed ^ (mixed >> np.uint64(31))).sum(dtype=np.uint64))
    return total % 2**64
