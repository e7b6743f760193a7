import numpy as np
import pytest
import torch
from scipy.integrate import dblquad
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal, norm
from support.molecules import some_molecules

from agents.beliefs.censoring import Thresholds, match_bounds
from agents.beliefs.posterior import DualPosterior
from agents.beliefs.rewards import Bounds, History, Standardised
from agents.molecule.mixture import Mixture
from agents.molecule.parts import make_parts
from agents.molecule.settings import MoleculeSettings
from agents.process.likelihood import PRIOR_RESULTS, MixtureLikelihood
from agents.traits import compute_traits

MOLECULES = some_molecules()
PARTS = make_parts(MoleculeSettings(), compute_traits(MOLECULES.smiles))
KERNELS, MEDIANS = [part.kernel for part in PARTS], [part.weight for part in PARTS]
RAW = Standardised()


def history(actions, rewards):
    known = History(len(MOLECULES))
    known.add(torch.as_tensor(actions), torch.as_tensor(rewards, dtype=torch.float64))
    return known


def likelihood(actions, rewards, spread=1.0):
    return MixtureLikelihood.of_history(KERNELS, MEDIANS, spread, history(actions, rewards), RAW)


def plain(kernels, weights, noise, actions, rewards):
    """2 NLL of every single reward, from the density of scipy."""
    index = torch.as_tensor(actions)
    covariance = sum(w * k.columns(index, index).numpy() for w, k in zip(weights, kernels, strict=True))
    covariance = covariance + noise * np.eye(len(actions))
    return -2 * multivariate_normal(np.zeros(len(actions)), covariance).logpdf(rewards)


def test_differences_of_the_likelihood_are_those_of_every_single_reward():
    actions, rewards = [3, 1, 1, 9, 30, 1, 9], np.random.default_rng(0).normal(size=7)
    told = likelihood(actions, rewards)
    found, expected = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        shifts, noise = rng.normal(size=len(MEDIANS)), rng.uniform(0.01, 1)
        prior = (shifts**2).sum() + ((np.log(noise) - np.log(0.01)) / 3) ** 2
        found.append(told(np.append(shifts, np.log(noise)))[0] - prior)
        expected.append(plain(KERNELS, np.array(MEDIANS) * np.exp(shifts), noise, actions, rewards))
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-8)


@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_the_gradient_is_that_of_finite_differences(spread):
    actions = np.random.default_rng(0).integers(0, 40, 60)
    told = likelihood(actions, np.sin(np.arange(60)), spread)
    point = np.random.default_rng(1).normal(size=len(MEDIANS) + 1)
    numeric = approx_fprime(point, lambda logarithms: told(logarithms)[0], 1e-6)
    np.testing.assert_allclose(told(point)[1], numeric, rtol=1e-3, atol=1e-3)


def test_the_total_has_a_prior_that_is_worth_some_results_where_it_is_one():
    """Results that are alike do not make it small; the gradient is that of finite differences."""
    shares = np.random.default_rng(2).dirichlet(np.ones(len(MEDIANS)))
    alike = history(range(12), 0.01 * np.sin(np.arange(12)))
    told, plain_prior = (
        MixtureLikelihood.of_history(KERNELS, MEDIANS, 1.0, alike, RAW, shares=given) for given in (shares, None)
    )
    point = np.random.default_rng(1).normal(size=len(MEDIANS) + 1)
    numeric = approx_fprime(point, lambda logarithms: told(logarithms)[0], 1e-6)
    np.testing.assert_allclose(told(point)[1], numeric, rtol=1e-3, atol=1e-3)
    total = shares @ np.exp(point[:-1])
    expected = PRIOR_RESULTS * (np.log(total) + 1 / total)
    assert told(point)[0] - plain_prior(point)[0] == pytest.approx(expected)
    one = [MixtureLikelihood.of_history(KERNELS[:1], [1.0], 1.0, alike, RAW, shares=each) for each in ([1.0], None)]
    (with_prior,), (without,) = (each.fit()[0] for each in one)
    assert without < 0.7 * with_prior < 0.7


def test_noise_is_learnt_from_repeated_measurements():
    rng = np.random.default_rng(0)
    actions = np.repeat(np.arange(20), 8)
    values = MOLECULES.targets[:20] - MOLECULES.targets[:20].mean()
    _, noise = likelihood(actions, values[actions] / values.std() + 0.4 * rng.normal(size=160)).fit()
    assert noise == pytest.approx(0.16, rel=0.25)


def test_a_known_noise_stays():
    weights, noise = likelihood([1, 2, 3], [0.5, -1.0, 0.2]).fit(0.3)
    assert noise == 0.3
    assert len(weights) == len(MEDIANS)


def bounds_of(rows):
    bounds = Bounds(len(MOLECULES))
    graphs, values, above = zip(*rows, strict=True)
    bounds.add(torch.tensor(graphs), torch.tensor(values, dtype=torch.float64), torch.tensor(above))
    return bounds


def posterior(weights, noise, known):
    seen = known.counts.nonzero()[:, 0]
    given = known.counts[seen], known.means[seen]
    return DualPosterior(Mixture(KERNELS, weights), noise, seen, *given)


def probability_below_zero(mean, covariance):
    """Integrate the density of two normal numbers times the probability of the third; scipy's `cdf` draws numbers."""
    two = multivariate_normal(mean[:2], covariance[:2, :2])
    by_two = np.linalg.solve(covariance[:2, :2], covariance[:2, 2])
    std = np.sqrt(covariance[2, 2] - by_two @ covariance[:2, 2])

    def density(second, first):
        at = np.array([first, second])
        return two.pdf(at) * norm.cdf(-(mean[2] + by_two @ (at - mean[:2])) / std)

    least = mean[:2] - 8 * np.sqrt(np.diag(covariance)[:2])
    return dblquad(density, min(least[0], -1), 0, min(least[1], -1), 0, epsabs=1e-9)[0]


def test_the_slope_by_the_weights_is_that_of_the_probability_of_results_and_bounds():
    """The oracle is the probability by quadrature, without expectation propagation."""
    actions, rewards, noise = [3, 9, 30, 17], [0.4, -1.0, 0.3, 0.9], 0.05
    rows = [(1, 0.8, True), (12, -0.5, False), (20, 0.2, False)]
    known, bounds = history(actions, rewards), bounds_of(rows)
    graphs, signs = bounds.graphs, bounds.signs.numpy()

    def twice_negative_log(shifts):
        weights = np.array(MEDIANS) * np.exp(shifts)
        told = posterior(weights, noise, known)
        mean = told.mean_of(told.explained(graphs)).numpy()
        covariance = told.covariance(graphs).numpy() + noise * np.eye(3)
        beyond = -signs * (mean - bounds.values.numpy()), covariance * np.outer(signs, signs)
        bounded = np.log(probability_below_zero(*beyond))
        return plain(KERNELS, weights, noise, actions, rewards) - 2 * bounded + (shifts**2).sum()

    shifts = np.random.default_rng(0).normal(size=len(MEDIANS)) / 2
    pseudo = match_bounds(
        posterior(np.array(MEDIANS) * np.exp(shifts), noise, known), Thresholds.of(bounds, RAW, noise)
    )
    told = MixtureLikelihood.of_history(KERNELS, MEDIANS, 1.0, known, RAW, pseudo)
    slope = told(np.append(shifts, np.log(noise)))[1][:-1]
    np.testing.assert_allclose(slope, approx_fprime(shifts, twice_negative_log, 1e-3), atol=0.02)


def test_the_gradient_with_bounds_is_that_of_finite_differences():
    known, bounds = history([3, 3, 9, 30], [0.4, 0.5, -1.0, 0.3]), bounds_of([(1, 0.8, True), (9, -0.5, False)])
    pseudo = match_bounds(posterior(MEDIANS, 0.1, known), Thresholds.of(bounds, RAW, 0.1))
    told = MixtureLikelihood.of_history(KERNELS, MEDIANS, 1.0, known, RAW, pseudo)
    point = np.random.default_rng(1).normal(size=len(MEDIANS) + 1)
    numeric = approx_fprime(point, lambda logarithms: told(logarithms)[0], 1e-6)
    np.testing.assert_allclose(told(point)[1], numeric, rtol=1e-3, atol=1e-3)
