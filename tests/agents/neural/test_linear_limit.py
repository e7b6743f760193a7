"""Where the network is wide and the fit thorough, neural and kernel agents are one: ridge regression on features."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.posterior import from_scratch
from torch_geometric.data import Batch

from agents.beliefs.rewards.history import History
from agents.neural.covariance import FrozenCovariance, RefreshedCovariance
from agents.neural.fit import fit
from agents.neural.settings import NeuralSettings
from gntk import GraphMLP, aggregate_neighbours, gram, values_and_features
from gntk.engines import HeldFeatures, paper_network

GRAPHS = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(5, 4, 7, 6))))
ACTIONS, REWARDS = np.array([0, 2, 2, 3, 0, 2]), np.array([1.0, -0.5, -0.7, 0.3, 0.8, -0.6])


def initial_weights(width, depth=2):
    return [weight.detach() for weight in GraphMLP(4, width, depth).weights]


@pytest.mark.parametrize("fit_mode", ["epochs", "steps"])
def test_the_fitted_mean_tends_to_the_closed_form_ridge_solution(fit_mode):
    """f = k (K_t + ridge I)^{-1} y to 3 % at m = 2048, with the penalty m lambda / t around theta_0."""
    width, ridge = 2048, 0.1
    modes = {
        "epochs": {"epochs": 1500, "batch_size": len(ACTIONS), "learning_rate": 1.0},
        "steps": {"steps": 3000, "batch_size": 12, "learning_rate": 0.2},
    }
    settings = NeuralSettings(
        width=width, regularization=ridge / width, standardize=False, fit=fit_mode, **modes[fit_mode]
    )
    history, network = History(4), paper_network(GRAPHS, width)
    history.add(torch.tensor(ACTIONS), torch.tensor(REWARDS))
    fitted = fit(network, network.initial, history, settings, torch.Generator().manual_seed(0))
    features = values_and_features(network.initial, GRAPHS)[1]
    kernel = gram(features, features).numpy()
    solved = np.linalg.solve(kernel[np.ix_(ACTIONS, ACTIONS)] + ridge * np.eye(len(ACTIONS)), REWARDS)
    expected = kernel[:, ACTIONS] @ solved
    values = values_and_features(fitted, GRAPHS)[0].numpy()
    assert np.abs(values - expected).max() <= 0.03 * np.abs(expected).max()


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("kind", ["refreshed", "frozen"])
def test_the_variance_is_that_of_a_gaussian_process_with_the_ridge_as_noise(kind, depth):
    """ridge sigma^2 = posterior variance under the empirical kernel, in units where the noise variance is the ridge."""
    ridge = 0.05
    values, psi = values_and_features(initial_weights(16, depth), GRAPHS)
    features = HeldFeatures(values, psi)
    covariance = RefreshedCovariance(ridge, 4) if kind == "refreshed" else FrozenCovariance(ridge, psi.shape[1])
    for action in ACTIONS.tolist():
        covariance.add(features, torch.tensor([action]))
    _, exact = from_scratch(gram(psi, psi).numpy(), ridge, ACTIONS, np.zeros(len(ACTIONS)))
    np.testing.assert_allclose(ridge * covariance.variance(features), np.diag(exact), rtol=1e-8, atol=1e-10)
    joint = covariance.root(features) @ covariance.root(features).T
    np.testing.assert_allclose(ridge * joint, exact, rtol=1e-7, atol=1e-9)
