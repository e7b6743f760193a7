import networkx as nx
import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

from graph_bandit_env import GraphPool, from_networkx, from_pyg_dataset

pytestmark = pytest.mark.filterwarnings("ignore::graph_bandit_env.graphs.NotReadWarning")
NAN = float("nan")


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
    pool = from_pyg_dataset(graphs)
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


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_a_number_chooses_a_column_of_y(shape):
    graphs = measured([torch.tensor([k, 10.0 + k, NAN]).reshape(shape) for k in range(4)])
    assert from_pyg_dataset(graphs, target=1).targets.tolist() == [10.0, 11.0, 12.0, 13.0]
    assert not from_pyg_dataset(graphs, target=2).known.any()


@pytest.mark.parametrize(
    ("values", "target", "error", "field"),
    [
        ([torch.zeros(1, 3)] * 4, None, ValueError, "Graph 0: .*`y`"),
        ([1.0, 2.0, None, 4.0], None, ValueError, "Graph 2: .*`y`"),
        (["a"] * 4, None, TypeError, "Graph 0: .*`y`"),
        ([1.0, 2.0, 3.0, float("inf")], None, ValueError, "targets.*graph 3"),
        ([torch.zeros(3)] * 4, 3, ValueError, "`target`"),
        ([torch.zeros(n) for n in (5, 1, 7, 3)], 0, ValueError, "Graph 1: .*`y`"),
        ([1.0] * 4, "gap", ValueError, "Graph 0: .*`gap`"),
        ([1.0] * 4, True, TypeError, "`target`"),
    ],
)
def test_a_target_that_is_not_there_is_told(values, target, error, field):
    with pytest.raises(error, match=field):
        from_pyg_dataset(measured(values), target)


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (("a", "b", "a"), ("a-0", "b", "a-2")),
        (("a", "", "c"), ("a", "1", "c")),
        (("", "", ""), ("0", "1", "2")),
        ((1, 2, 3), ("1", "2", "3")),
    ],
)
def test_equal_and_missing_names_get_numbers(names, ids):
    assert from_networkx(named(*names)).ids == ids


def test_attributes_of_nodes_and_edges_go_by_the_names_given():
    graph = nx.Graph([(0, 1, {"length": 2.0}), (1, 2, {"length": 3.0})])
    nx.set_node_attributes(graph, 1.0, "charge")
    pool = from_networkx([graph], node_attribute="charge", edge_attribute="length")
    assert pool[0].edges.ravel().tolist() == [2.0, 2.0, 3.0, 3.0]
