"""Graphs as scikit-learn hands them over."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from rdkit import Chem
from support.molecules import some_molecules
from support.named_graphs import KINDS, directed, labelled, plain, with_bonds
from torch_geometric.data import Data

from graph_bandit_bridges.scikit_learn.graphs import Form, ReadOptions, read
from graph_bandit_env import from_networkx
from graph_bandit_env.graphs import NotReadWarning

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
        ("directed", Form(False, None, None)),
        ("with_bonds", Form(False, 1, 2)),
    ],
)
def test_features_and_directions_are_read_where_they_are(kind, form):
    given = read(KINDS[kind](6)[0], ReadOptions())
    assert given.form == form
    assert given.distinct.directed == (kind == "directed")


def test_directions_are_kept_dropped_or_missed_as_one_says():
    one_way = [Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))]
    assert len(read(one_way, ReadOptions(directed=True)).distinct[0].edge_links) == 1
    assert len(read(one_way, ReadOptions(directed=False)).distinct[0].edge_links) == 2
    with pytest.raises(ValueError, match="directed"):
        read(one_way, ReadOptions())
    with pytest.warns(NotReadWarning, match="3 of 4 graphs"):  # rings, which differ in directions alone
        assert not read(directed(4)[0], ReadOptions(directed=False)).distinct.directed
    whole = from_networkx(directed(4)[0], node_attribute=None)
    assert read(whole, ReadOptions()).distinct.directed
    assert read(tuple(whole), ReadOptions(directed=True)).distinct.directed


def test_those_of_predict_have_what_those_of_fit_had():
    form = read(with_bonds()[0], ReadOptions()).form
    edgeless = [Data(x=torch.ones(3, 1), edge_index=torch.zeros(2, 0, dtype=torch.int64))]
    assert read(edgeless, ReadOptions(), form).distinct.num_nodes.tolist() == [3]
    for other, like in (
        (plain(3)[0], form),
        (SMILES, form),
        (labelled(3)[0], form),
        (edgeless, Form(True, None, None)),
    ):
        with pytest.raises(ValueError, match="`fit`"):
            read(other, ReadOptions(), like)


@pytest.mark.parametrize(
    ("graphs", "error"),
    [
        ("CCO", TypeError),
        (7, TypeError),
        ([], ValueError),
        (np.ones((4, 3)), TypeError),
        (["CCO", nx.path_graph(3)], TypeError),
        (["CCO", "C1CC"], ValueError),
        (some_molecules(4), TypeError),
        ([nx.path_graph(3), nx.DiGraph([(0, 1)])], ValueError),
        ([Data(x=torch.ones(2, 1)), Data(x=torch.ones(2, 3))], ValueError),
    ],
)
def test_refuses_what_it_cannot_read(graphs, error):
    with pytest.raises(error):
        read(graphs, ReadOptions())
