import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from gntk import AggregatedGraphs, aggregate_neighbours, aggregation, join_graphs, keep_nodes, select_graphs


def adjacency_oracle(graph):
    adjacency = np.zeros((graph.num_nodes, graph.num_nodes))
    adjacency[graph.edge_index[1], graph.edge_index[0]] = 1
    sums = adjacency @ graph.x.numpy().astype(np.float64)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)


def test_nodes_are_unit_sums_of_their_neighbours(graphs, batch):
    expected = np.concatenate([adjacency_oracle(graph) for graph in graphs])
    np.testing.assert_allclose(aggregate_neighbours(batch).nodes, expected, atol=1e-6)


def test_features_that_cancel_leave_no_rounding_error():
    graph = Data(x=torch.tensor([[0.1], [0.2], [-0.2], [9.0]]), edge_index=torch.tensor([[1, 2], [3, 3]]))
    assert aggregate_neighbours(Batch.from_data_list([graph])).nodes[3].item() == 0


@pytest.mark.parametrize("edges", [1, 3])
def test_blocks_of_edges_add_up(batch, monkeypatch, edges):
    whole = aggregate_neighbours(batch).nodes
    monkeypatch.setattr(aggregation, "EDGES_PER_BLOCK", edges)
    torch.testing.assert_close(aggregate_neighbours(batch).nodes, whole)


def test_keep_nodes_is_the_aggregation_of_graphs_whose_nodes_see_only_themselves(batch):
    loops = batch.clone()
    loops.edge_index = torch.arange(len(batch.x)).repeat(2, 1)
    assert torch.equal(keep_nodes(batch).nodes, aggregate_neighbours(loops).nodes)
    assert not torch.equal(keep_nodes(batch).nodes, aggregate_neighbours(batch).nodes)


@pytest.mark.parametrize(
    ("keywords", "expected"), [({}, [7] * 4), ({"num_nodes": 9}, [9] * 4), ({"own_count": True}, [5, 1, 7, 3])]
)
def test_divisors_are_the_largest_the_given_or_the_own_node_count(batch, keywords, expected):
    assert aggregate_neighbours(batch, **keywords).divisors.tolist() == expected


def test_selected_graphs_keep_their_nodes_and_their_divisor(batch):
    graphs = aggregate_neighbours(batch)
    chosen = select_graphs(graphs, torch.tensor([2, 0, 2]))
    expected = torch.cat([graphs.nodes[6:13], graphs.nodes[:5], graphs.nodes[6:13]])
    assert torch.equal(chosen.nodes, expected)
    assert chosen.sizes.tolist() == [7, 5, 7]
    assert chosen.divisors.tolist() == [7, 7, 7]


def test_joined_graphs_are_those_of_one_set_and_then_those_of_the_other(graphs):
    first, second = (
        aggregate_neighbours(Batch.from_data_list(part)) for part in (graphs[:3], [*graphs[2:], graphs[0]])
    )
    joined = join_graphs(first, second)
    assert torch.equal(joined.nodes, torch.cat([first.nodes, second.nodes]))
    assert joined.offsets.tolist() == [0, 5, 6, 13, 20, 23, 28]
    assert joined.divisors.tolist() == [*first.divisors, *second.divisors]


def test_sum_over_nodes_keeps_graphs_apart():
    graphs = AggregatedGraphs(torch.zeros(3, 1), torch.tensor([0, 1, 3]), torch.ones(2))
    assert graphs.sum_over_nodes(torch.tensor([1.0, 2.0, 4.0])).tolist() == [1.0, 6.0]
    two_each = torch.tensor([[1.0, 8.0], [2.0, 0.0], [4.0, 1.0]])
    assert graphs.sum_over_nodes(two_each).tolist() == [[1.0, 8.0], [6.0, 1.0]]


def test_refuses_fewer_nodes_than_the_largest_graph_has(batch):
    with pytest.raises(ValueError, match="num_nodes"):
        aggregate_neighbours(batch, 6)


PAIR = {"x": torch.zeros(2, 1), "edge_index": torch.tensor([[0], [1]])}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": None, "num_nodes": 2}, "`x`"),
        ({"x": torch.zeros(2)}, "`x`"),
        ({"x": torch.tensor([[0.0], [torch.nan]])}, "features"),
        ({"edge_index": None}, "`edge_index`"),
        ({"edge_index": torch.tensor([[0], [2]])}, "edges"),
        ({"edge_index": torch.tensor([[-1], [1]])}, "edges"),
    ],
)
def test_refuses_a_batch_that_is_not_whole(changes, message):
    with pytest.raises(ValueError, match=message):
        aggregate_neighbours(Batch.from_data_list([Data(**{**PAIR, **changes})]))


@pytest.mark.parametrize("graphs", [Data(**PAIR), [Data(**PAIR)], None, Batch(**PAIR)])
def test_refuses_what_is_no_batch_with_advice(graphs):
    with pytest.raises(TypeError):
        aggregate_neighbours(graphs)
