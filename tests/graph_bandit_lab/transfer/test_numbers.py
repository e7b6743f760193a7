import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graph_bandit_lab.transfer.numbers import (
    find_changes,
    from_planes,
    from_residuals,
    to_changes,
    to_planes,
    to_residuals,
)

SIZES = st.integers(0, 20)
BITS = SIZES.flatmap(lambda n: arrays(np.uint64, n, elements=st.integers(0, 2**64 - 1)))


def bits_of(*values):
    return np.array(values, np.float64).view(np.uint64)


@given(BITS)
def test_planes_come_back(bits):
    assert from_planes(to_planes(bits)).tolist() == bits.tolist()


@pytest.mark.parametrize(("largest", "planes"), [(0, 0), (255, 1), (256, 2), (2**64 - 1, 8)])
def test_there_are_as_many_planes_as_the_largest_number_has_bytes(largest, planes):
    assert to_planes(np.array([0, largest], np.uint64)).shape == (planes, 2)


@given(SIZES.flatmap(lambda n: st.tuples(*(arrays(np.uint64, n, elements=st.integers(0, k)) for k in (2, 3)))))
def test_changes_come_back_in_any_context(columns):
    bits, context = columns[0], columns[1].astype(np.int64)
    flags, values = to_changes(bits, context)
    places, count = find_changes(flags, context)
    assert count == len(values)
    assert values[places].tolist() == bits.tolist()


def test_only_changes_are_kept():
    _, values = to_changes(np.array([7, 9, 7, 9, 7, 8], np.uint64), np.array([0, 1, 0, 1, 0, 1]))
    assert values.tolist() == [7, 9, 8]


@given(
    BITS.flatmap(
        lambda bits: st.tuples(st.just(bits), arrays(np.uint64, len(bits), elements=st.integers(0, 2**64 - 1)))
    )
)
def test_residuals_come_back_whatever_was_predicted(both):
    """NaNs of any kind, infinities and both zeros among them."""
    bits, predicted = both[0], both[1].view(np.float64)
    assert from_residuals(to_residuals(bits, predicted), predicted).tolist() == bits.tolist()


def test_residuals_count_the_floats_between():
    above = np.nextafter(1.5, 2)
    near = to_residuals(bits_of(above, 1.5, np.nextafter(above, 2), 0.0), np.array([1.5, above, 1.5, 0.0]))
    assert near.tolist() == [2, 1, 4, 0]


def test_residuals_count_the_floats_between_a_number_and_its_prediction():
    """Also across zero: the float below 0.0 is -0.0, and then comes the smallest negative number."""
    tiny = np.nextafter(0.0, 1.0)
    predicted = np.array([1.0, 1.0, 1.0, -1.0, 0.0, 0.0, -tiny])
    numbers = [1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), np.nextafter(-1.0, 0), tiny, -tiny, tiny]
    expected = [0, 2, 1, 2, 2, 3, 6]
    assert to_residuals(bits_of(*numbers), predicted).tolist() == expected
    assert from_residuals(np.array(expected, np.uint64), predicted).tolist() == bits_of(*numbers).tolist()
