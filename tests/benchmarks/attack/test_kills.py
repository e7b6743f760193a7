"""`screen` is killed, and the next command leaves what a run without a kill leaves."""

import numpy as np
import pytest

from benchmarks.attack.kills import Kills, jobs

pytest.importorskip("rdkit")


def test_a_screen_that_is_killed_goes_on(tmp_path):
    (screen,) = (job for job in jobs(tmp_path) if job.arguments[0] == "screen")
    kill = Kills(screen, np.random.default_rng(0), tmp_path / "kills")
    assert kill.events > 20
    assert [attempt.fault for attempt in (kill(), kill(), kill())] == ["", "", ""]
