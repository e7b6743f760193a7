"""Make one disjoint PyG batch of all graphs on offer in many observations."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch_geometric.data import Batch

KEYS = ("x", "edge_index", "edge_attr", "batch", "ptr")  # tensors of the batch that a network receives


def graphs_on_offer(observations: Mapping[str, Tensor]) -> Tensor:
    """Return a mask of the graphs on offer, `(B, K)` bool; a graph without nodes is never on offer.

    Raises:
        ValueError: if a mask does not consist of zeros and ones; a normalised mask would silently rule out graphs.
    """
    offered = observations["mask"] == 1
    if not (offered | (observations["mask"] == 0)).all():
        raise ValueError(
            "Expected masks of zeros and ones. Got other numbers. If observations were normalised, leave masks, sizes "
            'and edges alone: VecNormalize(..., norm_obs=False), or norm_obs_keys=["x"] for features of nodes only.'
        )
    return offered & (observations["n_node"] > 0) if "n_node" in observations else offered


def unpad_batch(observations: Mapping[str, Tensor], offered: Tensor) -> Batch:
    """Return the graphs on offer of all observations, in order, as one disjoint batch.

    Args:
        observations: B observations of `PaddedGraphSet`, of any number type (Stable-Baselines3 makes them float32).
        offered: `(B, K)` bool. The graphs to take; each has at least one node.

    Returns:
        A batch with `x` float32, `edge_index` int64, `edge_attr` float32, `batch` and `ptr`.
    """
    x, links, attributes = (observations[key] for key in KEYS[:3])
    graphs = offered.flatten().nonzero().squeeze(1)
    nodes, graph_of_node, ptr = _rows(graphs, observations["n_node"], x.shape[-2])
    edges, graph_of_edge, _ = _rows(graphs, observations["n_edge"], links.shape[-1])
    starts = edges + graphs[graph_of_edge] * links.shape[-1]  # two rows of ends per graph: sources, then targets
    ends = torch.stack([starts, starts + links.shape[-1]])
    return make_batch(
        x=x.reshape(-1, x.shape[-1])[nodes].float(),
        edge_index=links.reshape(-1)[ends].long() + ptr[graph_of_edge],
        edge_attr=attributes.reshape(-1, attributes.shape[-1])[edges].float(),
        batch=graph_of_node,
        ptr=ptr,
    )


def make_batch(**tensors: Tensor) -> Batch:
    """Make a PyG batch of tensors with the names of `KEYS`."""
    batch = Batch(**tensors)
    batch._num_graphs = len(tensors["ptr"]) - 1  # as `Batch.from_data_list` sets it
    return batch


def _rows(graphs: Tensor, counts: Tensor, padded: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the positions of the real rows of these graphs among the padded ones, the graph of each, and offsets."""
    counts = counts.flatten()[graphs].long()
    offsets = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
    owner = torch.repeat_interleave(torch.arange(len(graphs), device=graphs.device), counts)
    shifts = graphs * padded - offsets[:-1]
    return torch.arange(len(owner), device=graphs.device) + shifts[owner], owner, offsets
