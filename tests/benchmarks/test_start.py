"""The time to the first line of `suggest`."""

import sys

import pytest

from benchmarks.start import rows, suggest_command, time_start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no terminals of this kind")


@pytest.mark.slow
def test_the_first_line_and_the_end_of_a_command_are_timed():
    first, whole, ratio = rows(repetitions=1)
    assert 0 < first.value < whole.value
    assert (first.asked, whole.asked) == ("at most 1.5", "at most 3")
    assert "modules are imported" in whole.detail
    assert ratio.value > 0


def test_a_command_that_fails_is_no_measurement(tmp_path):
    arguments = suggest_command(tmp_path)
    with pytest.raises(RuntimeError, match="Expected"):
        time_start([sys.executable, "-m", "graph_bandit_cli", *arguments, "--most-atoms", "0"])
