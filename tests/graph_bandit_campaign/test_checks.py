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


NUMBERS = [0.5, 1, np.float32(0.25), np.int64(2), LARGEST_REWARD]


@pytest.mark.parametrize("number", NUMBERS)
def test_values_and_noises_are_numbers_that_can_be_computed_with(number):
    assert check_noise("a", number) == check_value("a", number) == -check_value("a", -number) == float(number)
    assert check_noise("a", None) is None


@pytest.mark.parametrize("number", [float("nan"), np.float32("inf"), 2 * LARGEST_REWARD, 10**400, True, "1", 0, -1e-9])
def test_others_are_refused_and_a_noise_is_above_zero_and_of_no_bound(number):
    with pytest.raises(ValueError, match="`a`"):
        check_noise("a", number)
    if number not in (0, -1e-9):
        with pytest.raises(ValueError, match="`a`"):
            check_value("a", number)
    with pytest.raises(ValueError, match="`a`"):
        check_noise("a", 0.1, ">")
