"""Numbers of graphs as a step of pipelines."""

import pickle
from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.Descriptors import MolWt
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from support.molecules import some_molecules
from support.named_graphs import KINDS, plain

from graph_bandit_bridges import GraphFeatures

MOLECULES = some_molecules(40)
SMILES, VALUES = list(MOLECULES.smiles), MOLECULES.targets
EVERY = {**KINDS, "molecules": lambda count=40, seed=0: (SMILES[:count], VALUES[:count])}


@pytest.mark.parametrize("kind", ["plain", "with_bonds", "molecules"])
def test_numbers_of_a_graph_depend_on_it_and_on_fit_alone(kind):
    graphs, _ = EVERY[kind](30)
    features = pickle.loads(pickle.dumps(GraphFeatures(bits=64).fit(graphs[:20])))
    whole = features.transform(graphs)
    assert whole.shape == (30, len(features.get_feature_names_out()))
    assert np.isfinite(whole).all()
    np.testing.assert_allclose(features.transform(graphs[25:27]), whole[25:27])
    np.testing.assert_array_equal(features.fit_transform(graphs[:20]), whole[:20])
    np.testing.assert_array_equal(clone(features).fit(graphs[:20]).transform(graphs), whole)


def test_structure_has_what_networkx_computes():
    graphs, _ = plain(10)
    numbers = GraphFeatures(["structure"]).fit_transform(graphs)
    for expected in ([nx.transitivity(graph) for graph in graphs], [nx.average_clustering(graph) for graph in graphs]):
        assert np.abs(numbers - np.array(expected)[:, None]).max(axis=0).min() < 1e-8


def test_numbers_of_molecules_are_those_of_rdkit():
    features = GraphFeatures(bits=4096).fit(SMILES)
    numbers = pd.DataFrame(features.transform(SMILES), columns=features.get_feature_names_out())
    weights = [MolWt(MolFromSmiles(text)) for text in SMILES]
    np.testing.assert_allclose(numbers["properties 0"], weights, rtol=1e-5)
    generator = GetMorganGenerator(radius=3, fpSize=4096)
    counts = np.stack([generator.GetCountFingerprintAsNumPy(MolFromSmiles(text)) for text in SMILES])
    np.testing.assert_array_equal(numbers.filter(like="ecfp").to_numpy(), counts)
    folded = GraphFeatures(["ecfp"], bits=512).fit_transform(SMILES)
    np.testing.assert_array_equal(folded, counts.reshape(40, 8, 512).sum(axis=1))


def test_counts_of_subtrees_are_those_of_weisfeiler_and_lehman():
    """Nodes without features have one label; then that of their degree; then that of these and their neighbours'."""
    graphs, _ = plain(8)
    counts = GraphFeatures(["subtrees"], bits=100_003).fit_transform(graphs)
    for graph, row in zip(graphs, counts, strict=True):
        degrees = dict(graph.degree)
        third = Counter((degrees[node], *sorted(degrees[other] for other in graph[node])) for node in graph)
        expected = [9, *Counter(degrees.values()).values(), *third.values()]
        assert sorted(row[row > 0]) == sorted(expected)


def test_a_number_that_cannot_be_told_is_the_mean_of_the_others():
    """Graph 3 has no edge, and so no mean of its features."""
    graphs, _ = KINDS["with_bonds"](12)
    numbers = GraphFeatures(["edges"]).fit_transform(graphs)
    np.testing.assert_allclose(numbers[3], np.delete(numbers, 3, axis=0).mean(axis=0))
    first = [graph.edge_attr[:, 0].mean() for k, graph in enumerate(graphs) if k != 3]
    np.testing.assert_allclose(np.delete(numbers, 3, axis=0)[:, 0], first, rtol=1e-6)


def test_a_column_of_a_table_is_turned_into_numbers_next_to_others():
    table = pd.DataFrame({"smiles": SMILES, "dose": np.arange(40.0)})
    columns = ColumnTransformer([("graph", GraphFeatures(["properties"]), "smiles"), ("own", "passthrough", ["dose"])])
    frame = columns.set_output(transform="pandas").fit_transform(table)
    assert list(frame.columns[-2:]) == ["graph__properties 12", "own__dose"]
    assert frame.shape == (40, 14)
