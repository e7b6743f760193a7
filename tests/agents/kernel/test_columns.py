from types import SimpleNamespace

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.posterior import from_scratch
from torch_geometric.data import Batch

from agents.kernel.columns import ColumnProcess, KernelColumns
from agents.kernel.kernels import encode_network
from agents.kernel.settings import KernelSettings, SubtreeSettings
from agents.kernel.subtrees import encode_subtrees

FEATURES = np.random.default_rng(0).normal(size=(12, 5))
KERNEL = FEATURES @ FEATURES.T / 5  # singular: rank 5 on 12 graphs


def columns(asked=None):
    kernel = torch.tensor(KERNEL)

    def rows(slots):
        if asked is not None:
            asked.extend(slots.tolist())
        return kernel[slots]

    return KernelColumns(SimpleNamespace(rows=rows, diagonal=kernel.diagonal))


def observe(length):
    rng = np.random.default_rng(1)
    actions = rng.integers(0, 10, length)  # two graphs are never played
    return actions, rng.normal(size=length)


@pytest.mark.parametrize("noise", [1e-4, 0.1, 10.0])
def test_posterior_equals_one_solve_with_all_observations(noise):
    actions, rewards = observe(60)
    process = ColumnProcess(columns(), 2.0, noise)
    for action, reward in zip(actions, rewards, strict=True):
        process.add(int(action), float(reward))
    mean, covariance = from_scratch(2 * KERNEL, noise, actions, rewards)
    np.testing.assert_allclose(process.mean, mean, atol=1e-8)
    np.testing.assert_allclose(process.variance, np.diag(covariance), atol=1e-8)


def test_the_mean_of_many_rewards_tells_what_they_tell_one_by_one():
    at_once, one_by_one = (ColumnProcess(columns(), 1.0, 0.1) for _ in range(2))
    at_once.add(3, 2.0, count=4)
    for reward in (1.0, 3.0, 2.5, 1.5):
        one_by_one.add(3, reward)
    torch.testing.assert_close(at_once.mean, one_by_one.mean)
    torch.testing.assert_close(at_once.variance, one_by_one.variance)


def test_a_column_is_computed_once():
    asked = []
    kernel = columns(asked)
    for process in (ColumnProcess(kernel, 1.0, 0.1), ColumnProcess(kernel, 3.0, 0.1)):
        for action in (2, 5, 2):
            process.add(action, 1.0)
    np.testing.assert_array_equal(kernel.among(torch.tensor([5, 2])), KERNEL[[5, 2]][:, [5, 2]])
    assert asked == [2, 5]


def test_a_copy_goes_on_by_itself():
    process = ColumnProcess(columns(), 1.0, 0.1)
    process.add(1, 1.0)
    other, before = process.copy(), process.mean
    other.add(2, 5.0)
    assert torch.equal(process.mean, before)
    assert not torch.equal(other.mean, before)


def test_a_process_with_the_state_of_another_goes_on_to_the_last_bit():
    process, other = (ColumnProcess(columns(), 1.0, 0.1) for _ in range(2))
    for action in (3, 1, 3):
        process.add(action, 0.5 * action)
    other.load_state_dict(process.state_dict())
    for each in (process, other):
        each.add(7, -1.0)
    assert torch.equal(process.mean, other.mean)
    assert torch.equal(process.variance, other.variance)


@pytest.mark.parametrize("settings", [KernelSettings(), KernelSettings(kernel="empirical", width=8), SubtreeSettings()])
def test_the_diagonal_is_that_of_the_whole_kernel(settings):
    batch = Batch.from_data_list(ragged_graphs(sizes=(5, 1, 7, 3, 2, 4, 6, 2, 9)))
    encode = encode_subtrees if isinstance(settings, SubtreeSettings) else encode_network
    graphs = encode(settings, batch, seed=0)
    torch.testing.assert_close(graphs.diagonal(), graphs.rows().diagonal())
    slots = torch.tensor([4, 0])
    torch.testing.assert_close(graphs.rows(slots), graphs.rows()[slots])
