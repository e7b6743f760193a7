import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.transforms import Constant

from graph_bandit_env import GraphPool, from_networkx, from_pyg_dataset

NAN = float("nan")


class Stored(InMemoryDataset):
    """A dataset as PyG's own are: graphs in one long tensor, given out one by one through the transform."""

    def __init__(self, graphs, transform=None):
        super().__init__(transform=transform)
        self.data, self.slices = self.collate(graphs)


def measured(values, **changes):
    graphs = ragged_graphs()
    for graph, value in zip(graphs, values, strict=True):
        graph.y = value
        graph.update(changes)
    return graphs


def named(*names, value=None):
    graphs = []
    for k, name in enumerate(names):
        graph = nx.path_graph(k + 2)
        graph.name = name
        nx.set_node_attributes(graph, [1.0, float(k)], "x")
        graph.graph["worth"] = k / 2 if value is None else value
        graphs.append(graph)
    return graphs


def test_a_dataset_of_pyg_becomes_a_pool():
    graphs = measured([torch.tensor([v]) for v in (1.5, NAN, 2.5, -1.0)])
    pool = from_pyg_dataset(Stored(graphs))
    assert type(pool) is GraphPool
    np.testing.assert_array_equal(pool.targets, [1.5, NAN, 2.5, -1.0])
    for before, after in zip(graphs, pool.to_pyg(), strict=True):
        assert torch.equal(after.x, before.x)
        assert torch.equal(after.edge_index, before.coalesce().edge_index)


@pytest.mark.parametrize(
    "values", [range(4), np.arange(4.0), torch.arange(4.0).reshape(4, 1, 1), torch.arange(4, dtype=torch.bfloat16)]
)
def test_the_one_number_of_each_graph_may_be_written_in_any_way(values):
    assert from_pyg_dataset(measured(values)).targets.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_targets_keep_double_precision():
    graphs = measured(torch.full((4,), 0.1, dtype=torch.float64))
    assert from_pyg_dataset(graphs).targets[0] == 0.1


def test_without_any_y_nothing_was_measured():
    assert not from_pyg_dataset(ragged_graphs()).known.any()


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_a_number_chooses_a_column_of_y(shape):
    graphs = measured([torch.tensor([k, 10.0 + k, NAN]).reshape(shape) for k in range(4)])
    assert from_pyg_dataset(graphs, target=1).targets.tolist() == [10.0, 11.0, 12.0, 13.0]
    assert not from_pyg_dataset(graphs, target=2).known.any()


def test_a_name_chooses_another_attribute():
    pool = from_pyg_dataset(Stored(measured(range(4), gap=torch.tensor(0.5))), target="gap")
    assert pool.targets.tolist() == [0.5] * 4


def test_graphs_of_a_dataset_may_have_names():
    assert from_pyg_dataset(ragged_graphs(), ids=list("abcd")).ids == ("a", "b", "c", "d")


def test_integer_features_of_nodes_and_edges_are_read():
    """As those of ZINC are: one integer a node, and one an edge."""
    graph = Data(x=torch.tensor([[3], [5]]), edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=torch.tensor([2, 2]))
    (read,) = from_pyg_dataset([graph])
    assert read.nodes.tolist() == [[3.0], [5.0]]
    assert read.edges.tolist() == [[2.0], [2.0]]


def test_a_dataset_without_node_features_is_told_how_to_set_them():
    graphs = [Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)]
    with pytest.raises(ValueError, match="Graph 0: expected node features `x`.*`transform`"):
        from_pyg_dataset(Stored(graphs))
    assert from_pyg_dataset(Stored(graphs, transform=Constant())).feature_dim == 1


@pytest.mark.parametrize(
    ("values", "target", "error", "message"),
    [
        ([torch.zeros(1, 3)] * 4, None, ValueError, "Graph 0: expected one number .* Got 3. Choose .* to `target=2`"),
        ([1.0, 2.0, None, 4.0], None, ValueError, "Graph 2: expected a number in `y`. It has edge_index, x.* to NaN"),
        ([1.0, torch.zeros(0), 3.0, 4.0], None, ValueError, "Graph 1: expected one number in `y`. Got 0."),
        (["a"] * 4, None, TypeError, "Graph 0: expected a number in `y`. Got 'a'"),
        ([1.0, 2.0, 3.0, float("inf")], None, ValueError, "Got inf for graph 3"),
        ([torch.zeros(3)] * 4, 3, ValueError, "a column of `y`, from 0 to 2. Got 3"),
        ([torch.zeros(3)] * 4, -1, ValueError, "a column of `y`, from 0 to 2. Got -1"),
        ([torch.zeros(n) for n in (5, 1, 7, 3)], 0, ValueError, "Graph 1: expected 5 numbers .* values of nodes"),
        ([1.0] * 4, "gap", ValueError, "Graph 0: expected a number in `gap`. It has edge_index, x, y"),
        ([1.0] * 4, "edge_index", ValueError, "Graph 0: expected one number in `edge_index`. Got "),
        ([1.0] * 4, True, TypeError, "a column of `y`, a name or None. Got True"),
        ([1.0] * 4, 1.0, TypeError, "a column of `y`, a name or None. Got 1.0"),
    ],
)
def test_a_target_that_is_not_there_is_told(values, target, error, message):
    with pytest.raises(error, match=message):
        from_pyg_dataset(measured(values), target)


def test_what_is_no_list_of_graphs_is_refused():
    with pytest.raises(TypeError, match="a list of PyG Data, or a dataset of them. Got tuple as graph 0"):
        from_pyg_dataset(ragged_graphs()[0])
    with pytest.raises(TypeError, match="a list of networkx graphs. Got int as graph 0"):
        from_networkx(nx.path_graph(2))
    for read in (from_pyg_dataset, from_networkx):
        with pytest.raises(ValueError, match="at least one graph"):
            read([])


def test_networkx_graphs_become_a_pool_with_their_names():
    pool = from_networkx(named("a", "b", "c"), target="worth")
    assert type(pool) is GraphPool
    assert pool.ids == ("a", "b", "c")
    assert pool.targets.tolist() == [0.0, 0.5, 1.0]
    assert pool.num_nodes.tolist() == [2, 3, 4]
    assert pool[2].nodes[0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("names", [("a", "b", "a"), ("a", "", "c"), ("", "", ""), (1, 2, 3)])
def test_names_that_tell_no_graphs_apart_are_not_taken(names):
    assert from_networkx(named(*names)).ids == ("0", "1", "2")


def test_names_that_are_given_come_first():
    assert from_networkx(named("a", "b"), ids=["x", "y"]).ids == ("x", "y")


def test_without_a_target_nothing_of_a_networkx_graph_was_measured():
    assert not from_networkx(named("a", "b")).known.any()
    assert not from_networkx(named("a", "b", value=NAN), target="worth").known.any()


def test_attributes_of_nodes_and_edges_go_by_the_names_given():
    graph = nx.Graph([(0, 1, {"length": 2.0}), (1, 2, {"length": 3.0})])
    nx.set_node_attributes(graph, 1.0, "charge")
    pool = from_networkx([graph], node_attribute="charge", edge_attribute="length")
    assert pool[0].edges.ravel().tolist() == [2.0, 2.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("value", "target", "error", "message"),
    [
        (1.0, "value", ValueError, "Graph 0: expected a number in `value`. It has name, worth. Set it to NaN"),
        ([1.0, 2.0], "worth", ValueError, "Graph 0: expected one number in `worth`. Got 2."),
        ("high", "worth", TypeError, "Graph 0: expected a number in `worth`. Got 'high'"),
    ],
)
def test_a_networkx_target_that_is_no_number_is_told(value, target, error, message):
    with pytest.raises(error, match=message):
        from_networkx(named("a", "b", value=value), target=target)


def test_reading_networkx_graphs_needs_no_torch():
    code = (
        "import sys, networkx as nx; from graph_bandit_env import from_networkx; graph = nx.path_graph(2); "
        "nx.set_node_attributes(graph, 1.0, 'x'); from_networkx([graph]); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
