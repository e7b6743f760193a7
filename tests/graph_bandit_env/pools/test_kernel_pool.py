"""Pools of which only a kernel is known."""

import numpy as np
import pytest

from graph_bandit_env.files import digest
from graph_bandit_env.pools import KernelPool

PLACES = np.linspace(0, 10, 40)
KERNEL = np.exp(-((PLACES[:, None] - PLACES) ** 2))
VALUES = np.sin(PLACES) + PLACES / 10


def test_some_of_it_have_their_part_of_the_kernel():
    some = KernelPool(KERNEL, targets=VALUES).take([7, 3])
    assert some.ids == ("7", "3")
    assert (some.kernel == KERNEL[np.ix_([7, 3], [7, 3])]).all()
    assert (some.targets == VALUES[[7, 3]]).all()


@pytest.mark.parametrize("kernel", [KERNEL[:3], KERNEL[0], np.full((2, 2), np.nan)])
def test_what_is_not_a_square_of_numbers_is_refused(kernel):
    with pytest.raises(ValueError, match="kernel"):
        KernelPool(kernel)


def test_other_kernels_have_other_digests():
    assert digest(KernelPool(KERNEL)) == digest(KernelPool(KERNEL.copy()))
    assert digest(KernelPool(KERNEL)) != digest(KernelPool(KERNEL**2))
