"""The time of `suggest` with another assay: both commands are played on small tables."""

import pytest

from benchmarks.speed.also import rows


@pytest.mark.slow
def test_both_commands_are_timed_on_equal_tables():
    ratio, alone, together = rows(molecules=60, own=8, others=20, pairs=1)
    assert ratio.value == together.value / alone.value
    assert alone.value > 0
    assert ratio.asked == "at most 3"
