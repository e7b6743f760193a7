"""Directions of edges go through the environment: observations of each kind, rewards, new graph sets, pictures."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from graph_bandit_env import GraphSet, wrappers
from graph_bandit_env.wrappers import unpad

RNG = np.random.default_rng(0)
NODES = [RNG.normal(size=(n, 2)) for n in (3, 4, 5, 3)]
LINKS = [[(a, b) for a in range(len(x)) for b in range(a + 1, len(x)) if RNG.random() < 0.8] for x in NODES]
ARROWS = GraphSet(NODES, LINKS, directed=True)
PYG = [Data(x=torch.tensor(x), edge_index=torch.tensor(links).T) for x, links in zip(NODES, LINKS, strict=True)]
MEANS = [0.0, 1.0, 2.0, 3.0]


def make(**settings):
    settings = {"graphs": ARROWS, "reward_model": MEANS, "noise_std": 0.0, "horizon": 4} | settings
    return gym.make("GraphActionBandit-v0", **settings)


def links_of(graphs):
    return [np.asarray(graph.edge_links).tolist() for graph in graphs]


def test_graphs_of_pyg_need_a_word_and_a_set_brings_it():
    with pytest.raises(ValueError, match="directed=True.*directed=False"):
        make(graphs=PYG)
    assert links_of(make(graphs=PYG, directed=True).reset()[0]) == links_of(ARROWS)
    undirected = make(graphs=PYG, directed=False).reset()[0]
    assert links_of(undirected) == links_of(ARROWS.without_directions())
    assert links_of(make(directed=False).reset()[0]) == links_of(undirected)
    assert make().unwrapped.graph_set is ARROWS


def test_padded_observations_hold_each_arrow_once():
    env = wrappers.PaddedGraphSet(make())
    observation, _ = env.reset()
    assert observation["edge_index"].shape[-1] == ARROWS.largest_sizes[1] == max(map(len, LINKS))
    assert [graph.edge_index.T.tolist() for graph in unpad(observation)] == links_of(ARROWS)


def test_random_reward_functions_sum_over_the_nodes_whose_edges_lead_to_a_node():
    """With the reversed arrows other nodes are summed, so a linear reward is another one."""
    reversed_arrows = GraphSet(NODES, [[link[::-1] for link in links] for links in LINKS], directed=True)
    there, back = (make(graphs=graphs, reward_model="linear") for graphs in (ARROWS, reversed_arrows))
    for env in (there, back):
        env.reset(seed=3)
    assert not np.allclose(there.unwrapped.mean_rewards, back.unwrapped.mean_rewards)
