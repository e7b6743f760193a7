"""A call at which workers die is named."""

import os

import pytest

from graph_bandit_campaign.workers import results_of


def die(number):
    os._exit(1)


@pytest.mark.slow
def test_two_deaths_at_one_call_are_an_error_that_names_it():
    with pytest.raises(ChildProcessError, match="part 5"):
        list(results_of(die, [(5,)], 1, "part {}", "Kept.", "parts", 1))
