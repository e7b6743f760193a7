"""The kernel of graphs in models of others."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from support.molecules import some_molecules
from support.named_graphs import KINDS

from graph_bandit_bridges import GraphKernel

SMILES = list(some_molecules(24).smiles)
EVERY = {**KINDS, "molecules": lambda count=24, seed=0: (SMILES[seed * 3 : seed * 3 + count], None)}


@given(st.sampled_from(sorted(EVERY)), st.integers(0, 4), st.integers(1, 12))
@settings(deadline=None, max_examples=8)
def test_a_kernel_is_symmetric_and_positive_semidefinite_on_graphs_of_fit_and_on_others(kind, seed, count):
    graphs, _ = EVERY[kind](12, 0)
    others, _ = EVERY[kind](12, seed)
    fitted = GraphKernel().fit(list(graphs)[:count])
    for kernel in (fitted(others), GraphKernel()(others)):
        np.testing.assert_allclose(kernel, kernel.T, atol=1e-9 * kernel.max())
        assert np.linalg.eigvalsh(kernel)[0] > -1e-7 * kernel.trace()


def test_the_kernel_of_a_fingerprint_is_tanimoto_similarity():
    from rdkit import DataStructs
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    generator = GetMorganGenerator(radius=3, fpSize=4096)
    prints = [generator.GetCountFingerprint(MolFromSmiles(text)) for text in SMILES]
    expected = [DataStructs.BulkTanimotoSimilarity(one, prints) for one in prints]
    np.testing.assert_allclose(GraphKernel({"ecfp": 3.0})(SMILES), expected, atol=1e-6)


def test_models_with_a_kernel_take_it():
    graphs, values = KINDS["plain"]()
    ridge = make_pipeline(GraphKernel(), KernelRidge(alpha=1e-2, kernel="precomputed"))
    pipeline = TransformedTargetRegressor(ridge, transformer=StandardScaler())  # a kernel ridge has no intercept
    assert cross_val_score(pipeline, graphs, values, cv=3, error_score="raise").min() > 0.4
    ours, theirs = (
        model.fit(graphs[:20], values[:20]).predict(graphs)
        for model in (SVR(kernel=GraphKernel()), make_pipeline(GraphKernel(), SVR(kernel="precomputed")))
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
