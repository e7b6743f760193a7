"""The times of the server, measured on a pool so small that they say nothing: what counts is that they can be."""

import pytest

from benchmarks.speed.serve import rows


@pytest.mark.slow
def test_the_server_is_timed_and_writes_what_the_command_writes():
    measured = rows(molecules=60, own=4, pairs=1)
    assert [row.unit for row in measured] == ["s", "s", "s", "", "s", "s", "GB"]
    assert all(row.value > 0 for row in measured)
