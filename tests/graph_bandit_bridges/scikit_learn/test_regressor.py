"""The Gaussian process as a regressor of scikit-learn."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from support.molecules import some_molecules
from support.named_graphs import KINDS, labelled, plain

import registry
from graph_bandit_bridges import GraphKernel, GraphProcessRegressor

MOLECULES = some_molecules(40).take(np.random.default_rng(0).permutation(40))
SMILES, VALUES = list(MOLECULES.smiles), MOLECULES.targets
EVERY = {**KINDS, "molecules": lambda: (SMILES, VALUES)}


def taught(kind, count=28, **settings):
    graphs, values = EVERY[kind]()
    return GraphProcessRegressor(**settings).fit(graphs[:count], values[:count]), graphs, values


# --- The predictions


@pytest.mark.parametrize("kind", ["plain", "with_bonds", "molecules"])
def test_predictions_are_those_of_a_gaussian_process_with_its_kernel(kind):
    """Rasmussen & Williams 2006, Eqs. 2.25 and 2.26, with inverses; all numbers are in units of the values."""
    regressor, graphs, values = taught(kind)
    known, other, unit = graphs[:28], graphs[20:], values[:28].std()
    kernel = regressor.kernel_
    inverse = np.linalg.inv(unit**2 * kernel(known) + regressor.noise_std_**2 * np.eye(28))
    cross = unit**2 * kernel(other, known)
    mean, covariance = regressor.predict(other, return_cov=True)
    centred = values[:28] - values[:28].mean()
    np.testing.assert_allclose(mean, values[:28].mean() + cross @ inverse @ centred, rtol=1e-5, atol=1e-5)
    expected = unit**2 * kernel(other) - cross @ inverse @ cross.T
    np.testing.assert_allclose(covariance, expected, rtol=1e-4, atol=1e-6 * unit**2)
    std = regressor.predict(other, return_std=True)[1]
    np.testing.assert_allclose(std, np.sqrt(covariance.diagonal()), rtol=1e-6, atol=1e-7 * unit)


@pytest.mark.parametrize("warp", ["none", "normal_scores"])
def test_molecules_are_predicted_as_by_the_agent_that_was_given_all(warp):
    """With fingerprints alone, which have no scale: an agent takes the scales of numbers from all of its pool."""
    agent = registry.make_agent("molecule-ucb", warp=warp, properties_weight=0.0, rdkit_weight=0.0)
    agent.reset(None, graph_set=MOLECULES)
    agent.update(None, np.arange(25), VALUES[:25])
    weights = {"pairs": 0.2, "ecfp": 0.15, "torsions": 0.1, "fcfp": 0.1}
    regressor = GraphProcessRegressor(GraphKernel(weights), warp=warp).fit(SMILES[:25], VALUES[:25])
    mean, std = regressor.predict(SMILES, return_std=True)
    expected = agent.predict()
    np.testing.assert_allclose(mean, expected.mean, rtol=1e-9)
    np.testing.assert_allclose(std, expected.std, rtol=1e-6)
    np.testing.assert_allclose(regressor.predict_interval(SMILES).T, expected.interval(), rtol=1e-7)
    assert regressor.noise_std_ == pytest.approx(expected.noise_std)
    assert regressor.shares_ == pytest.approx(agent.shares())


def test_equal_graphs_are_one_graph_that_was_measured_several_times():
    graphs, values = labelled(20)
    twice = GraphProcessRegressor(noise_variance=1e-4).fit(
        [*graphs, *graphs], np.tile(values, 2) + np.repeat([0, 1], 20)
    )
    np.testing.assert_allclose(twice.predict(graphs), values + 0.5, atol=0.1)
    assert len(twice.kernel_.rater_.digests) == 20
    texts = ["OCC", "CCO", "CCC", "CCN"]
    mean, covariance = GraphProcessRegressor().fit(texts, [1.0, 2, 5, 3]).predict(texts, return_cov=True)
    assert mean[0] == mean[1]
    np.testing.assert_array_equal(covariance[0], covariance[1])


@pytest.mark.parametrize("warp", ["none", "normal_scores"])
def test_draws_have_the_mean_and_the_covariance_of_the_predictions(warp):
    regressor, graphs, values = taught("plain", 12, warp=warp)
    mean, covariance = regressor.predict(graphs[8:20], return_cov=True)
    drawn = regressor.sample_y(graphs[8:20], 4000, random_state=1)
    assert drawn.shape == (12, 4000)
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=0.06 * values.std())
    np.testing.assert_allclose(np.cov(drawn), covariance, atol=0.06 * values.std() ** 2)
    np.testing.assert_array_equal(drawn, regressor.sample_y(graphs[8:20], 4000, random_state=1))
    assert (drawn != regressor.sample_y(graphs[8:20], 4000, random_state=2)).any()


# --- What scikit-learn does with it


@pytest.mark.slow
def test_folds_and_grids():
    graphs, values = plain()
    scores = cross_val_score(GraphProcessRegressor(), graphs, values, cv=3)
    assert scores.min() > 0.8
    grid = {"kernel__weights": [{"nodes": 1.0}, {"structure": 1.0, "itself": 0.1}], "warp": ["none", "normal_scores"]}
    search = GridSearchCV(GraphProcessRegressor(GraphKernel()), grid, cv=3, error_score="raise").fit(graphs, values)
    assert search.best_params_["kernel__weights"] == {"structure": 1.0, "itself": 0.1}
    folds = cross_val_predict(
        GraphProcessRegressor(), np.array(SMILES), VALUES, cv=KFold(4, shuffle=True, random_state=0)
    )
    assert np.corrcoef(folds, VALUES)[0, 1] > 0.8


def test_a_copy_has_the_settings_and_learns_the_same():
    regressor, graphs, values = taught("with_bonds", kernel=GraphKernel({"edges": 1.0}), noise_variance=0.01)
    copy = clone(regressor)
    assert copy.get_params()["kernel__weights"] == {"edges": 1.0}
    with pytest.raises(NotFittedError):
        copy.predict(graphs)
    np.testing.assert_array_equal(copy.fit(graphs[:28], values[:28]).predict(graphs), regressor.predict(graphs))
    assert regressor.kernel is not regressor.kernel_
    assert not hasattr(regressor.kernel, "rater_")


@pytest.mark.slow
def test_another_process_predicts_the_same(tmp_path):
    """Where hashes of Python are others, so that no graph may be known again by them."""
    regressor, graphs, _ = taught("plain")
    (tmp_path / "pickle").write_bytes(pickle.dumps((regressor, graphs)))
    code = "import pickle, sys; r, g = pickle.load(open(sys.argv[1], 'rb')); print(*r.predict(g, True)[1])"
    run = subprocess.run([sys.executable, "-c", code, tmp_path / "pickle"], check=True, capture_output=True, text=True)
    expected = regressor.predict(graphs, return_std=True)[1]
    np.testing.assert_allclose(np.array(run.stdout.split(), float), expected, rtol=1e-9)
    molecules, smiles, _ = taught("molecules")
    copy = pickle.loads(pickle.dumps(molecules))
    np.testing.assert_array_equal(copy.predict(smiles), molecules.predict(smiles))


# --- What is refused


def test_refuses_what_it_cannot_learn_from_or_return():
    graphs, values = plain(10)
    regressor = GraphProcessRegressor().fit(graphs, values)
    with pytest.raises(ValueError, match="`return_cov`"):
        regressor.predict(graphs, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="NaN"):
        GraphProcessRegressor().fit(graphs, np.where(np.arange(10) == 3, np.nan, values))
    with pytest.raises(ValueError, match="`warp`"):
        GraphProcessRegressor(warp="ranks").fit(graphs, values)
    with pytest.raises(ValueError, match="`ecfp`"):
        GraphProcessRegressor(GraphKernel({"ecfp": 1.0})).fit(graphs, values)
