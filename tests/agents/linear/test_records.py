import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.linear.records import DiscountedRecord, WindowRecord, make_record

RNG = np.random.default_rng(0)
FEATURES = np.column_stack([RNG.normal(size=(30, 4)), np.ones(30)])
REWARDS = FEATURES @ RNG.normal(size=5) + 0.3 * RNG.normal(size=30) + 2


def told(record, start=0, stop=30, at_once=1):
    for first in range(start, stop, at_once):
        rows = slice(first, min(first + at_once, stop))
        record.add(torch.tensor(FEATURES[rows]), torch.tensor(REWARDS[rows]))
    return record


def check(record, weights):
    """Compare with sums over all rewards, in units of them."""
    targets, rows = (REWARDS[: len(weights)] - 0.5) / 3, FEATURES[: len(weights)]
    sums = record.sums.standardised(0.5, 3.0)
    np.testing.assert_allclose(sums.gram, rows.T @ (weights[:, None] * rows), atol=1e-10)
    np.testing.assert_allclose(sums.products, rows.T @ (weights * targets), atol=1e-10)
    assert sums.squares == pytest.approx(weights @ targets**2)
    assert sums.rounds == pytest.approx(weights.sum())
    mean = np.average(REWARDS[: len(weights)], weights=weights)
    variance = np.average((REWARDS[: len(weights)] - mean) ** 2, weights=weights)
    assert record.sums.location_and_unit() == pytest.approx((mean, variance**0.5 or 1.0))


@given(st.integers(1, 30), st.floats(0.3, 0.999), st.sampled_from([1, 4, 30]))
def test_a_reward_told_d_rewards_ago_has_the_discount_to_the_power_of_d_as_weight(count, discount, at_once):
    record = told(DiscountedRecord(5, discount), stop=count, at_once=at_once)
    check(record, discount ** np.arange(count)[::-1])
    assert record.told == count


@given(st.integers(1, 30), st.integers(1, 35), st.sampled_from([1, 4, 30]))
def test_a_window_has_the_sums_of_the_last_rewards(count, length, at_once):
    record = told(WindowRecord(5, length), stop=count, at_once=at_once)
    check(record, (np.arange(count) >= count - length).astype(float))
    assert record.told == count


def test_what_leaves_a_window_leaves_no_rounding_errors():
    record = WindowRecord(5, 30)
    record.add(torch.tensor(1e8 * FEATURES), torch.tensor(1e12 * REWARDS))
    check(told(record), np.ones(30))


def test_rewards_that_drift_far_from_the_first_lose_no_digits():
    record = DiscountedRecord(5, 0.5)
    for level in (0.0, 1e7, 1e10):
        for _ in range(3):
            record.add(torch.tensor(FEATURES), torch.tensor(REWARDS + level))
            record.count_from(record.sums.location_and_unit()[0])
    weights = 0.5 ** np.arange(30)[::-1]
    mean = np.average(REWARDS, weights=weights)
    location, unit = record.sums.location_and_unit()
    assert location - 1e10 == pytest.approx(mean, abs=1e-5)
    assert unit == pytest.approx(np.average((REWARDS - mean) ** 2, weights=weights) ** 0.5, rel=1e-4)


@pytest.mark.parametrize("forget", [None, 7, 0.8])
def test_a_restored_record_goes_on_as_the_one_it_was(forget):
    record, twin = told(make_record(5, forget), stop=20), make_record(5, forget)
    twin.restore(record.state())
    for one in (record, twin):
        told(one, 20, 30)
    assert torch.equal(record.sums.gram, twin.sums.gram)
    assert torch.equal(record.sums.products, twin.sums.products)
    assert (record.sums.squares, record.sums.origin, record.told) == (twin.sums.squares, twin.sums.origin, 30)
    assert twin.told == 30


@pytest.mark.parametrize(
    "changes",
    [{"features": torch.ones(6, 5)}, {"rewards": torch.ones(8)}, {"told": 3}],
)
def test_a_window_of_another_length_is_refused(changes):
    state = told(WindowRecord(5, 7)).state()
    with pytest.raises(ValueError, match="Expected features and rewards of the last [37] rounds"):
        WindowRecord(5, 7).restore({**state, **changes})
