"""Results with known noise, against the posterior of a constant under a flat prior; and bounds."""

import numpy as np
import pytest
import torch
from support.posterior import bounded

from agents.beliefs.rewards import PartialResults, Standardised, variances_of
from agents.beliefs.rewards.targets import LEAST_UNITS, MOST_UNITS


def results(graphs, values, deviations, num_graphs=5):
    noisy, exact = PartialResults(num_graphs), torch.zeros(len(graphs), dtype=torch.int64)
    noisy.add(torch.tensor(graphs), torch.tensor(values), exact, torch.tensor(deviations))
    return noisy


@pytest.mark.parametrize("seed", range(3))
def test_results_of_a_graph_merge_into_their_generalised_least_squares_estimate(seed):
    random = np.random.default_rng(seed)
    graphs, values, deviations = random.integers(0, 5, 20), random.normal(size=20), 10 ** random.uniform(-2, 1, 20)
    merged = results(graphs, values, deviations).merge()
    assert merged.graphs.tolist() == np.unique(graphs).tolist()
    for row, graph in enumerate(np.unique(graphs)):
        here = graphs == graph
        # y = c + noise is least squares on rows divided by their noise: its solution, and the width of its Gaussian.
        design, scaled = 1 / deviations[here, None], values[here] / deviations[here]
        (constant,), *_ = np.linalg.lstsq(design, scaled, rcond=None)
        assert merged.values[row].item() == pytest.approx(constant, rel=1e-12)
        assert merged.deviations[row].item() == pytest.approx(np.linalg.pinv(design.T @ design)[0, 0] ** 0.5, rel=1e-12)


def test_noise_is_squared_in_units_of_the_targets_within_bounds():
    targets = Standardised(location=3.0, unit=2.0)
    found = variances_of(torch.tensor([1.0, 1e-30, 1e30], dtype=torch.float64), targets)
    assert found.tolist() == pytest.approx([0.25, LEAST_UNITS**2, MOST_UNITS**2])


def test_the_tightest_bound_of_each_side_counts():
    rows = [(3, 1.0, True), (1, 4.0, False), (3, 2.0, True), (1, 5.0, False), (3, 9.0, False)]
    bounds = bounded(5, rows).bounds
    assert bounds.graphs.tolist() == [3, 1, 3]
    assert bounds.values.tolist() == [2.0, 4.0, 9.0]
    assert bounds.signs.tolist() == [1.0, -1.0, -1.0]


def test_intervals_are_of_graphs_without_exact_results_and_contradictions_are_turned_round():
    rows = [(0, 1.0, True), (1, 6.0, True), (1, 5.0, False), (2, 3.0, False)]
    low, high = bounded(4, rows).intervals(torch.tensor([1, 0, 0, 0]))
    assert low.tolist() == [5.0, -np.inf]
    assert high.tolist() == [6.0, 3.0]
