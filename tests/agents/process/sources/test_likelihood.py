"""The likelihood of rewards and sources: its gradient, its value, and what it finds in draws from a known process."""

import numpy as np
import pytest
import torch
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from support.posterior import MatrixKernel

from agents.process.likelihood import PRIOR_NOISE, PRIOR_NOISE_SPREAD, PRIOR_RESULTS, Rows
from agents.process.settings import MixtureSettings
from agents.process.sources import Source, learn_links
from agents.process.sources.likelihood import (
    CORRELATION_SPREAD,
    PRIOR_RESIDUAL,
    PRIOR_SOURCE_NOISE,
    RESIDUAL_SPREAD,
    SLOPE_SPREAD,
    Joined,
    LinkedLikelihood,
)

GENERATOR = np.random.default_rng(0)
POINTS = GENERATOR.normal(size=(60, 3))
WIDTHS = (0.8, 2.5)
KERNELS = [np.exp(-np.square(POINTS[:, None] - POINTS).sum(-1) / (2 * width**2)) for width in WIDTHS]
MEDIANS = [0.6, 0.4]


def tensor(values):
    return torch.as_tensor(np.asarray(values, np.float64))


def ragged():
    """Rewards, some repeated, one with a noise of its own, one a pseudo result; and results of two sources."""
    graphs = torch.tensor([0, 3, 7, 9, 3, 5, 11, 2, 9, 14, 5])
    quantities = torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
    counts = tensor([1, 3, 1, np.inf, 1, 2, 1, 1, 1, 1, 4])
    noises = tensor([0, 0, 0.3, 0.2, 0, 0, 0, 0, 0, 0, 0])
    rows = Rows(graphs, counts, tensor(GENERATOR.normal(size=11)), noises)
    kernels = torch.stack([tensor(kernel[np.ix_(graphs, graphs)]) for kernel in KERNELS])
    return LinkedLikelihood(kernels, MEDIANS, 0.7, Joined(rows, quantities, [0.4, 0.1, 0.6]))


NUMBERS = [
    np.array([0.3, -0.5, -2.0, -1.5, -3.0, 0.8, -0.4, 0.5, -0.2, -2.0]),
    np.array([-1.0, 0.7, -4.0, -0.5, -1.0, -1.9, 0.1, -1.2, 0.3, -0.5]),
]


@pytest.mark.parametrize("numbers", NUMBERS)
def test_its_gradient_is_that_of_its_value(numbers):
    likelihood = ragged()
    slopes = approx_fprime(numbers, lambda at: likelihood(at)[0], 1e-6)
    np.testing.assert_allclose(likelihood(numbers)[1], slopes, rtol=1e-4, atol=1e-4)


def test_its_differences_are_those_of_the_density_of_all_results_and_the_priors():
    likelihood = ragged()
    (graphs, counts, targets, own), quantities, squares = likelihood._joined

    def by_hand(numbers):
        weights, noises = np.exp(numbers[:2]) * MEDIANS, np.exp(numbers[2:5])
        along, residual = np.array([1.0, *np.tanh(numbers[5:7])]), np.exp(numbers[9])
        scale = np.array([1.0, *np.exp(numbers[7:9])])
        q, at = quantities.numpy(), graphs.numpy()
        between = along[q][:, None] * along[q]
        between[q[:, None] == q] = 1.0
        between *= np.outer(scale[q], scale[q])
        structure = sum(weight * kernel[np.ix_(at, at)] for weight, kernel in zip(weights, KERNELS, strict=True))
        covariance = between * (structure + residual * (at[:, None] == at))
        covariance += np.diag(noises[q] / counts.numpy() + own.numpy())
        value = -2 * multivariate_normal(cov=covariance).logpdf(targets.numpy())
        for number, noise in enumerate(noises):
            mine = (q == number) & np.isfinite(counts.numpy())
            value += (counts.numpy()[mine] - 1).sum() * np.log(noise) + squares[number] / noise
        share = weights.sum() / sum(MEDIANS)
        priors = [(0, 0.7), (0, 0.7), (np.log(PRIOR_NOISE), PRIOR_NOISE_SPREAD)]
        priors += [(np.log(PRIOR_SOURCE_NOISE), PRIOR_NOISE_SPREAD)] * 2 + [(0, CORRELATION_SPREAD)] * 2
        priors += [(0, SLOPE_SPREAD)] * 2
        priors += [(np.log(PRIOR_RESIDUAL), RESIDUAL_SPREAD)]
        value += sum(((x - mean) / spread) ** 2 for x, (mean, spread) in zip(numbers, priors, strict=True))
        return value + PRIOR_RESULTS * (np.log(share) + 1 / share)

    difference = likelihood(NUMBERS[0])[0] - likelihood(NUMBERS[1])[0]
    assert difference == pytest.approx(by_hand(NUMBERS[0]) - by_hand(NUMBERS[1]), rel=1e-9)


def drawn(correlation, seed):
    """Rewards of 40 graphs and a source on all 60, from a process whose correlation is known."""
    generator = np.random.default_rng(seed)
    root = np.linalg.cholesky(0.6 * KERNELS[1] + 0.3 * KERNELS[0] + 1e-8 * np.eye(60))
    one, other = (root @ generator.normal(size=60) for _ in range(2))
    rewards, values = one, correlation * one + np.sqrt(1 - correlation**2) * other
    return rewards + 0.1 * generator.normal(size=60), values + 0.2 * generator.normal(size=60)


def test_known_noise_stays():
    rewards, values = drawn(0.5, 0)
    rows = Rows(torch.arange(40), torch.ones(40).double(), tensor(rewards[:40]), torch.zeros(40).double())
    source = Source.of("other", torch.arange(60), tensor(values), torch.zeros(60).long(), MixtureSettings())
    kernels = [MatrixKernel(kernel) for kernel in KERNELS]
    assert learn_links(kernels, MEDIANS, 1.0, (rows, 0.0), [(source.rows(), 0.0)], noise=0.37)[1] == 0.37
