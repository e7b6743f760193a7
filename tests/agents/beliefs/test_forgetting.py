"""What an agent forgets, against the information that each graph's rewards give, by conditioning from scratch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.beliefs.forgetting import least_informative, remember


def random_covariance(count, rank, seed):
    """Of graphs that share `rank` features, so that some tell about others."""
    features = np.random.default_rng(seed).normal(size=(count, rank))
    return features @ features.T


def information(graph, others, covariance, noise):
    """What the rewards of a graph tell beyond those of others, in nats."""
    known = covariance[np.ix_(others, others)] + np.diag(noise[others])
    explained = covariance[graph, others] @ np.linalg.solve(known, covariance[others, graph])
    return 0.5 * np.log1p((covariance[graph, graph] - explained) / noise[graph])


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 999))
def test_each_choice_tells_least_given_the_graphs_that_are_left(count, rank, seed):
    covariance, noise = random_covariance(count, rank, seed), np.random.default_rng(seed).uniform(0.01, 2, size=count)
    chosen = least_informative(torch.from_numpy(covariance), torch.from_numpy(noise), count).tolist()
    assert sorted(chosen) == [*range(count)]
    left = [*range(count)]
    for graph in chosen:
        told = {i: information(i, [j for j in left if j != i], covariance, noise) for i in left}
        assert told[graph] <= min(told.values()) + 1e-9
        left.remove(graph)


def test_a_graph_that_was_measured_often_tells_more():
    covariance, noise = torch.eye(3, dtype=torch.float64), torch.tensor([0.1, 0.3, 0.2], dtype=torch.float64)
    assert least_informative(covariance, noise, 2).tolist() == [1, 2]


@pytest.mark.parametrize("count", [0, 1, 19, 20])
def test_all_graphs_stay_while_they_fit(count):
    played = torch.randperm(count)
    assert torch.equal(remember(played, 20, pytest.fail), played)


@pytest.mark.parametrize(("memory", "left"), [(20, 18), (29, 27), (100, 90), (5, 5), (1, 1)])
@pytest.mark.parametrize("excess", [1, 7])
def test_a_tenth_of_the_memory_is_free_once_graphs_are_forgotten(memory, left, excess):
    kept = remember(torch.arange(memory + excess), memory, torch.arange)
    assert kept.tolist() == [*range(memory + excess)][-left:]


def test_graphs_that_stay_keep_their_order():
    played = torch.tensor([7, 3, 9, 0, 5])
    assert remember(played, 4, lambda count: torch.tensor([2, 0])[:count]).tolist() == [7, 3, 0, 5]
    assert remember(played, 3, lambda count: torch.tensor([2, 0])[:count]).tolist() == [3, 0, 5]
