"""The model of two assays: its gradient, its posterior by a plain inverse, and the ends of what a link can be."""

import numpy as np
import pytest
import torch
from scipy.optimize import approx_fprime

from benchmarks.pools.assays.linked import LinkedLikelihood, LinkedModel, Results

MEDIANS = (0.6, 0.4)


def some_kernels(count=12):
    points = torch.from_numpy(np.random.default_rng(0).normal(size=(count, 2)))
    squares = torch.cdist(points, points).square()
    return torch.stack([torch.exp(-squares / 2), torch.exp(-squares * 3)])


def some_results():
    generator = np.random.default_rng(1)
    molecules, cheap = torch.tensor([0, 1, 2, 3, 4, 0, 1, 5, 6, 7]), torch.tensor([False] * 5 + [True] * 5)
    values = torch.from_numpy(generator.normal(size=10))
    return Results(molecules, cheap, values)


def learnt(kernels, results, **changes):
    model = LinkedModel(kernels, MEDIANS)
    model.fit(results)
    model.link = model.link._replace(**changes)
    return model


def test_the_gradient_is_that_of_the_likelihood():
    results, kernels = some_results(), some_kernels()
    within = kernels[:, results.molecules][:, :, results.molecules]
    likelihood = LinkedLikelihood(within, MEDIANS, results)
    numbers = np.array([0.3, -0.5, -2.0, -1.5, -1.0, 0.4, -0.3, 0.7])
    expected = approx_fprime(numbers, lambda each: likelihood(each)[0], 1e-6)
    np.testing.assert_allclose(likelihood(numbers)[1], expected, rtol=1e-4, atol=1e-4)


def test_the_fit_finds_a_minimum():
    results, kernels = some_results(), some_kernels()
    within = kernels[:, results.molecules][:, :, results.molecules]
    likelihood = LinkedLikelihood(within, MEDIANS, results)
    link = likelihood.fit()
    entries = (link.noise, link.residual, link.cheap_noise, link.slope, link.offset)
    logit = np.log(link.correlation / (1 - link.correlation))
    numbers = np.array([*np.log(link.weights.numpy() / MEDIANS), *np.log(entries), logit])
    assert np.abs(likelihood(numbers)[1]).max() < 1e-2


def test_the_posterior_is_that_of_a_plain_inverse():
    results, kernels = some_results(), some_kernels()
    model = LinkedModel(kernels, MEDIANS)
    model.fit(results)
    w, n, u, m, s, v, r = model.link
    k, same = (w[0] * kernels[0] + w[1] * kernels[1]).numpy(), np.eye(12)
    prior = np.block([[k + u * same, s * (r * k + u * same)], [s * (r * k + u * same), s**2 * (k + u * same) + v]])
    rows = results.molecules.numpy() + 12 * results.cheap.numpy()
    inner = prior[np.ix_(rows, rows)] + np.diag(np.where(results.cheap, m, n))
    gain = prior[:, rows] @ np.linalg.inv(inner)
    mean, covariance = model.predict(torch.arange(12))
    np.testing.assert_allclose(mean, gain @ results.values.numpy(), atol=1e-8)
    np.testing.assert_allclose(covariance, prior - gain @ prior[rows], atol=1e-8)


def test_unlinked_cheap_results_tell_nothing():
    results, kernels = some_results(), some_kernels()
    other = results._replace(values=torch.where(results.cheap, -3 * results.values, results.values))
    model = learnt(kernels, results, correlation=0.0, residual=0.0)
    mean, covariance = model.predict(torch.arange(12))
    model._results = other
    np.testing.assert_allclose(model.predict(torch.arange(12))[0][:12], mean[:12], atol=1e-12)
    model._results = Results(*(column[:5] for column in results))
    alone, spread = model.predict(torch.arange(12))
    np.testing.assert_allclose(alone[:12], mean[:12], atol=1e-9)
    np.testing.assert_allclose(spread[:12, :12], covariance[:12, :12], atol=1e-9)


def test_results_of_a_perfect_cheap_assay_count_as_dear_ones():
    results, kernels = some_results(), some_kernels()
    perfect = {"correlation": 1.0, "slope": 1.0, "offset": 0.0, "noise": 0.1, "cheap_noise": 0.1}
    model = learnt(kernels, results, **perfect)
    mean, covariance = model.predict(torch.arange(12))
    assert mean[:12].numpy() == pytest.approx(mean[12:].numpy())
    model._results = results._replace(cheap=torch.zeros(10, dtype=torch.bool))
    again, spread = model.predict(torch.arange(12))
    np.testing.assert_allclose(again[:12], mean[:12], atol=1e-9)
    np.testing.assert_allclose(spread[:12, :12], covariance[:12, :12], atol=1e-9)


def test_a_link_is_found_where_there_is_one_and_not_where_there_is_none():
    kernels = some_kernels(80)
    generator = np.random.default_rng(3)
    root = np.linalg.cholesky(kernels[0].numpy() + 1e-6 * np.eye(80))
    dear, other = root @ generator.normal(size=80), root @ generator.normal(size=80)
    molecules, cheap = torch.cat([torch.arange(40), torch.arange(80)]), torch.arange(120) >= 40

    def linked(cheap_values):
        return LinkedModel(kernels, MEDIANS), Results(molecules, cheap, torch.from_numpy(cheap_values))

    found = {}
    for name, values in (("linked", 0.7 * dear), ("apart", other)):
        model, results = linked(np.concatenate([dear[:40], values]))
        model.fit(results)
        found[name] = model.link
    assert found["linked"].correlation > 0.95
    assert found["linked"].slope == pytest.approx(0.7, rel=0.1)
    assert found["apart"].correlation < 0.5
