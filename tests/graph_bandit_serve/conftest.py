from contextlib import closing

import pytest
from support.robot import Robot

from graph_bandit_serve.service import OPERATIONS
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs


@pytest.fixture(scope="session")
def jobs():
    """The jobs of all tests of a process: theirs take seconds to import what they need."""
    with closing(Jobs(ServerLimits(), OPERATIONS)) as jobs:
        yield jobs


@pytest.fixture
def robot(tmp_path, jobs):
    """A program that works on an empty folder."""
    return Robot(tmp_path, jobs)
