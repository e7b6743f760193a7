"""Give an agent your own network: a GIN with embeddings of categorical node and edge features.

The graphs are toy molecules: rings with a tail, with five kinds of nodes and two kinds of bonds. The reward counts one
kind of bond. Any module that maps a PyG batch to one number for each graph will do.

    python examples/own_network.py --rounds 60
"""

import argparse

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, global_add_pool

import registry
from graph_bandit_env import from_pyg_dataset
from graph_bandit_lab import run_bandit


class Gin(nn.Module):
    """Three GIN layers on embedded categories; `.long()` is there because the environment stores float32 features."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.nodes, self.edges = nn.Embedding(5, width), nn.Embedding(2, width)
        self.layers = nn.ModuleList(
            GINEConv(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))) for _ in range(3)
        )
        self.head = nn.Linear(width, 1)

    def forward(self, batch):
        """Return one number for each graph, `(K,)`."""
        x, edges = self.nodes(batch.x[:, 0].long()), self.edges(batch.edge_attr[:, 0].long())
        for layer in self.layers:
            x = layer(x, batch.edge_index, edges).relu()
        return self.head(global_add_pool(x, batch.batch)).squeeze(-1)


def ring_with_tail(generator: torch.Generator) -> Data:
    """Draw a ring of 5 or 6 nodes with a tail of 0 to 4 nodes."""
    ring, tail = (int(torch.randint(*bounds, (), generator=generator)) for bounds in ((5, 7), (0, 5)))
    start = torch.arange(ring + tail)
    stop = torch.cat([(start[:ring] + 1) % ring, torch.arange(ring - 1, ring + tail - 1)])
    kinds, bonds = (torch.randint(n, (ring + tail, 1), generator=generator) for n in (5, 2))
    edges = torch.stack([torch.cat([start, stop]), torch.cat([stop, start])])
    return Data(x=kinds, edge_index=edges, edge_attr=bonds.repeat(2, 1))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=60)
arguments = parser.parse_args()

graphs = from_pyg_dataset([ring_with_tail(torch.Generator().manual_seed(k)) for k in range(40)])
env = registry.make_environment(
    graphs=graphs, reward_model=lambda graph: float(graph.edge_attr.sum()), noise_std=0.1, horizon=arguments.rounds
)
agents = {
    "gnn-ts on a GIN": registry.make_agent("gnn-ts", network=Gin, network_name="32 wide"),
    "its last layer": registry.make_agent("gnn-ts", network=Gin, network_name="32 wide", gradient="last_layer"),
    "random play": registry.make_agent("random"),
}
for name, agent in agents.items():
    print(f"{name}: regret {run_bandit(env, agent, seed=0).regret.sum():.1f}")
