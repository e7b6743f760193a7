"""The kernel of graphs in models of others."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from support.molecules import some_molecules
from support.named_graphs import KINDS, plain

from graph_bandit_bridges import GraphKernel

SMILES = list(some_molecules(24).smiles)
EVERY = {**KINDS, "molecules": lambda count=24, seed=0: (SMILES[seed * 3 : seed * 3 + count], None)}


@given(st.sampled_from(sorted(EVERY)), st.integers(0, 4), st.integers(1, 12))
@settings(deadline=None, max_examples=25)
def test_a_kernel_is_symmetric_and_positive_semidefinite_on_graphs_of_fit_and_on_others(kind, seed, count):
    graphs, _ = EVERY[kind](12, 0)
    others, _ = EVERY[kind](12, seed)
    fitted = GraphKernel().fit(list(graphs)[:count])
    for kernel in (fitted(others), GraphKernel()(others)):
        np.testing.assert_allclose(kernel, kernel.T, atol=1e-9 * kernel.max())
        assert np.linalg.eigvalsh(kernel)[0] > -1e-7 * kernel.trace()


@pytest.mark.parametrize("kind", EVERY)
def test_an_entry_depends_on_its_two_graphs_and_on_fit_alone(kind):
    graphs, _ = EVERY[kind](12, 0)
    fitted, others = pickle.loads(pickle.dumps(GraphKernel().fit(graphs))), EVERY[kind](12, 1)[0]
    whole = fitted(others, graphs)
    np.testing.assert_allclose(fitted(others[4:6], graphs[2:3]), whole[4:6, 2:3], rtol=1e-9)
    np.testing.assert_allclose(fitted(graphs[2:3], others[4:6]), whole[4:6, 2:3].T, rtol=1e-9)
    np.testing.assert_allclose(fitted.transform(others), whole, rtol=1e-9)
    np.testing.assert_allclose(fitted.fit_transform(graphs), fitted(graphs), rtol=1e-9)
    np.testing.assert_allclose(GraphKernel()(others, graphs), whole, rtol=1e-9)


def test_parts_that_are_not_named_are_left_out_and_weights_add_up():
    """Shares of a half each: the kernel is the mean of those of the parts alone."""
    graphs, _ = plain(15)
    both = GraphKernel({"structure": 2.0, "subtrees": 2.0})(graphs)
    alone = [GraphKernel({name: 1.0})(graphs) for name in ("structure", "subtrees")]
    np.testing.assert_allclose(both, (alone[0] + alone[1]) / 2, rtol=1e-9)
    assert not np.allclose(alone[0], alone[1], atol=0.1)


def test_the_kernel_of_a_fingerprint_is_tanimoto_similarity():
    from rdkit import DataStructs
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    generator = GetMorganGenerator(radius=3, fpSize=4096)
    prints = [generator.GetCountFingerprint(MolFromSmiles(text)) for text in SMILES]
    expected = [DataStructs.BulkTanimotoSimilarity(one, prints) for one in prints]
    np.testing.assert_allclose(GraphKernel({"morgan": 3.0})(SMILES), expected, atol=1e-6)


def test_settings_say_how_deep_a_network_is_and_how_labels_and_stereoisomers_are_told_apart():
    graphs, _ = KINDS["labelled"](6)
    shallow, deep = (GraphKernel({"network": 1.0}, depth=depth)(graphs) for depth in (2, 4))
    assert not np.allclose(shallow, deep, atol=1e-3)
    few, many = (GraphKernel({"subtrees": 1.0}, bins=bins)(graphs) for bins in (2, 7))
    assert not np.allclose(few, many, atol=1e-3)
    enantiomers = ["N[C@@H](C)C(=O)O", "N[C@H](C)C(=O)O"]
    flat, stereo = (GraphKernel({"morgan": 1.0}, stereo=told)(enantiomers) for told in (False, True))
    assert flat[0, 1] == pytest.approx(1.0)
    assert stereo[0, 1] < 0.95


@pytest.mark.parametrize("kind", ["plain", "labelled", "in_a_set"])
def test_models_with_a_kernel_take_it(kind):
    graphs, values = KINDS[kind]()
    pipeline = make_pipeline(GraphKernel(), KernelRidge(alpha=1e-2, kernel="precomputed"))
    assert cross_val_score(pipeline, graphs, values, cv=3, error_score="raise").min() > 0.4
    ours, theirs = (
        model.fit(graphs[:20], values[:20]).predict(graphs)
        for model in (SVR(kernel=GraphKernel()), make_pipeline(GraphKernel(), SVR(kernel="precomputed")))
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_a_kernel_has_names_of_columns_and_tables_of_one_column_are_read():
    import pandas as pd

    table = pd.DataFrame({"smiles": SMILES})
    kernel = GraphKernel().set_output(transform="pandas").fit(table)
    frame = kernel.transform(table[:3])
    assert list(frame.columns[:2]) == ["graphkernel0", "graphkernel1"]
    np.testing.assert_array_equal(frame.to_numpy(), kernel(SMILES[:3], SMILES))
    np.testing.assert_array_equal(kernel(table["smiles"][5:7]), kernel(np.array(SMILES[5:7])))


def test_refuses_before_fit_and_what_is_not_a_part():
    graphs, _ = plain(6)
    with pytest.raises(NotFittedError):
        GraphKernel().transform(graphs)
    with pytest.raises(ValueError, match="Expected weights of pairs, .* the parts of molecules. Got `subtrees`"):
        GraphKernel({"subtrees": 1.0}).fit(SMILES)
    with pytest.raises(ValueError, match="at least one of the weights"):
        GraphKernel({"subtrees": 0.0}).fit(graphs)
    with pytest.raises(ValueError, match="as at `fit`. Got molecules"):
        GraphKernel().fit(graphs)(SMILES)
