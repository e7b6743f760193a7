"""The Gaussian process as a regressor of scikit-learn."""

import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from support.molecules import some_molecules
from support.named_graphs import KINDS, in_a_set, labelled, plain, weighted

import registry
from graph_bandit_bridges import GraphKernel, GraphProcessRegressor, graph_features
from graph_bandit_env import GraphSet

MOLECULES = some_molecules(40).take(np.random.default_rng(0).permutation(40))
SMILES, VALUES = list(MOLECULES.smiles), MOLECULES.targets
EVERY = {**KINDS, "molecules": lambda: (SMILES, VALUES)}


def taught(kind, count=28, **settings):
    graphs, values = EVERY[kind]()
    return GraphProcessRegressor(**settings).fit(graphs[:count], values[:count]), graphs, values


# --- The predictions


@pytest.mark.parametrize("kind", EVERY)
def test_predicts_graphs_that_it_has_not_seen_from_what_they_have(kind):
    regressor, graphs, values = taught(kind)
    assert regressor.score(graphs[28:], values[28:]) > (0.8 if kind != "weighted" else 0.6)


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("warp", ["none", "normal_scores"])
def test_a_prediction_does_not_depend_on_the_other_graphs(kind, warp):
    regressor, graphs, _ = taught(kind, 15, warp=warp)
    mean, std = regressor.predict(graphs, return_std=True)
    for k in (3, 20, 39):
        one, spread = regressor.predict(graphs[k : k + 1], return_std=True)
        np.testing.assert_allclose([one[0], spread[0]], [mean[k], std[k]], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", EVERY)
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
    agent = registry.make_agent("molecule-ucb", warp=warp, properties_weight=0.0, descriptors_weight=0.0)
    agent.reset(None, graph_set=MOLECULES)
    agent.update(None, np.arange(25), VALUES[:25])
    weights = {"pairs": 0.2, "morgan": 0.15, "torsions": 0.1, "roles": 0.1}
    regressor = GraphProcessRegressor(GraphKernel(weights), warp=warp).fit(SMILES[:25], VALUES[:25])
    mean, std = regressor.predict(SMILES, return_std=True)
    expected = agent.predict()
    np.testing.assert_allclose(mean, expected.mean, rtol=1e-9)
    np.testing.assert_allclose(std, expected.std, rtol=1e-6)
    np.testing.assert_allclose(regressor.predict_interval(SMILES).T, expected.interval(), rtol=1e-7)
    assert regressor.noise_std_ == pytest.approx(expected.noise_std)
    assert regressor.shares_ == pytest.approx(agent.shares())


def test_other_graphs_are_predicted_as_by_the_agent_that_is_shown_them_later():
    graphs, values = in_a_set()
    first, later = (tuple(graphs.take(part)) for part in (range(25), range(25, 40)))
    agent = registry.make_agent("gp-greedy")
    agent.reset(first)
    agent.update(first, np.arange(25), values[:25])
    agent.look_at(later)
    mean, std = GraphProcessRegressor().fit(first, values[:25]).predict(later, return_std=True)
    np.testing.assert_allclose(mean, agent.predict().mean, rtol=1e-8)
    np.testing.assert_allclose(std, agent.predict().std, rtol=1e-6)


def test_the_weights_are_learnt_from_the_graphs_of_fit_alone():
    regressor, graphs, values = taught("plain")
    before = regressor.shares_
    regressor.predict([nx.complete_graph(30), *graphs])
    assert regressor.shares_ == before == GraphProcessRegressor().fit(graphs[:28], values[:28]).shares_
    assert before["structure"] == max(before.values())


def test_a_small_spread_keeps_the_weights():
    graphs, values = plain()
    weights = {"structure": 0.25, "subtrees": 0.75}
    kept, learnt = (
        GraphProcessRegressor(GraphKernel(weights), weight_spread=s).fit(graphs, values) for s in (1e-4, 1.0)
    )
    assert kept.shares_ == pytest.approx(weights, abs=1e-3)
    assert learnt.shares_["structure"] > 0.5


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


@pytest.mark.parametrize("kind", ["plain", "molecules"])
def test_what_is_said_of_graphs_stands_in_their_order_where_some_are_equal(kind):
    regressor, graphs, _ = taught(kind)
    some, index = [graphs[k] for k in (33, 5, 33, 30)], np.array([1, 0, 1, 2])
    distinct = [graphs[k] for k in (5, 33, 30)]
    for found, expected in (
        (regressor.predict(some, return_std=True)[1], regressor.predict(distinct, return_std=True)[1]),
        (regressor.predict_interval(some), regressor.predict_interval(distinct)),
        (regressor.predict(some, return_cov=True)[1], regressor.predict(distinct, return_cov=True)[1][:, index]),
        (regressor.kernel_(some, graphs[:7]), regressor.kernel_(distinct, graphs[:7])),
        (regressor.kernel_(graphs[:7], some).T, regressor.kernel_(graphs[:7], distinct).T),
        (graph_features().fit(graphs).transform(some), graph_features().fit(graphs).transform(distinct)),
    ):
        np.testing.assert_allclose(found, expected[index], rtol=1e-6, atol=1e-9)
    drawn = regressor.sample_y(some, 3)
    np.testing.assert_array_equal(drawn[0], drawn[2])
    assert (drawn[0] != drawn[1]).all()


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


def test_intervals_cover_as_often_as_they_say():
    graphs, values = weighted(120)
    noisy = values + np.random.default_rng(0).normal(scale=0.1, size=120)
    regressor = GraphProcessRegressor().fit(graphs[:60], noisy[:60])
    low, high = regressor.predict_interval(graphs[60:], level=0.8).T
    assert 0.65 < ((low < noisy[60:]) & (noisy[60:] < high)).mean() < 0.95


def test_ranks_are_for_values_of_which_a_few_are_far_from_the_others():
    graphs, values = labelled(60)
    far = np.where(np.arange(60) % 12 == 0, 1e4, values)
    apart = np.arange(30, 60)[np.arange(30, 60) % 12 != 0]
    errors = [
        np.abs(
            GraphProcessRegressor(warp=warp).fit(graphs[:30], far[:30]).predict([graphs[k] for k in apart])
            - values[apart]
        )
        for warp in ("none", "normal_scores")
    ]
    assert np.median(errors[1]) < 0.2 * np.median(errors[0])


# --- What scikit-learn does with it


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


def test_one_graph_and_equal_values_are_enough():
    graphs, _ = plain(5)
    np.testing.assert_allclose(GraphProcessRegressor().fit(graphs[:1], [3.0]).predict(graphs), 3.0)
    np.testing.assert_allclose(GraphProcessRegressor().fit(graphs, np.full(5, 2.0)).predict(graphs), 2.0)


def test_graphs_that_are_alike_by_all_parts_are_predicted_by_their_own_values():
    graphs, _ = plain(6)
    regressor = GraphProcessRegressor(GraphKernel({"edges": 1.0, "nodes": 1.0})).fit(graphs[:4], [1.0, 2.0, 3.0, 6.0])
    assert regressor.shares_["the graph itself"] == pytest.approx(1.0)
    np.testing.assert_allclose(regressor.predict(graphs), [1, 2, 3, 6, 3, 3], atol=0.2)


# --- What is refused


def test_refuses_what_it_cannot_learn_from_or_return():
    graphs, values = plain(10)
    regressor = GraphProcessRegressor().fit(graphs, values)
    with pytest.raises(ValueError, match="Expected `return_std` or `return_cov`. Got both"):
        regressor.predict(graphs, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GraphProcessRegressor().fit(graphs, values[:9])
    with pytest.raises(ValueError, match="NaN"):
        GraphProcessRegressor().fit(graphs, np.where(np.arange(10) == 3, np.nan, values))
    with pytest.raises(ValueError, match="`warp`"):
        GraphProcessRegressor(warp="ranks").fit(graphs, values)
    with pytest.raises(ValueError, match="Expected weights of network, .* the parts of graphs. Got `morgan`"):
        GraphProcessRegressor(GraphKernel({"morgan": 1.0})).fit(graphs, values)
    with pytest.raises(ValueError, match="Expected graphs with no features of nodes .* Got molecules"):
        regressor.predict(SMILES)
    with pytest.raises(ValueError, match="Expected graphs with no features of nodes .* Got graphs with 4 features"):
        regressor.predict(GraphSet.from_networkx(labelled(3)[0]).with_nodes(np.ones((3, 7, 4))))
