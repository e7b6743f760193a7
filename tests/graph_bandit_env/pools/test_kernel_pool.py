"""Pools of which only a kernel is known."""

import numpy as np
import pytest

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_env.files import digest
from graph_bandit_env.pools import KernelPool

PLACES = np.linspace(0, 10, 40)
KERNEL = np.exp(-((PLACES[:, None] - PLACES) ** 2))
VALUES = np.sin(PLACES) + PLACES / 10


def test_it_keeps_its_own_copy_of_the_kernel():
    given = KERNEL.copy()
    pool = KernelPool(given, targets=VALUES)
    given[:] = 0
    assert (pool.kernel == KERNEL).all()
    with pytest.raises(ValueError, match="read-only"):
        pool.kernel[0, 0] = 2


def test_some_of_it_have_their_part_of_the_kernel():
    some = KernelPool(KERNEL, targets=VALUES).take([7, 3])
    assert some.ids == ("7", "3")
    assert (some.kernel == KERNEL[np.ix_([7, 3], [7, 3])]).all()
    assert (some.targets == VALUES[[7, 3]]).all()


@pytest.mark.parametrize("kernel", [KERNEL[:3], KERNEL[0], np.full((2, 2), np.nan)])
def test_what_is_not_a_square_of_numbers_is_refused(kernel):
    with pytest.raises(ValueError, match="finite kernel of shape"):
        KernelPool(kernel)


@pytest.mark.parametrize("kernel", [np.abs(PLACES[:, None] - PLACES), [[1, 0.5], [0.2, 1]]])
def test_distances_and_what_is_not_symmetric_are_refused(kernel):
    with pytest.raises(ValueError, match="symmetric kernel with a positive diagonal"):
        KernelPool(kernel)


def test_other_kernels_have_other_digests():
    assert digest(KernelPool(KERNEL)) == digest(KernelPool(KERNEL.copy()))
    assert digest(KernelPool(KERNEL)) != digest(KernelPool(KERNEL**2))


def test_a_campaign_predicts_by_the_kernel():
    campaign = Campaign(KernelPool(KERNEL), "gntk-ucb:kernel=custom,output_scale=1,standardize=false")
    for k in (3, 20, 33):
        campaign.tell(str(k), VALUES[k])
    told, seen = campaign.predict(), [3, 20, 33]
    noise = told["0"].noise_std ** 2
    means = KERNEL[:, seen] @ np.linalg.solve(KERNEL[np.ix_(seen, seen)] + noise * np.eye(3), VALUES[seen])
    np.testing.assert_allclose([guess.mean for guess in told.values()], means, atol=1e-6)


def test_an_agent_that_would_look_for_something_else_is_refused_and_one_that_looks_for_nothing_plays():
    with pytest.raises(ValueError, match="does not read the kernel of the pool"):
        Campaign(KernelPool(KERNEL), "gp-ucb")
    assert Campaign(KernelPool(KERNEL), "random").ask(1)


def test_a_kernel_with_negative_eigenvalues_is_refused_by_the_campaign():
    with pytest.raises(ValueError, match="positive semi-definite"):
        Campaign(KernelPool([[1, 2], [2, 1]]))


def test_several_goals_are_chosen_for_by_the_kernel():
    campaign = Campaign(KernelPool(KERNEL), goals=[Goal("high"), Goal("left", "minimize")])
    for _ in range(8):
        (asked,) = campaign.ask(1)
        campaign.tell(asked.id, VALUES[int(asked.id)], goal="high")
        campaign.tell(asked.id, PLACES[int(asked.id)], goal="left")
    assert campaign.ask(1)[0].by_goal["high"].mean is not None
