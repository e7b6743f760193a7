"""Embed the graphs of observations by any PyG network, in plain torch, with all graphs on offer in one batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from gymnasium.spaces import Dict, Space
from torch import Tensor, nn
from torch_geometric.data import Batch

from agents.contract.inputs import read_graphs
from agents.contract.protocol import GraphSetLike
from gntk import aggregate_neighbours

NetworkFactory = Callable[[int, int, int], nn.Module]

PADDED = {"x", "edge_index", "edge_attr", "n_node", "n_edge", "mask"}
INDICES = {"indices", "mask"}
KEYS = ("x", "edge_index", "edge_attr", "batch", "ptr")  # tensors of the batch that a network receives
WIDTH = 64
TYPICAL_NODES = 32  # divides a sum over nodes, to keep it of the order of a mean


class MeanNodeNetwork(nn.Module):
    """Embed graphs by a perceptron on their aggregated nodes, and a mean over these.

        z_i = ReLU(W [h_i, X_i] + b),   h_i = u(sum_{j in N(i)} X_j)      [h: Wu & Amini 2024, Section 3.1]
        e(G) = V [mean_i z_i, mean_i h_i, sum_i h_i / 32] + c

    Neighbours are summed before any weight is applied, so the matrix products of a pass grow with the number of nodes
    only. Sum and mean of h make the paper's linear reward a linear function of the embedding. Edge features are
    ignored. If they matter, use your own network.

    Args:
        feature_dim: d, number of features of a node.
        edge_feature_dim: e, number of features of an edge, not used.
        out_dim: number of features of the embedding.
    """

    def __init__(self, feature_dim: int, edge_feature_dim: int, out_dim: int) -> None:
        super().__init__()
        self.nodes = nn.Linear(2 * feature_dim, WIDTH)
        self.head = nn.Linear(WIDTH + 2 * feature_dim, out_dim)

    def forward(self, batch: Batch) -> Tensor:
        """Embed the graphs of a batch: `(num_graphs, out_dim)` float32."""
        graphs = aggregate_neighbours(batch, own_count=True)
        values = torch.cat([self.nodes(torch.cat([graphs.nodes, batch.x], dim=1)).relu(), graphs.nodes], dim=1)
        sums = graphs.sum_over_nodes(values)
        pooled = [sums / graphs.divisors.unsqueeze(1), sums[:, WIDTH:] / TYPICAL_NODES]
        embeddings: Tensor = self.head(torch.cat(pooled, dim=1))
        return embeddings


class GraphSetEncoder(nn.Module):
    """Embed each graph on offer with one network.

    Observations of `PaddedGraphSet` contain their graphs. Those of `GraphSetIndices` do not, so the encoder holds the
    graph set. It embeds the set once per forward pass, for any number of observations, and moves it to other devices
    together with the weights. The weights alone (`state_dict`) do not contain it, so that they fit another set.

    The network receives the graphs on offer (with `GraphSetIndices`, the whole set) as one PyG `Batch` with `x`
    `(M, d)` float32, `edge_index` `(2, E)` int64 (with the directions of a directed set), `edge_attr` `(E, e)` float32
    (a one for each edge if edges have no features), `batch` and `ptr`.

    The result is `(..., K, features_dim + 1)` float32, for any leading dimensions of the observations: the embeddings,
    which are zeros for graphs not on offer, and in the last channel 1 for each graph on offer, 0 for the others.

    Args:
        observation_space: observation space of an environment in `PaddedGraphSet` or `GraphSetIndices`.
        network: function of d, e and `features_dim` that makes a torch module `Batch -> (num_graphs, features_dim)`.
        features_dim: number of features of the embedding of a graph.
        graph_set: for `GraphSetIndices`, the K graphs: any object with `to_pyg()`, such as `env.unwrapped.graph_set`.

    Raises:
        TypeError: if the space belongs to neither wrapper, or `network` does not make a module.
        ValueError: if the module does not return that shape, or if `graph_set` is missing, not needed, or does not have
            K graphs.
    """

    def __init__(
        self,
        observation_space: Space[object],
        network: NetworkFactory = MeanNodeNetwork,
        features_dim: int = 64,
        graph_set: GraphSetLike | None = None,
    ) -> None:
        super().__init__()
        boxes: Mapping[str, Any] = observation_space.spaces if isinstance(observation_space, Dict) else {}
        if set(boxes) not in (PADDED, INDICES):
            raise TypeError(
                "Expected the observation space of `graph_bandit_env.wrappers.PaddedGraphSet` or `GraphSetIndices`. "
                f"Got {observation_space}. Wrap the environment in one of them."
            )
        self.num_graphs = boxes["mask"].shape[0]
        self.embedding_dim, self.features_dim = features_dim, features_dim + 1  # Stable-Baselines3 reads the second
        self.holds_graphs = "indices" in boxes
        if self.holds_graphs != (graph_set is not None):
            raise ValueError(
                "Expected `graph_set` for observations of `GraphSetIndices`, which contain no graphs, and for no "
                f"others. Got {'none' if graph_set is None else 'one'}. In Stable-Baselines3 it is given as "
                'policy_kwargs={"features_extractor_kwargs": {"graph_set": graphs}}.'
            )
        if graph_set is not None:
            graphs = read_graphs(None, graph_set)
            if graphs.num_graphs != self.num_graphs:
                raise ValueError(f"Expected a `graph_set` of {self.num_graphs} graphs. Got {graphs.num_graphs}.")
            edges = torch.ones(graphs.num_edges, 1) if graphs.edge_attr is None else graphs.edge_attr
            tensors = graphs.x.float(), graphs.edge_index, edges.float(), graphs.batch, graphs.ptr
            for key, tensor in zip(KEYS, tensors, strict=True):
                self.register_buffer(f"graph_set_{key}", tensor, persistent=False)
            dims = graphs.x.shape[1], edges.shape[1]
        else:
            dims = boxes["x"].shape[-1], boxes["edge_attr"].shape[-1]
        made = None if isinstance(network, nn.Module) else network(*dims, features_dim)
        if not isinstance(made, nn.Module):
            raise TypeError(
                "Expected `network` to be a function of the numbers of node features, edge features and outputs that "
                f"makes a torch module. Got {network}."
            )
        self.network = made
        self._try_network(*dims)

    def forward(self, observations: Mapping[str, Tensor]) -> Tensor:
        """Return the embeddings and the masks of observations, `(..., K, features_dim + 1)`.

        Raises:
            ValueError: if a mask does not consist of zeros and ones.
        """
        offered = graphs_on_offer(observations)
        if self.holds_graphs:
            held = make_batch(**{key: getattr(self, f"graph_set_{key}") for key in KEYS})
            embeddings = self.network(held).float() * offered.unsqueeze(-1)
        else:
            embeddings = torch.zeros(*offered.shape, self.embedding_dim, device=offered.device)
            if offered.any():  # after the last round of an episode there may be no graphs, and a network may fail
                found = self.network(unpad_batch(observations, offered)).float()
                embeddings = embeddings.masked_scatter(offered.unsqueeze(-1), found)
        return torch.cat([embeddings, offered.unsqueeze(-1).to(embeddings)], dim=-1)

    @torch.no_grad()
    def _try_network(self, feature_dim: int, edge_feature_dim: int) -> None:
        """Run the network on graphs of one and two nodes, which also initialises lazy layers."""
        x, edge_attr, links = torch.zeros(3, feature_dim), torch.zeros(2, edge_feature_dim), [[0, 1], [1, 0]]
        edge_index, batch, ptr = map(torch.tensor, (links, [0, 0, 1], [0, 2, 3]))
        self.network.eval()
        found = self.network(make_batch(x=x, edge_index=edge_index, edge_attr=edge_attr, batch=batch, ptr=ptr))
        self.network.train()
        shape, expected = getattr(found, "shape", type(found).__name__), (2, self.embedding_dim)
        if shape != expected:
            raise ValueError(
                f"Expected a network that returns embeddings `(num_graphs, features_dim)`, here `{expected}`. Got "
                f"`{shape}`. End it with a pooling over `batch.batch`, and `features_dim` outputs."
            )


def graphs_on_offer(observations: Mapping[str, Tensor]) -> Tensor:
    """Return a mask of the graphs on offer, `(B, K)` bool. A graph without nodes is never on offer.

    Raises:
        ValueError: if a mask does not consist of zeros and ones. A normalised mask would silently exclude graphs.
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
        offered: `(B, K)` bool. The graphs to take, each with at least one node.

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
