import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from gntk import GraphMLP, aggregate_neighbours
from gntk.engines import Batches, descend


def test_batches_are_cut_in_order_and_the_last_may_be_smaller():
    batches = Batches.of_size(torch.arange(7), torch.arange(7.0), 3)
    assert [index.tolist() for index, _ in batches] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [targets.tolist() for _, targets in batches] == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(batches) == 3


def test_descent_is_that_of_autograd():
    graphs = aggregate_neighbours(Batch.from_data_list(ragged_graphs()))
    model = GraphMLP(4, 6, depth=3, zero_start=False)
    weights = [weight.detach().clone() for weight in model.weights]
    centers = [torch.randn_like(weight) for weight in weights]
    batches = Batches.of_size(torch.tensor([0, 3, 3, 1, 2]), torch.randn(5), 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for index, targets in batches:
        penalty = sum(((w - c) ** 2).sum() for w, c in zip(model.weights, centers, strict=True))
        loss = ((model(graphs)[index] - targets) ** 2).mean() / 2 + 0.3 / 2 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found = descend(weights, centers, graphs, batches, learning_rate=0.05, penalty=0.3)
    torch.testing.assert_close(found, [weight.detach() for weight in model.weights])
