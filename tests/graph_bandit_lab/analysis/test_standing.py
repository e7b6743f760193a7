"""How far a sweep is: counts, pace and the time left, by a clock of the test."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from graph_bandit_lab.analysis import stand
from graph_bandit_lab.storage import Snapshot
from graph_bandit_lab.storage.following import StoredRepetition
from graph_bandit_lab.storage.sweeps import PlannedCell, StoredPlan

START = datetime(2026, 1, 1, tzinfo=UTC)
ENVIRONMENTS = tuple(
    {"graph_model": "er", "edge_prob": 0.4, "num_graphs": size, "num_nodes": 5, "reward_model": "linear", "horizon": 9}
    for size in (10, 20)
)
CELLS = tuple(
    PlannedCell(f"{label}{index}", label, index, frozenset({1, 2})) for index in (0, 1) for label in ("fast", "slow")
)


PLAN = StoredPlan("two sizes", START, None, ENVIRONMENTS, CELLS)


def repetition(place="fast0", seed=1, second=10.0, wall_time=2.0, status="finished"):
    environment = ENVIRONMENTS[int(place[-1])]
    created = START + timedelta(seconds=second)
    return StoredRepetition(place, seed, place[:-1], environment, status, 5.0, 9, wall_time, wall_time, created)


def standing(*repetitions, second=60.0, driven=True, plan=PLAN, damaged=0):
    return stand(Snapshot(driven, plan, repetitions, damaged), START + timedelta(seconds=second))


def test_counts_are_those_of_the_plan():
    found = standing(repetition(), repetition("slow0", status="failed"), repetition(seed=3), repetition("other0"))
    assert (found.title, found.planned, found.done, found.failed, found.elsewhere) == ("two sizes", 8, 2, 1, 2)
    assert [(block.name, dict(block.planned), len(block.repetitions)) for block in found.blocks] == [
        ("K = 10", {"fast": 2, "slow": 2}, 2),
        ("K = 20", {"fast": 2, "slow": 2}, 0),
    ]


def test_the_pace_counts_what_was_played_since_the_beginning():
    found = standing(repetition(second=-3600.0), repetition(seed=2), repetition("slow0", second=50.0))
    assert found.per_minute == 2.0  # two in the first minute
    assert found.seconds_since_last == 10.0


def test_the_rest_takes_as_long_as_equal_settings_did_then_the_agent_then_any():
    """In 60 s, 30 s of play: half a repetition at a time."""
    found = standing(repetition("fast0", 1, wall_time=4.0), repetition("slow0", 1, wall_time=26.0))
    assert found.seconds_left == pytest.approx((4 + 26 + 2 * 4 + 2 * 26) / 0.5)
    found = standing(repetition("fast0", 1, wall_time=30.0))
    assert found.seconds_left == pytest.approx(7 * 30 / 0.5)


def test_nothing_is_told_of_the_pace_before_the_first_repetition():
    found = standing(second=7.0)
    assert found.state == "played"
    assert math.isnan(found.per_minute)
    assert math.isnan(found.seconds_left)
    assert found.seconds_since_last == 7.0


@pytest.mark.parametrize(
    ("driven", "stored", "state"),
    [
        (True, PLAN, "played"),
        (False, PLAN, "stopped"),
        (False, replace(PLAN, ended=START), "finished"),
        (True, replace(PLAN, ended=START), "begun"),  # another process, which is not ready yet
        (True, None, "begun"),
        (False, None, "unknown"),
        (None, PLAN, "played"),  # whose lock may not be opened
        (None, replace(PLAN, ended=START), "finished"),
    ],
)
def test_the_lock_and_the_plan_tell_whether_it_is_played(driven, stored, state):
    assert standing(driven=driven, plan=stored).state == state


def test_when_it_is_over_the_pace_is_that_of_its_time():
    found = standing(repetition(), second=9e9, driven=False, plan=replace(PLAN, ended=START + timedelta(seconds=30)))
    assert found.per_minute == 2.0
    assert math.isnan(found.seconds_left)


def test_without_a_plan_there_is_what_is_stored():
    found = standing(repetition(), repetition("slow1"), plan=None)
    assert (found.planned, found.done, found.elsewhere) == (None, 2, 0)
    assert [(block.name, dict(block.planned)) for block in found.blocks] == [("K = 10", {}), ("K = 20", {})]
    assert math.isnan(found.per_minute)


def test_a_clock_that_is_behind_makes_no_negative_times():
    assert standing(repetition(second=100.0), second=60.0).seconds_since_last == 0.0
