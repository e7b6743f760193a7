import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from agents.beliefs.rewards import History, Standardised
from agents.neural.covariance import PRIOR_ROUNDS, DiagonalCovariance, FrozenCovariance, RefreshedCovariance, fit_noise
from gntk import GraphMLP, tangent_features
from gntk.engines import HeldFeatures

RIDGE = 0.05


def features_at(seed, depth):
    """Tangent features of four ragged graphs at some weights of a small network."""
    model = GraphMLP(4, 8, depth, seed=seed, zero_start=False)
    features = tangent_features(model, Batch.from_data_list(ragged_graphs()))
    return HeldFeatures(torch.zeros(4), features), features.double().numpy()


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("kind", ["diagonal", "frozen", "refreshed"])
def test_variance_root_and_determinant_are_those_of_u_by_its_inverse(kind, depth):
    """Features move from round to round: U holds them as they were when played; refreshed, as they are now."""
    size, past = features_at(0, depth)[1].shape[1], []
    kinds = {"diagonal": (DiagonalCovariance, size), "frozen": (FrozenCovariance, size)}
    make, count = kinds.get(kind, (RefreshedCovariance, 4))
    covariance = make(RIDGE, count)
    for seed, actions in enumerate([[0], [2, 2], [3], [1, 0, 2], []]):
        held, psi = features_at(seed, depth)
        played = np.array([psi[k] if kind == "refreshed" else then[k] for k, then in past]).reshape(-1, size)
        U = RIDGE * np.eye(size) + played.T @ played
        U = np.diag(np.diag(U)) if kind == "diagonal" else U
        expected, root = psi @ np.linalg.solve(U, psi.T), covariance.root(held)
        np.testing.assert_allclose(covariance.variance(held), np.diag(expected), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(root @ root.T, expected, rtol=1e-6, atol=1e-7)
        some = torch.tensor([3, 1])
        np.testing.assert_allclose(covariance.variance(held, some), np.diag(expected)[some], rtol=1e-6, atol=1e-9)
        determinant = np.linalg.slogdet(U / RIDGE).logabsdet
        assert covariance.log_determinant(held) == pytest.approx(determinant, rel=1e-6, abs=1e-9)
        covariance.add(held, torch.tensor(actions, dtype=torch.int64))
        past += [(k, psi) for k in actions]


def test_the_noise_has_the_largest_posterior_under_a_prior_of_more_rewards():
    """Their mean square is the ridge, at which the prior covariance is the kernel."""
    random, history = np.random.default_rng(1), History(12)
    features, actions, rewards = random.normal(size=(12, 5)), random.integers(0, 10, 30), random.normal(size=30)
    history.add(torch.tensor(actions), torch.tensor(rewards))
    kernel, seen, targets = features @ features.T / 5, history.counts > 0, (rewards - 0.3) / 2.0  # kernel of rank 5
    square = targets @ np.linalg.solve(kernel[np.ix_(actions, actions)] / 0.2 + np.eye(30), targets)

    def objective(log_noise):
        noise = np.exp(log_noise)
        return 30 * log_noise + square / noise + PRIOR_ROUNDS * (log_noise + 0.2 / noise)

    found = fit_noise(torch.tensor(kernel)[seen][:, seen], history, Standardised(0.3, 2.0), ridge=0.2)
    assert found == pytest.approx(np.exp(minimize_scalar(objective, (-5, 5), tol=1e-12).x), rel=1e-6)
