"""Calls are made in parallel, and a worker that dies costs its call alone, which is made once more."""

import os
from functools import partial

import pytest

from graph_bandit_campaign.streaming.work import results_of
from graph_bandit_lab.execution import InProcess, Processes


def square(number):
    return number**2


def die_once(folder, number):
    """End the process at the first call with 3."""
    mark = folder / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os._exit(1)
    return number**2


def die(number):
    os._exit(1)


@pytest.mark.parametrize("workers", [InProcess, partial(Processes, 2)])
def test_every_key_gets_its_result(workers):
    found = dict(results_of(workers, square, range(7), str))
    assert found == {number: number**2 for number in range(7)}


def test_a_worker_that_dies_costs_one_call_which_is_made_again(tmp_path):
    found = dict(results_of(partial(Processes, 2), partial(die_once, tmp_path), range(7), str))
    assert found == {number: number**2 for number in range(7)}


def test_two_deaths_at_one_call_are_an_error_that_names_it():
    with pytest.raises(ChildProcessError, match="part 5, perhaps for lack of memory"):
        list(results_of(partial(Processes, 1), die, [5], lambda key: f"part {key}"))


def test_an_error_of_the_call_is_raised():
    with pytest.raises(TypeError):
        list(results_of(InProcess, square, ["text"], str))
