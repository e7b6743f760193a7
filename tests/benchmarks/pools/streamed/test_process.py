"""Processes that are measured: what they print, what they cost, and how they end."""

import pytest

from benchmarks.pools.streamed.process import measure


def test_a_process_is_timed_and_its_memory_is_seen(capfd):
    cost = measure("-c", "import time; kept = bytearray(60_000_000); print('made'); time.sleep(1)")
    assert capfd.readouterr() == ("", "made\n")
    assert cost.seconds >= 1
    assert 0 < cost.cpu < cost.seconds + 1
    assert min(cost.peak, cost.memory) > 6e7


def test_a_process_that_fails_is_no_measurement():
    with pytest.raises(RuntimeError, match="failed"):
        measure("-c", "raise SystemExit(3)")


def test_a_process_is_killed_when_it_is_told_to_stop():
    assert measure("-c", "import time; time.sleep(100)", stop=lambda: True).seconds < 50
