"""Molecules are kept as categories, and their features are made only of graphs that somebody reads."""

import pickle

import numpy as np
import pytest

from graph_bandit_env import from_smiles

SMILES = ["CCO", "c1ccccc1C(=O)[O-].[Na+]", "C", "F/C=C\\F", "C#N", "N[C@@H](C)C(=O)O", "[Pt](Cl)(Cl)(N)N", "[CH3]"]


def test_features_are_made_only_of_graphs_that_are_read(monkeypatch):
    """Of a pool of millions of atoms, features take most of the memory."""
    molecules = from_smiles(SMILES, range(len(SMILES)), salts="separate")
    with monkeypatch.context() as patch:
        refuse = lambda *given: pytest.fail("features were made")  # noqa: E731
        patch.setattr("graph_bandit_env.pools.molecule_graph.to_one_hot", refuse)
        more = from_smiles(["CCF", *SMILES[:2]], salts="separate").join(molecules.take([5, 3, 0])).without_targets()
        more = pickle.loads(pickle.dumps(more.with_columns(("dock",), np.zeros((len(more), 1)))))
        assert (len(more), more.feature_dim, more.edge_feature_dim) == (5, 38, 9)
        assert more.num_nodes.tolist() == [3, 3, 10, 6, 4]
        assert repr(more).startswith("MoleculeSet(5 graphs, 3 to 10 nodes, 38 features")
    for graph, text in zip(more, more.smiles, strict=True):
        (alone,) = from_smiles([text], salts="separate")
        assert all(np.array_equal(a, b) for a, b in zip(graph, alone, strict=True))


def test_a_molecule_of_more_than_256_atoms_keeps_its_bonds():
    chain = from_smiles(["C" * 300, "CC"], most_atoms=300)
    assert chain[0].edge_links[-1].tolist() == [299, 298]
    assert chain.join(from_smiles(["CCO"]))[2].edge_links[-1].tolist() == [2, 1]
