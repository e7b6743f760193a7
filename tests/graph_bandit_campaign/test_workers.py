"""Calls are made in parallel, and a worker that dies costs its call alone, which is made once more."""

import os
from functools import partial

import pytest

from graph_bandit_campaign.workers import results_of
from graph_bandit_lab.execution import Processes


def die_once(folder, number):
    """End the process at the first call with 3."""
    mark = folder / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os._exit(1)
    return number**2


def die(number):
    os._exit(1)


@pytest.mark.slow
def test_a_worker_that_dies_costs_one_call_which_is_made_again(tmp_path):
    call, numbers = partial(die_once, tmp_path), ((number,) for number in range(7))
    found = sorted(results_of(Processes(2), call, numbers, str, "Kept."))
    assert found == [number**2 for number in range(7)]


@pytest.mark.slow
def test_two_deaths_at_one_call_are_an_error_that_names_it():
    with pytest.raises(ChildProcessError, match="part 5"):
        list(results_of(Processes(1), die, [(5,)], lambda number: f"part {number}", "Kept."))
