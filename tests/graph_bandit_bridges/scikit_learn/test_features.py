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
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from support.molecules import some_molecules
from support.named_graphs import KINDS, labelled, plain

from graph_bandit_bridges import GraphFeatures, graph_features

MOLECULES = some_molecules(40)
SMILES, VALUES = list(MOLECULES.smiles), MOLECULES.targets
ENANTIOMERS = ["N[C@@H](C)C(=O)O", "N[C@H](C)C(=O)O"]
EVERY = {**KINDS, "molecules": lambda count=40, seed=0: (SMILES[:count], VALUES[:count])}


@pytest.mark.parametrize("kind", EVERY)
def test_numbers_of_a_graph_depend_on_it_and_on_fit_alone(kind):
    graphs, _ = EVERY[kind](30)
    features = pickle.loads(pickle.dumps(graph_features(bits=64).fit(graphs[:20])))
    whole = features.transform(graphs)
    assert whole.shape == (30, len(features.get_feature_names_out()))
    assert np.isfinite(whole).all()
    np.testing.assert_allclose(features.transform(graphs[25:27]), whole[25:27])
    np.testing.assert_array_equal(features.fit_transform(graphs[:20]), whole[:20])
    np.testing.assert_array_equal(clone(features).fit(graphs[:20]).transform(graphs), whole)


@pytest.mark.parametrize(
    ("kind", "least"), [("plain", 0.4), ("labelled", 0.3), ("directed", 0.2), ("with_bonds", 0.3), ("molecules", 0.2)]
)
def test_a_forest_learns_from_them(kind, least):
    graphs, values = EVERY[kind](40)
    order = np.random.default_rng(0).permutation(40)
    forest = make_pipeline(graph_features(bits=64), RandomForestRegressor(30, max_features=0.3, random_state=0))
    scores = cross_val_score(forest, [graphs[k] for k in order], values[order], cv=3, error_score="raise")
    assert scores.mean() > least


def test_structure_has_what_networkx_computes():
    graphs, _ = plain(10)
    numbers = graph_features(["structure"]).fit_transform(graphs)
    for expected in ([nx.transitivity(graph) for graph in graphs], [nx.average_clustering(graph) for graph in graphs]):
        assert np.abs(numbers - np.array(expected)[:, None]).max(axis=0).min() < 1e-8


def test_sums_have_what_is_written_at_the_nodes():
    graphs, values = labelled(10)
    sums = graph_features(["sums"]).fit_transform(graphs)
    np.testing.assert_allclose(sums, np.stack([values, 2 * values], axis=1), rtol=1e-5)


def test_numbers_of_molecules_are_those_of_rdkit():
    features = graph_features(bits=4096).fit(SMILES)
    numbers = pd.DataFrame(features.transform(SMILES), columns=features.get_feature_names_out())
    weights = [MolWt(MolFromSmiles(text)) for text in SMILES]
    np.testing.assert_allclose(numbers["properties 0"], weights, rtol=1e-5)
    generator = GetMorganGenerator(radius=3, fpSize=4096)
    counts = np.stack([generator.GetCountFingerprintAsNumPy(MolFromSmiles(text)) for text in SMILES])
    np.testing.assert_array_equal(numbers.filter(like="morgan").to_numpy(), counts)
    folded = graph_features(["morgan"], bits=512).fit_transform(SMILES)
    np.testing.assert_array_equal(folded, counts.reshape(40, 8, 512).sum(axis=1))


def test_counts_of_subtrees_are_those_of_weisfeiler_and_lehman():
    """Nodes without features have one label; then that of their degree; then that of these and their neighbours'."""
    graphs, _ = plain(8)
    counts = graph_features(["subtrees"], bits=100_003).fit_transform(graphs)
    for graph, row in zip(graphs, counts, strict=True):
        degrees = dict(graph.degree)
        third = Counter((degrees[node], *sorted(degrees[other] for other in graph[node])) for node in graph)
        expected = [9, *Counter(degrees.values()).values(), *third.values()]
        assert sorted(row[row > 0]) == sorted(expected)


def test_a_number_that_cannot_be_told_is_the_mean_of_the_others():
    """Graph 3 has no edge, and so no mean of its features."""
    graphs, _ = KINDS["with_bonds"](12)
    numbers = graph_features(["edges"]).fit_transform(graphs)
    np.testing.assert_allclose(numbers[3], np.delete(numbers, 3, axis=0).mean(axis=0))
    first = [graph.edge_attr[:, 0].mean() for k, graph in enumerate(graphs) if k != 3]
    np.testing.assert_allclose(np.delete(numbers, 3, axis=0)[:, 0], first, rtol=1e-6)


def test_a_column_of_a_table_is_turned_into_numbers_next_to_others():
    table = pd.DataFrame({"smiles": SMILES, "dose": np.arange(40.0)})
    columns = ColumnTransformer([("graph", graph_features(["properties"]), "smiles"), ("own", "passthrough", ["dose"])])
    frame = columns.set_output(transform="pandas").fit_transform(table)
    assert list(frame.columns[-2:]) == ["graph__properties 11", "own__dose"]
    assert frame.shape == (40, 13)


def test_settings_say_how_subtrees_and_stereoisomers_are_told_apart():
    graphs, _ = labelled(6)
    few, many = (graph_features(["subtrees"], bins=bins).fit_transform(graphs) for bins in (2, 7))
    assert np.count_nonzero(few.sum(axis=0)) < np.count_nonzero(many.sum(axis=0))
    flat, stereo = (graph_features(["morgan"], stereo=told).fit_transform(ENANTIOMERS) for told in (False, True))
    assert (flat[0] == flat[1]).all()
    assert (stereo[0] != stereo[1]).any()


def test_a_grid_chooses_what_to_measure():
    graphs, values = plain(30)
    pipeline = make_pipeline(graph_features(), RandomForestRegressor(20, random_state=0))
    grid = {"graphfeatures__parts": [["nodes"], ["structure"]]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(graphs, values)
    assert search.best_params_ == {"graphfeatures__parts": ["structure"]}


def test_refuses_what_is_not_a_number_or_not_a_part():
    graphs, _ = plain(4)
    with pytest.raises(NotFittedError):
        graph_features().transform(graphs)
    with pytest.raises(ValueError, match="Expected names of parts that are numbers. Got network"):
        graph_features(["network", "nodes"]).fit(graphs)
    with pytest.raises(ValueError, match="Expected parts that these graphs have. Got edges, layers"):
        graph_features(["edges", "layers"]).fit(graphs)
    with pytest.raises(ValueError, match="Got none"):
        graph_features([]).fit(graphs)
    with pytest.raises(ValueError, match="the parts of graphs. Got `morgan`"):
        graph_features(["morgan"]).fit(graphs)
    with pytest.raises(ValueError, match="`bits` to be an integer >= 1. Got 0"):
        graph_features(bits=0).fit(graphs)
    with pytest.raises(ValueError, match="Got molecules"):
        graph_features().fit(graphs).transform(SMILES)


def test_the_function_makes_what_the_class_makes():
    settings = GraphFeatures(
        ["nodes"], bits=3, bins=5, stereo=True, node_attribute="a", edge_attribute="b", directed=True
    )
    made = graph_features(["nodes"], bits=3, bins=5, stereo=True, node_attribute="a", edge_attribute="b", directed=True)
    assert made.get_params() == settings.get_params()
