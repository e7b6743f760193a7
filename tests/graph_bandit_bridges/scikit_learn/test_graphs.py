"""Graphs as scikit-learn hands them over."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from rdkit import Chem
from support.graphs import ragged_graphs
from support.molecules import some_molecules
from support.named_graphs import KINDS, directed, labelled, plain, with_bonds
from torch_geometric.data import Data

from graph_bandit_bridges import GraphKernel
from graph_bandit_bridges.scikit_learn.graphs import Form, ReadOptions, read
from graph_bandit_env import GraphSet, from_networkx

SMILES = ["CCO", "c1ccccc1", "OCC", "CC[NH3+].[Cl-]", "CCN"]


def test_equal_molecules_are_kept_once_whatever_their_spelling():
    given = read(SMILES, ReadOptions())
    assert given.distinct.smiles == ("CCO", "c1ccccc1", "CCN")
    assert given.index.tolist() == [0, 1, 0, 2, 2]
    assert given.form == Form(True, None, None)
    assert len(given) == 5


@pytest.mark.parametrize(
    "make",
    [
        np.array,
        pd.Series,
        lambda texts: pd.DataFrame({"smiles": texts}, index=range(7, 12)),
        lambda texts: np.array(texts, object)[:, None],
        lambda texts: [Chem.MolFromSmiles(text) for text in texts],
        tuple,
    ],
    ids=["array", "series", "table", "column", "rdkit", "tuple"],
)
def test_lists_arrays_and_tables_of_molecules_are_read_alike(make):
    given, expected = read(make(SMILES), ReadOptions()), read(SMILES, ReadOptions())
    assert given.distinct.smiles == expected.distinct.smiles
    assert given.index.tolist() == expected.index.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_equal_graphs_are_kept_once_in_the_order_of_their_first(kind):
    graphs, _ = KINDS[kind](6)
    given = read([graphs[k] for k in (2, 0, 2, 5, 0)], ReadOptions())
    assert given.index.tolist() == [0, 1, 0, 2, 1]
    for row, k in enumerate((2, 0, 5)):
        alone = read([graphs[k]], ReadOptions()).distinct[0]
        np.testing.assert_array_equal(given.distinct[row].nodes, alone.nodes)
        np.testing.assert_array_equal(given.distinct[row].edge_links, alone.edge_links)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("plain", Form(False, None, None)),
        ("labelled", Form(False, 1, None)),
        ("weighted", Form(False, None, 1)),
        ("directed", Form(False, None, None)),
        ("with_bonds", Form(False, 1, 2)),
    ],
)
def test_features_and_directions_are_read_where_they_are(kind, form):
    given = read(KINDS[kind](6)[0], ReadOptions())
    assert given.form == form
    assert given.distinct.directed == (kind == "directed")


def test_attributes_have_the_names_that_one_gives():
    graphs = [nx.path_graph(4) for _ in range(3)]
    for number, graph in enumerate(graphs):
        nx.set_node_attributes(graph, [float(number), 1.0], "label")
        nx.set_edge_attributes(graph, 2.0 + number, "length")
    how = ReadOptions(node_attribute="label", edge_attribute="length")
    given = read(graphs, how)
    assert given.form == Form(False, 2, 1)
    assert given.distinct[2].edges.tolist() == [[4.0]] * 6
    assert read(graphs, ReadOptions()).form == Form(False, None, None)
    assert read(graphs, ReadOptions(node_attribute="label", edge_attribute=None)).form == Form(False, 2, None)


def test_graphs_of_pyg_without_features_are_told_apart_by_their_edges():
    bare = [Data(edge_index=graph.edge_index, num_nodes=len(graph.x)) for graph in ragged_graphs()]
    given = read(bare, ReadOptions())
    assert given.form == Form(False, None, None)
    assert given.distinct.num_nodes.tolist() == [5, 1, 7, 3]
    assert bare[0].x is None


def test_directions_are_kept_dropped_or_missed_as_one_says():
    one_way = [Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))]
    assert len(read(one_way, ReadOptions(directed=True)).distinct[0].edge_links) == 1
    assert len(read(one_way, ReadOptions(directed=False)).distinct[0].edge_links) == 2
    with pytest.raises(ValueError, match="`directed=True` keeps the directions"):
        read(one_way, ReadOptions())
    assert not read(directed(4)[0], ReadOptions(directed=False)).distinct.directed
    whole = GraphSet.from_networkx(directed(4)[0], node_attribute=None)
    assert read(whole, ReadOptions()).distinct.directed
    assert read(tuple(whole), ReadOptions(directed=True)).distinct.directed


def test_those_of_predict_have_what_those_of_fit_had():
    form = read(with_bonds()[0], ReadOptions()).form
    edgeless = [Data(x=torch.ones(3, 1), edge_index=torch.zeros(2, 0, dtype=torch.int64))]
    assert read(edgeless, ReadOptions(), form).distinct.num_nodes.tolist() == [3]
    for other, got in (
        (plain(3)[0], "no features"),
        (SMILES, "molecules"),
        (labelled(3)[0], "1 features .* no of edges"),
    ):
        with pytest.raises(
            ValueError, match=f"Expected graphs with 1 features of nodes and 2 of edges, .* Got .*{got}"
        ):
            read(other, ReadOptions(), form)
    with pytest.raises(ValueError, match="Expected molecules, as at `fit`. Got graphs with 1 features"):
        read(edgeless, ReadOptions(), Form(True, None, None))


@pytest.mark.parametrize(
    ("graphs", "error", "message"),
    [
        ("CCO", TypeError, "Got a single one, of type str"),
        (nx.path_graph(3), TypeError, "Got a single one, of type Graph"),
        (Data(x=torch.ones(2, 1)), TypeError, "Got a single one, of type Data"),
        (7, TypeError, "Expected a list of graphs. Got int"),
        ([], ValueError, "Expected at least one graph. Got none"),
        (np.zeros((0,), object), ValueError, "Expected at least one graph. Got none"),
        (np.ones((4, 3)), TypeError, r"Got an array of shape `\(4, 3\)`"),
        (np.ones(4), TypeError, "Expected graphs of one kind. Got float"),
        (["CCO", float("nan")], TypeError, "Got float, str"),
        (["CCO", nx.path_graph(3)], TypeError, "Got Graph, str. Give a list of SMILES, of PyG Data"),
        (["CCO", "C1CC"], ValueError, "line 2"),
        (some_molecules(4), TypeError, "Got a MoleculeSet: give `.smiles`"),
        ([nx.path_graph(3), nx.DiGraph([(0, 1)])], ValueError, "all directed, or all undirected"),
        ([nx.path_graph(3), labelled(1)[0][0]], ValueError, "expected the attribute `x` on every node"),
        (
            [with_bonds(3)[0][0], Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))],
            ValueError,
            "or in none",
        ),
        ([Data(x=torch.ones(2, 1)), Data(x=torch.ones(2, 3))], ValueError, "same number of node features"),
    ],
)
def test_refuses_what_it_cannot_read(graphs, error, message):
    with pytest.raises(error, match=message):
        read(graphs, ReadOptions())
    with pytest.raises(error, match=message):
        GraphKernel().fit(graphs)


def test_a_pool_of_other_graphs_is_a_set_of_graphs_whose_edges_have_a_1():
    graphs, _ = labelled(5)
    pool = from_networkx(graphs, ids=list("abcde"))
    assert read(pool, ReadOptions()).form == read(tuple(pool), ReadOptions()).form == Form(False, 1, 1)
    assert read(pool, ReadOptions(), read(graphs, ReadOptions()).form).form == Form(False, 1, None)
    weighted = [graph._replace(edges=2 * graph.edges) for graph in pool]
    with pytest.raises(
        ValueError, match="no of edges, as at `fit`. Got graphs with 1 features of nodes and 1 of edges"
    ):
        read(weighted, ReadOptions(), read(graphs, ReadOptions()).form)
