import numpy as np
import pytest
import torch
from scipy.integrate import dblquad
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal, norm
from support.molecules import some_molecules
from support.posterior import bounded

from agents.beliefs.censoring import Thresholds, match_bounds
from agents.beliefs.posterior import DualPosterior
from agents.beliefs.rewards import History, Standardised, stack
from agents.descriptors import compute_descriptors
from agents.molecule.parts import MoleculeSettings, make_parts
from agents.process.kernels import Mixture
from agents.process.likelihood import (
    CORRELATION_SPREAD,
    PRIOR_NOISE,
    PRIOR_NOISE_SPREAD,
    PRIOR_RESIDUAL,
    PRIOR_RESULTS,
    PRIOR_SOURCE_NOISE,
    RESIDUAL_SPREAD,
    SLOPE_SPREAD,
    Rows,
    likelihood_of,
)

MOLECULES = some_molecules()
KERNELS, PARTS = make_parts(MoleculeSettings(), compute_descriptors(MOLECULES.smiles))
MEDIANS = [part.weight for part in PARTS]
RAW = Standardised()


def rows_of(graphs, counts, targets, noises, squares):
    return Rows(
        torch.tensor(graphs),
        *(torch.tensor(column, dtype=torch.float64) for column in (counts, targets, noises, squares)),
    )


REWARDS = rows_of([0, 3, 7, 9], [1, 3, 1, np.inf], [0.1, -0.4, 0.7, 1.1], [0, 0, 0.3, 0.2], [0, 0.4, 0, 0])
SOURCES = [
    rows_of([3, 5, 11], [1, 2, 1], [0.3, -1.2, 0.4], [0, 0, 0], [0, 0.1, 0]),
    rows_of([2, 9, 14, 5], [1, 1, 1, 4], [-0.3, 0.9, 1.4, -0.6], [0, 0, 0, 0], [0, 0, 0, 0.6]),
]
SHARES = [0.2, 0.5, 0.3]
WEIGHED = [0.6, 0.3, 0.4]
NUMBERS = [
    np.array([0.3, -0.5, 0.1, -2.0, -1.5, -3.0, 0.8, -0.4, 0.5, -0.2, -2.0]),
    np.array([-1.0, 0.7, 0.4, -4.0, -0.5, -1.0, -1.9, 0.1, -1.2, 0.3, -0.5]),
]


def ragged(sources, shares, ties=None):
    """Rewards, some repeated, one with a noise of its own, one a pseudo result; and results of sources."""
    return likelihood_of(KERNELS.only([0, 4, 6]), WEIGHED, 0.7, REWARDS, sources, shares, ties)


def history(actions, rewards):
    known = History(len(MOLECULES))
    known.add(torch.as_tensor(actions), torch.as_tensor(rewards, dtype=torch.float64))
    return known


def likelihood(actions, rewards, spread=1.0):
    return likelihood_of(KERNELS, MEDIANS, spread, Rows.of(history(actions, rewards), RAW))


def plain(kernels, weights, noise, actions, rewards):
    """2 NLL of every single reward, from the density of scipy."""
    index = torch.as_tensor(actions)
    covariance = np.tensordot(kernels.columns(index, index), weights, (1, 0)) + noise * np.eye(len(actions))
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


def test_the_total_has_a_prior_that_is_worth_some_results_where_it_is_one():
    """Results that are alike do not make it small; the gradient is that of finite differences."""
    shares = np.random.default_rng(2).dirichlet(np.ones(len(MEDIANS)))
    alike = Rows.of(history(range(12), 0.01 * np.sin(np.arange(12))), RAW)
    told, plain_prior = (likelihood_of(KERNELS, MEDIANS, 1.0, alike, shares=given) for given in (shares, None))
    point = np.random.default_rng(1).normal(size=len(MEDIANS) + 1)
    numeric = approx_fprime(point, lambda logarithms: told(logarithms)[0], 1e-6)
    np.testing.assert_allclose(told(point)[1], numeric, rtol=1e-3, atol=1e-3)
    total = shares @ np.exp(point[:-1])
    expected = PRIOR_RESULTS * (np.log(total) + 1 / total)
    assert told(point)[0] - plain_prior(point)[0] == pytest.approx(expected)
    one = [likelihood_of(KERNELS.only([0]), [1.0], 1.0, alike, shares=each) for each in ([1.0], None)]
    (with_prior,), (without,) = (each.fit()[0] for each in one)
    assert without < 0.7 * with_prior < 0.7


@pytest.mark.parametrize("std", [0.4, 8.0])  # in units of what graphs differ by
def test_noise_is_learnt_from_repeated_measurements(std):
    rng = np.random.default_rng(0)
    actions = np.repeat(np.arange(20), 8)
    values = MOLECULES.targets[:20] - MOLECULES.targets[:20].mean()
    _, noise, _ = likelihood(actions, values[actions] / values.std() + std * rng.normal(size=160)).fit()
    assert noise == pytest.approx(std**2, rel=0.25)


@pytest.mark.parametrize("sources", [[], SOURCES])
def test_a_known_noise_stays(sources):
    weights, noise, links = ragged(sources, SHARES).fit(0.3)
    assert noise == 0.3
    assert len(weights) == 3
    assert (links is None) == (not sources)


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
    known, bounds = history(actions, rewards), bounded(len(MOLECULES), rows).bounds
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
    thresholds = Thresholds(*bounds, torch.full_like(bounds.signs, noise))
    pseudo = match_bounds(posterior(np.array(MEDIANS) * np.exp(shifts), noise, known), thresholds)
    rows = stack([Rows.of(known, RAW), Rows.of_single(*pseudo, torch.inf)])
    told = likelihood_of(KERNELS, MEDIANS, 1.0, rows)
    slope = told(np.append(shifts, np.log(noise)))[1][:-1]
    np.testing.assert_allclose(slope, approx_fprime(shifts, twice_negative_log, 1e-3), atol=0.02)


@pytest.mark.parametrize("ties", [None, torch.tensor([[1.0, 0, 2], [1, 1, 0], [0, 1, 1]], dtype=torch.float64)])
@pytest.mark.parametrize("shares", [None, SHARES])
@pytest.mark.parametrize("sources", [[], SOURCES])
def test_its_gradient_is_that_of_its_value(sources, shares, ties):
    told = ragged(sources, shares, ties)
    for numbers in NUMBERS if sources else [NUMBERS[0][:4], NUMBERS[1][:4]]:
        slopes = approx_fprime(numbers, lambda at: told(at)[0], 1e-6)
        np.testing.assert_allclose(told(numbers)[1], slopes, rtol=1e-4, atol=1e-4)


def test_with_sources_its_differences_are_those_of_the_density_of_all_results_and_the_priors():
    told = ragged(SOURCES, SHARES)
    rows = [REWARDS, *SOURCES]
    q = np.repeat(np.arange(3), [len(part.graphs) for part in rows])
    at, counts, targets, own = (np.concatenate(columns) for columns in list(zip(*rows, strict=True))[:4])
    kernels = KERNELS.columns(torch.from_numpy(at), torch.from_numpy(at)).numpy()[:, [0, 4, 6]]

    def by_hand(numbers):
        weights, noises = np.exp(numbers[:3]) * WEIGHED, np.exp(numbers[3:6])
        along, residual = np.array([1.0, *np.tanh(numbers[6:8])]), np.exp(numbers[10])
        scale = np.array([1.0, *np.exp(numbers[8:10])])
        between = along[q][:, None] * along[q]
        between[q[:, None] == q] = 1.0
        between *= np.outer(scale[q], scale[q])
        covariance = between * (np.tensordot(kernels, weights, (1, 0)) + residual * (at[:, None] == at))
        covariance += np.diag(noises[q] / counts + own)
        value = -2 * multivariate_normal(cov=covariance).logpdf(targets)
        for number, (noise, part) in enumerate(zip(noises, rows, strict=True)):
            mine = (q == number) & np.isfinite(counts)
            value += (counts[mine] - 1).sum() * np.log(noise) + part.squares.sum().item() / noise
        priors = [*[(0, 0.7)] * 3, (np.log(PRIOR_NOISE), PRIOR_NOISE_SPREAD)]
        priors += [(np.log(PRIOR_SOURCE_NOISE), PRIOR_NOISE_SPREAD)] * 2 + [(0, CORRELATION_SPREAD)] * 2
        priors += [(0, SLOPE_SPREAD)] * 2 + [(np.log(PRIOR_RESIDUAL), RESIDUAL_SPREAD)]
        value += sum(((x - mean) / spread) ** 2 for x, (mean, spread) in zip(numbers, priors, strict=True))
        share = np.exp(numbers[:3]) @ SHARES
        return value + PRIOR_RESULTS * (np.log(share) + 1 / share)

    difference = told(NUMBERS[0])[0] - told(NUMBERS[1])[0]
    assert difference == pytest.approx(by_hand(NUMBERS[0]) - by_hand(NUMBERS[1]), rel=1e-9)
