import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gntk import effective_dimension, information_gain, rkhs_norm


def test_equals_the_determinants_it_is_defined_by():
    features = np.random.default_rng(0).normal(size=(5, 3))
    kernel = features @ features.T
    expected = np.log(np.linalg.det(np.eye(5) + 200 * kernel / 0.5)) / np.log(1 + 200 * np.linalg.norm(kernel, 2) / 0.5)
    assert effective_dimension(kernel, 200, 0.5) == pytest.approx(expected)


@given(arrays(np.float64, (4, 2), elements=st.floats(-3, 3)), st.integers(1, 10**6), st.floats(1e-3, 1e3))
def test_lies_between_zero_and_the_rank(features, horizon, ridge):
    kernel = features @ features.T
    rounding = 16 * np.finfo(np.float64).eps * np.trace(kernel)  # of eigenvalues that should be 0
    assert 0 <= effective_dimension(kernel, horizon, ridge) <= 2 + 1e-12 + horizon / ridge * rounding


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        *(((kernel,), "`kernel`") for kernel in (np.zeros((2, 3)), [[np.nan]], [[-1.0]], [[1.0, 5.0], [0.0, 1.0]])),
        *(((np.eye(2), horizon), "`horizon`") for horizon in (0, float("inf"))),
        *(((np.eye(2), 10, ridge), "`ridge`") for ridge in (0.0, float("nan"), float("inf"))),
        ((np.diag([1e6, -1.1]),), "`kernel`"),
    ],
)
def test_refuses_what_is_no_kernel(arguments, field):
    with pytest.raises(ValueError, match=field):
        effective_dimension(*arguments)


def test_information_adds_up_over_rounds():
    """Chain rule: each reward tells (1/2) log(1 + variance / ridge), the variance shrunk by those before."""
    features, posterior, expected = np.random.default_rng(0).normal(size=(7, 3)), np.eye(3), 0.0
    for psi in features:
        variance = psi @ posterior @ psi
        expected += 0.5 * np.log1p(variance / 0.3)
        posterior -= np.outer(posterior @ psi, posterior @ psi) / (0.3 + variance)
    assert information_gain(features @ features.T, 0.3) == pytest.approx(expected, rel=1e-10)


@given(arrays(np.float64, (5, 2), elements=st.floats(-3, 3)), st.floats(1e-3, 1e3))
def test_one_more_round_never_loses_information(psi, ridge):
    before = information_gain(psi[:4] @ psi[:4].T, ridge)
    assert information_gain(psi @ psi.T, ridge) >= before - 1e-8


def test_norm_of_a_linear_function_is_that_of_its_weights():
    features = np.random.default_rng(0).normal(size=(8, 3))
    weights = np.array([1.0, -2.0, 0.5])
    assert rkhs_norm(features @ features.T, features @ weights) == pytest.approx(np.linalg.norm(weights), rel=1e-6)


@pytest.mark.parametrize("asymmetry", [0.9e-8, 0.9e-5 * 3])
def test_rounding_errors_of_a_kernel_are_no_reason_to_refuse_it(asymmetry):
    """Entries off the diagonal may differ by 1e-8, or by 1e-5 of what they are; eigenvalues by 1e-6 of the largest."""
    entry = 3.0 if asymmetry > 1e-8 else 0.0
    kernel = np.array([[10.0, entry + asymmetry], [entry, 10.0]])
    assert information_gain(kernel, 1.0) == pytest.approx(information_gain((kernel + kernel.T) / 2, 1.0), rel=1e-4)
    kernel[0, 1] += asymmetry
    with pytest.raises(ValueError, match="symmetric"):
        information_gain(kernel, 1.0)
    assert information_gain(np.diag([1e6, -0.9]), 1.0) == pytest.approx(np.log1p(1e6) / 2)


def test_a_cutoff_leaves_out_eigenvalues_below_that_part_of_the_largest():
    kernel, means = np.diag([0.4, 0.1, 0.025]), [2.0, 1.0, 0.5]  # a square of 10 in each direction
    norms = [rkhs_norm(kernel, means, cutoff) for cutoff in (0.0, 0.1, 0.3)]
    assert norms == pytest.approx([30**0.5, 20**0.5, 10**0.5])


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: information_gain(np.zeros((2, 3)), 1.0), "`kernel`"),
        (lambda: information_gain(np.eye(2), 0.0), "`ridge`"),
        (lambda: rkhs_norm(np.eye(2), [1.0]), "`means`"),
        (lambda: rkhs_norm(np.eye(2), [np.inf, np.nan]), "`means`"),
        (lambda: rkhs_norm(np.eye(2), [1.0, 1.0], cutoff=1.0), "`cutoff`"),
    ],
)
def test_refuses_what_has_no_information_or_norm(call, field):
    with pytest.raises(ValueError, match=field):
        call()
