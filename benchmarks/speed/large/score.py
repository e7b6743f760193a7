"""Score a large pool once, and print JSON: python -m benchmarks.speed.large.score K N D."""

from __future__ import annotations

import json
import sys
import time

import torch
from torch_geometric.data import Data

import registry
from benchmarks.speed.measure import peak_bytes


class Pool:
    """K graphs with random features on one random tree of N nodes, about as large as molecules."""

    def __init__(self, num_graphs: int, num_nodes: int, feature_dim: int) -> None:
        self.shape = num_graphs, num_nodes, feature_dim

    def to_pyg(self) -> list[Data]:
        """Return the graphs."""
        num_graphs, num_nodes, feature_dim = self.shape
        generator = torch.Generator().manual_seed(0)
        child = torch.arange(1, num_nodes)
        parent = (torch.rand(num_nodes - 1, generator=generator) * child).long()
        edges = torch.stack([torch.cat([child, parent]), torch.cat([parent, child])])
        nodes = (torch.randn(num_nodes, feature_dim, generator=generator) for _ in range(num_graphs))
        return [Data(x=x, edge_index=edges) for x in nodes]


def score(num_graphs: int, num_nodes: int, feature_dim: int) -> dict[str, float]:
    """Return the seconds of `reset` and of one choice after ten measurements, and the peak memory in bytes."""
    agent = registry.make_agent("gnn-ts", covariance="diagonal")
    begin = time.perf_counter()
    agent.reset(None, graph_set=Pool(num_graphs, num_nodes, feature_dim))
    reset = time.perf_counter() - begin
    agent.update(None, list(range(10)), [float(k) for k in range(10)])
    begin = time.perf_counter()
    agent.select_action(None)
    choice = time.perf_counter() - begin
    return {"reset": reset, "choice": choice, "peak_bytes": peak_bytes()}


if __name__ == "__main__":
    print(json.dumps(score(*map(int, sys.argv[1:]))))
