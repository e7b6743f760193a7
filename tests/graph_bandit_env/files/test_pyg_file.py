"""PyG graphs come back from a `.pt` file as they were saved."""

import pytest
import torch
from hypothesis import given
from support.graphs import ragged_graphs
from support.pools import assert_equal_pools, ragged_pools
from torch_geometric.data import Batch, Data, InMemoryDataset

from graph_bandit_env import from_pyg_dataset
from graph_bandit_env.files import read_pool

pytestmark = pytest.mark.filterwarnings("ignore::graph_bandit_env.graphs.NotReadWarning")


def labelled(**attributes):
    graphs = ragged_graphs()
    for k, graph in enumerate(graphs):
        graph.y, graph.code = torch.tensor([float(k)]), f"graph {k}"
        graph.update(attributes)
    return graphs


def save(path, content):
    torch.save(content, path)
    return path


def collated(graphs):
    return InMemoryDataset.collate(graphs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pyg")


@given(ragged_pools())
def test_any_pool_comes_back_as_it_was_saved(folder, pool):
    graphs = pool.to_pyg()
    for graph, identifier, target in zip(graphs, pool.ids, pool.targets, strict=True):
        graph.code, graph.score = identifier, float(target)
    path = save(folder / "pool.pt", graphs)
    target, directed = "score" if pool.known.any() else None, pool.directed or None
    assert_equal_pools(read_pool(path, target, identifier="code", directed=directed), pool)


@pytest.mark.parametrize("form", [list, tuple, collated])
def test_a_list_a_tuple_and_a_dataset_are_read(tmp_path, form):
    path = save(tmp_path / "a.pt", form(labelled()))
    assert_equal_pools(read_pool(path), from_pyg_dataset(labelled()))


def test_a_whole_number_is_a_column_of_y(tmp_path):
    path = save(tmp_path / "a.pt", labelled(y=torch.tensor([[1.0, 2.0, 3.0]])))
    assert read_pool(path, "2").targets.tolist() == [3.0] * 4


@pytest.mark.parametrize(
    "content",
    [Batch.from_data_list(ragged_graphs()), Data(x=torch.ones(2, 1)), {"x": torch.ones(2)}, [], [torch.ones(2)]],
)
def test_what_is_not_a_list_of_graphs_is_refused(tmp_path, content):
    with pytest.raises(ValueError, match="a.pt"):
        read_pool(save(tmp_path / "a.pt", content))


@pytest.mark.parametrize(
    ("attributes", "target", "expected"),
    [
        ({"x": None}, None, "Graph 0: .*`x`"),
        ({"x": torch.eye(2).to_sparse()}, None, "a.pt"),
        ({"x": torch.ones(9, 1, dtype=torch.complex64)}, None, "Graph 0: .*node features"),
        ({"edge_index": torch.full((2, 1), 99)}, None, "Graph 0: .*edges"),
        ({"gap": 1.0}, "gpa", "gap"),
        ({"gap": "high"}, "gap", "`gap`"),
        ({}, "3", "`y`"),
    ],
)
def test_a_graph_that_is_not_valid_is_named(tmp_path, attributes, target, expected):
    with pytest.raises(ValueError, match=expected):
        read_pool(save(tmp_path / "a.pt", labelled(**attributes)), target)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path, share):
    path = save(tmp_path / "a.pt", labelled())
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(ValueError, match="a.pt"):
        read_pool(path)
