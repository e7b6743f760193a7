import pytest

from graph_bandit_campaign.report.flagged import flag_values


def one_each(*values):
    return {f"m{k}": [value] for k, value in enumerate(values)}


def test_a_slip_is_far_from_all_others():
    """Of 9, 10, 10, 11, 12 and a larger value the median is 10.5, of these and a smaller one 10; the MAD is 1."""
    values = (9.0, 10.0, 10.0, 11.0, 12.0)
    assert flag_values(one_each(*values, 19.3)) == flag_values(one_each(*values, 1.3)) == ([], [])
    assert flag_values(one_each(*values, 19.5)) == flag_values(one_each(*values, 1.0)) == (["m5"], [])
    assert flag_values(one_each(*values[1:], 661.0)) == (["m4"], [])


def test_a_slip_is_farther_from_the_others_than_these_are_from_each_other():
    """Of 0, 0.1, ..., 1, 3 and a larger value the median is 0.6 and the MAD 0.3: 3 is not far, 5.5 and 6.5 are."""
    values = [*(k / 10 for k in range(11)), 3.0]
    assert flag_values(one_each(*values, 5.5))[0] == []
    assert flag_values(one_each(*values, 6.5))[0] == ["m12"]
    assert flag_values(one_each(*(-value for value in values), -6.5))[0] == ["m12"]


def test_two_slips_do_not_hide_each_other():
    assert flag_values(one_each(1.0, 2.0, 1.5, 2.2, 1.8, 2.4, 2250.0, 2251.0)) == (["m6", "m7"], [])


def test_values_over_decades_are_compared_by_their_logarithms():
    decades = [10.0**k for k in range(-3, 4)]
    assert flag_values(one_each(*decades)) == ([], [])
    assert flag_values(one_each(*decades, 1e25)) == (["m7"], [])
    twins = {**one_each(*decades), "twin": [100.0, 900.0], "other": [100.0, 1e12]}
    assert flag_values(twins)[1] == ["other"]


@pytest.mark.parametrize("values", [(1.0, 2.0, 1.5, 661.0), (1.0,) * 6, (1.0, 1.0, 1.0, 1.0, 9.0)])
def test_of_few_or_equal_values_nothing_is_said(values):
    assert flag_values(one_each(*values)) == ([], [])


def test_replicates_that_differ_like_different_molecules_are_named():
    """The deviation of 1, 2, 3, 4, 5 is 1.48, and twice as much 2.96."""
    values = {**one_each(1.0, 2.0, 3.0, 4.0), "near": [3.6, 6.4], "far": [1.4, 4.6]}
    assert flag_values(values) == ([], ["far"])
