import pytest

from agents.process import KernelSettings
from agents.process.results import Learnt


@pytest.mark.parametrize(
    ("forget", "expected"),
    [
        (None, [1, 2, 4, 8, 16, 32, 64]),
        (12, [1, 2, 4, 8, 16, 28, 40, 52, 64]),
        (0.95, [1, 2, 4, 8, 16, 32, 52]),
        (1, list(range(1, 65))),
    ],
)
def test_weights_are_learnt_at_powers_of_two_and_once_all_that_is_remembered_is_new(forget, expected):
    settings, learnt, rounds = KernelSettings(forget=forget), Learnt((), 0.1), []
    for told in range(1, 65):
        if learnt.is_due(told, settings):
            rounds, learnt = [*rounds, told], Learnt((), 0.1, told)
    assert rounds == expected
