from contextlib import closing

import pytest
from support.served import Served, write_campaign
from support.tooled import Tooled

from graph_bandit_serve.service import FUNCTIONS
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Jobs


@pytest.fixture(scope="session")
def jobs():
    """The jobs of all tests of a process: theirs take seconds to import what they need."""
    with closing(Jobs(ServerLimits(), FUNCTIONS)) as jobs:
        yield jobs


@pytest.fixture
def robot(tmp_path, jobs):
    """A program that works on an empty folder."""
    return Served(tmp_path, jobs=jobs)


@pytest.fixture
def served(tmp_path):
    """The application of a folder of one campaign."""
    write_campaign(tmp_path / "one.campaign.json")
    return Served(tmp_path)


@pytest.fixture
def tooled(tmp_path, jobs):
    """A model that works on the same folder as `robot` or `served`."""
    return Tooled(tmp_path, jobs)
