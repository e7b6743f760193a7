import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gntk import effective_dimension


def test_counts_the_directions_of_a_projection():
    assert effective_dimension(np.diag([1.0, 1.0, 1.0, 0.0, 0.0]), 100, 0.1) == pytest.approx(3)


def test_equals_the_determinants_it_is_defined_by():
    features = np.random.default_rng(0).normal(size=(5, 3))
    kernel = features @ features.T
    expected = np.log(np.linalg.det(np.eye(5) + 200 * kernel / 0.5)) / np.log(1 + 200 * np.linalg.norm(kernel, 2) / 0.5)
    assert effective_dimension(kernel, 200, 0.5) == pytest.approx(expected)


@given(arrays(np.float64, (4, 2), elements=st.floats(-3, 3)), st.integers(1, 10**6), st.floats(1e-3, 1e3))
def test_lies_between_zero_and_the_rank(features, horizon, ridge):
    assert 0 <= effective_dimension(features @ features.T, horizon, ridge) <= 2 + 1e-6


def test_of_a_zero_kernel_is_zero():
    assert effective_dimension(np.zeros((3, 3))) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 3)),), r"shape `\(K, K\)`. Got `\(2, 3\)`"),
        ((np.array([[np.nan]]),), "1 entries that are not"),
        ((np.array([[-1.0]]),), "positive semi-definite"),
        ((np.array([[1.0, 5.0], [0.0, 1.0]]),), "symmetric"),
        ((np.eye(2), 0), "`horizon`"),
        ((np.eye(2), 10, 0.0), "`ridge`"),
        ((np.eye(2), 10, float("nan")), "`ridge`"),
    ],
)
def test_refuses_what_is_no_kernel(arguments, message):
    with pytest.raises(ValueError, match=message):
        effective_dimension(*arguments)
