import numpy as np
import pytest

from agents import LARGEST_REWARD
from graph_bandit_campaign.checks import check_noise, check_value, nearest_id

IDS = ("LX-03999", "LX-04000", "aspirin", "Caffeine")


@pytest.mark.parametrize(
    ("identifier", "meant"),
    [
        ("LX-99999", ""),  # alike, but another number
        ("LX-3999", "LX-03999"),
        ("lx_04000", "LX-04000"),
        ("LX-O3999", "LX-03999"),
        ("aspirine", "aspirin"),
        ("caffeine", "Caffeine"),
        ("water", ""),
    ],
)
def test_offers_an_id_that_may_be_meant_and_no_other_number(identifier, meant):
    assert nearest_id(identifier, IDS) == meant


@pytest.mark.parametrize("noise", [1e-9, 0.5, 1, np.float32(0.25), np.int64(2), LARGEST_REWARD])
def test_a_noise_is_any_number_above_zero_that_can_be_computed_with(noise):
    assert check_noise("a", noise) == float(noise)
    assert check_noise("a", None) is None


@pytest.mark.parametrize("noise", [0, -1e-9, float("nan"), 2 * LARGEST_REWARD, True, "1"])
def test_another_noise_is_refused(noise):
    with pytest.raises(ValueError, match="Expected the noise of `a` to be a standard deviation above 0"):
        check_noise("a", noise)


def test_a_bound_has_no_noise():
    assert check_noise("a", None, ">") is None
    with pytest.raises(ValueError, match="is a bound"):
        check_noise("a", 0.1, ">")


@pytest.mark.parametrize("value", [0, -1.5, np.float32(0.25), np.int64(-2), LARGEST_REWARD, -LARGEST_REWARD])
def test_a_value_is_any_number_that_can_be_computed_with(value):
    assert check_value("a", value) == float(value)


@pytest.mark.parametrize("value", [float("nan"), np.float32("inf"), 2 * LARGEST_REWARD, 10**400, True, "1"])
def test_another_value_is_refused(value):
    with pytest.raises(ValueError, match="Expected a finite number for `a`"):
        check_value("a", value)
