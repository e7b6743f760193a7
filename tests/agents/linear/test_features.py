import numpy as np
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from agents.linear.features import describe


def test_a_graph_is_described_by_means_of_its_nodes_and_its_sizes():
    graphs = ragged_graphs()
    for row, graph in zip(describe(Batch.from_data_list(graphs)), graphs, strict=True):
        sums = torch.zeros(graph.num_nodes, 4)
        for source, target in graph.edge_index.T.tolist():
            sums[target] += graph.x[source]
        lengths = sums.norm(dim=1, keepdim=True)
        aggregated = sums / lengths.where(lengths > 0, 1.0)
        sizes = torch.tensor([np.log(graph.num_nodes), np.log1p(graph.num_edges)])
        np.testing.assert_allclose(row, torch.cat([aggregated.mean(0), graph.x.mean(0), sizes]), atol=1e-6)
