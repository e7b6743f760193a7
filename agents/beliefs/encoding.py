"""Encode graphs that are shown for the first time like those that a model has encoded before."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from gntk import AggregatedGraphs, join_graphs, select_graphs

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data


class Encode(Protocol):
    """A function that aggregates graphs: `gntk.aggregate_neighbours` or `gntk.keep_nodes`."""

    def __call__(self, batch: Batch, *, own_count: bool) -> AggregatedGraphs:
        """Return the graphs in the form that the paper's network takes."""


def encode_more(
    encode: Encode, encoded: AggregatedGraphs, kept: Tensor, graphs: Sequence[Data], own_count: bool
) -> AggregatedGraphs:
    """Return some of the graphs that are encoded, and then new ones.

    Args:
        encode: makes the inputs of a network.
        encoded: graphs that it has encoded.
        kept: `(n,)` int64. Those that stay.
        graphs: the new graphs.
        own_count: N of a new graph is its own node count, not the N of the others.
    """
    old = select_graphs(encoded, kept)
    if not graphs:
        return old
    from torch_geometric.data import Batch

    new = encode(Batch.from_data_list(list(graphs)), own_count=True).to(encoded.nodes.dtype)
    divisors = new.divisors if own_count else torch.full_like(new.divisors, float(encoded.divisors[0]))
    return join_graphs(old, dataclasses.replace(new, divisors=divisors))
