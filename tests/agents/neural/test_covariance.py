import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from agents.beliefs.rewards import History, Standardised
from agents.neural.covariance import PRIOR_ROUNDS, DiagonalCovariance, FrozenCovariance, RefreshedCovariance, fit_noise
from gntk import GraphMLP, tangent_features
from gntk.engines import HeldFeatures

RIDGE = 0.05


def features_at(seed, depth=2, width=8):
    """Tangent features of four ragged graphs at some weights of a small network."""
    model = GraphMLP(4, width, depth, seed=seed, zero_start=False)
    return tangent_features(model, Batch.from_data_list(ragged_graphs()))


def held(features):
    return HeldFeatures(torch.zeros(len(features)), features)


def brute_force(features, played, ridge=RIDGE):
    """sigma^2 by the p x p inverse in float64."""
    features, played = features.double().numpy(), np.asarray(played, np.float64)
    precision = ridge * np.eye(features.shape[1]) + played.T @ played
    return np.einsum("kp,pq,kq->k", features, np.linalg.inv(precision), features)


@pytest.mark.parametrize("depth", [2, 3])
def test_frozen_variance_equals_the_brute_force_inverse(depth):
    covariance = FrozenCovariance(RIDGE, features_at(0, depth).shape[1])
    played = np.zeros((0, features_at(0, depth).shape[1]))
    for round_, action in enumerate([0, 2, 2, 3, 1, 0, 2] * 4):  # features move from round to round
        features = features_at(round_, depth)
        expected = brute_force(features, played)
        np.testing.assert_allclose(covariance.variance(held(features)), expected, rtol=1e-6, atol=1e-9)
        covariance.add(held(features), torch.tensor([action]))
        played = np.concatenate([played, features[[action]].double()])


@pytest.mark.parametrize("depth", [2, 3])
def test_refreshed_variance_equals_the_brute_force_inverse(depth):
    features = features_at(0, depth)
    covariance = RefreshedCovariance(RIDGE, 4)
    for actions in ([], [0], [2, 2, 2, 2, 2, 2], [3, 0]):
        if actions:
            covariance.add(held(features_at(9, depth)), torch.tensor(actions))  # what they were then does not matter
    expected = brute_force(features, features[[0, *[2] * 6, 3, 0]].double())
    np.testing.assert_allclose(covariance.variance(held(features)), expected, rtol=1e-6, atol=1e-9)


def test_diagonal_variance_drops_the_off_diagonal():
    covariance = DiagonalCovariance(RIDGE, features_at(0).shape[1])
    entries = np.full(features_at(0).shape[1], RIDGE)
    for seed, actions in enumerate([[0], [2, 2], [2]]):
        covariance.add(held(features_at(seed)), torch.tensor(actions))
        entries += len(actions) * features_at(seed)[actions[0]].double().numpy() ** 2
    expected = (features_at(5).double().numpy() ** 2 / entries).sum(axis=1)
    np.testing.assert_allclose(covariance.variance(held(features_at(5))), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["diagonal", "frozen", "refreshed"])
def test_the_root_is_one_of_a_covariance_with_these_variances(kind):
    features = features_at(0)
    covariance = make(kind, features)
    covariance.add(held(features), torch.tensor([0, 3, 3]))
    joint = covariance.root(held(features)) @ covariance.root(held(features)).T
    torch.testing.assert_close(joint.diagonal(), covariance.variance(held(features)), rtol=1e-9, atol=1e-9)
    if kind != "diagonal":
        psi = features.double()
        precision = RIDGE * torch.eye(psi.shape[1]).double() + psi[[0, 3, 3]].T @ psi[[0, 3, 3]]
        torch.testing.assert_close(joint, psi @ torch.linalg.inv(precision) @ psi.T, rtol=1e-6, atol=1e-9)


def make(kind, features):
    if kind == "diagonal":
        return DiagonalCovariance(RIDGE, features.shape[1])
    return FrozenCovariance(RIDGE, features.shape[1]) if kind == "frozen" else RefreshedCovariance(RIDGE, 4)


@pytest.mark.parametrize("kind", ["diagonal", "frozen", "refreshed"])
def test_the_log_determinant_is_that_of_u(kind):
    features = features_at(0)
    covariance = make(kind, features)
    assert covariance.log_determinant(held(features)) == pytest.approx(0, abs=1e-12)
    covariance.add(held(features), torch.tensor([0, 3, 3, 1]))
    psi = features[[0, 3, 3, 1]].double().numpy()
    U = RIDGE * np.eye(psi.shape[1]) + psi.T @ psi
    U = np.diag(np.diag(U)) if kind == "diagonal" else U
    assert covariance.log_determinant(held(features)) == pytest.approx(np.linalg.slogdet(U / RIDGE).logabsdet)


FEATURES = np.random.default_rng(0).normal(size=(12, 5))
KERNEL = FEATURES @ FEATURES.T / 5  # singular: rank 5 on 12 graphs
RNG = np.random.default_rng(1)
ACTIONS, REWARDS = RNG.integers(0, 10, 30), RNG.normal(size=30)


def fitted(history, **units):
    seen = history.counts > 0
    return fit_noise(torch.tensor(KERNEL)[seen][:, seen], history, Standardised(**units), ridge=0.2)


def told(history):
    history.add(torch.tensor(ACTIONS), torch.tensor(REWARDS))
    return history


def test_it_is_that_of_the_whole_covariance_of_all_rewards():
    targets = (REWARDS - 0.3) / 2.0
    whole = KERNEL[np.ix_(ACTIONS, ACTIONS)] / 0.2 + np.eye(30)
    expected = (targets @ np.linalg.solve(whole, targets) + PRIOR_ROUNDS * 0.2) / (30 + PRIOR_ROUNDS)
    assert fitted(told(History(12)), location=0.3, unit=2.0) == pytest.approx(expected, rel=1e-9)


def test_it_has_the_largest_posterior_under_a_prior_of_more_rewards():
    """Their mean square is the ridge, at which the prior covariance is the kernel."""
    whole = KERNEL[np.ix_(ACTIONS, ACTIONS)] / 0.2 + np.eye(30)
    square = REWARDS @ np.linalg.solve(whole, REWARDS)

    def objective(noise):
        return 30 * np.log(noise) + square / noise + PRIOR_ROUNDS * (np.log(noise) + 0.2 / noise)

    found = fitted(told(History(12)))
    assert objective(found) < min(objective(0.98 * found), objective(1.02 * found))
