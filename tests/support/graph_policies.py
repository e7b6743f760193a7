"""Environments, observations and networks for the tests of policies on graph sets."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.spaces import Box, Dict
from torch import nn
from torch.utils.data import default_collate
from torch_geometric.nn import GINEConv, global_add_pool

import graph_bandit_env  # noqa: F401
from agents.padded import GraphSetEncoder
from graph_bandit_env.graphs import as_graph_set
from graph_bandit_env.wrappers import GraphSetIndices, PaddedGraphSet
from support.graphs import ragged_graphs

FORMS = ("padded", "indices")


def graphs_with_edge_features(sizes=(5, 1, 7, 3), seed=0):
    """Ragged graphs; the one with a single node has no edges."""
    graphs = ragged_graphs(sizes, seed=seed)
    for graph in graphs:
        graph.edge_attr = torch.randn(graph.num_edges, 2)
    return as_graph_set(graphs).to_pyg()  # in the order that a graph set has


def make_env(form="padded", graphs=None, **settings):
    graphs = graphs_with_edge_features() if graphs is None else graphs
    observe = "graphs" if form == "padded" else "indices"
    settings = {"reward_model": np.arange(len(graphs)), "horizon": 8, "observe": observe, **settings}
    env = gym.make("GraphActionBandit-v0", graphs=graphs, **settings)
    return PaddedGraphSet(env) if form == "padded" else GraphSetIndices(env)


def encoder_kwargs(env, **kwargs):
    """What the encoder needs for this environment."""
    static = {"graph_set": env.unwrapped.graph_set} if isinstance(env, GraphSetIndices) else {}
    return {**static, **kwargs}


def as_tensors(*observations):
    """A batch of observations, as Stable-Baselines3 hands it on."""
    return {key: array.float() for key, array in default_collate(observations).items()}


def space_of(observation):
    return Dict({key: Box(-np.inf, np.inf, array.shape, array.dtype) for key, array in observation.items()})


def make_encoder(observation, **kwargs):
    torch.manual_seed(0)
    return GraphSetEncoder(space_of(observation), **kwargs)


def pad_more(observation, graphs=0, nodes=0, edges=0):
    """Add room for more nodes and edges, filled with what must not be read, and graphs without nodes."""
    widths = {"x": [(0, nodes), (0, 0)], "edge_index": [(0, 0), (0, edges)], "edge_attr": [(0, edges), (0, 0)]}
    fill = {"x": 7.0, "edge_index": 3, "edge_attr": 5.0}
    result = {}
    for key, array in observation.items():
        wider = np.pad(array, [(0, 0), *widths.get(key, [])], constant_values=fill.get(key, 0))
        result[key] = np.pad(wider, [(0, graphs), *[(0, 0)] * (wider.ndim - 1)])
    return result


class Gine(nn.Module):
    """A GINE with edge features, as a user would write it."""

    def __init__(self, feature_dim, edge_feature_dim, out_dim):
        super().__init__()
        self.conv = GINEConv(nn.Linear(feature_dim, 16), edge_dim=edge_feature_dim)
        self.head = nn.Linear(16, out_dim)

    def forward(self, batch):
        x = self.conv(batch.x, batch.edge_index, batch.edge_attr).relu()
        return self.head(global_add_pool(x, batch.batch))
