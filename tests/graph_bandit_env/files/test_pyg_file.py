"""PyG graphs come back from a `.pt` file as they were saved, and nothing else is unpickled."""

import os
import pickle

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


class Exploit:
    """An object whose pickle calls a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def hidden_in_a_graph(exploit):
    graph = labelled()[0]
    graph.note = exploit
    return [graph]


def hidden_in_slices(exploit):
    data, slices = collated(labelled())
    return data, {**slices, "note": exploit}


@pytest.mark.parametrize("hide", [list, hidden_in_a_graph, hidden_in_slices], ids=lambda hide: hide.__name__)
@pytest.mark.parametrize("function", [os.mkdir, eval], ids=lambda function: function.__name__)
def test_code_in_a_file_is_not_run(tmp_path, hide, function):
    made = tmp_path / "made"
    argument = str(made) if function is os.mkdir else f"__import__('os').mkdir({str(made)!r})"
    exploit = Exploit(function, argument)
    path = save(tmp_path / "a.pt", [exploit] if hide is list else hide(exploit))
    with pytest.raises(ValueError, match=function.__name__):
        read_pool(path)
    assert not made.exists()
    torch.load(path, weights_only=False)
    assert made.exists()  # so the file would have run it


@pytest.mark.parametrize("save_raw", [lambda path, content: path.write_bytes(pickle.dumps(content)), None])
def test_a_file_that_is_not_of_torch_is_not_unpickled(tmp_path, save_raw):
    content, path = [Exploit(os.mkdir, str(tmp_path / "made"))], tmp_path / "a.pt"
    if save_raw is None:
        torch.save(content, path, _use_new_zipfile_serialization=False)
    else:
        save_raw(path, content)
    with pytest.raises(ValueError, match="a.pt"):
        read_pool(path)
    assert not (tmp_path / "made").exists()


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


def test_a_few_numbers_that_pose_as_many_are_refused(tmp_path):
    path = save(tmp_path / "a.pt", [Data(x=torch.ones(1, 1).expand(10**9, 10))])
    with pytest.raises(ValueError, match="unpack"):
        read_pool(path)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path, share):
    path = save(tmp_path / "a.pt", labelled())
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(ValueError, match="a.pt"):
        read_pool(path)
