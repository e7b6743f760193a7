import itertools
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import pytest
import torch
from hypothesis import settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyG scripts a class with torch.jit when it is imported
    import torch_geometric.nn  # noqa: F401
import support.preloaded  # noqa: F401
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

import registry

torch.set_num_threads(1)
CACHES = Path(tempfile.mkdtemp(prefix="graph-bandit-tests-"))
os.environ["GRAPH_BANDIT_CACHE"] = str(CACHES / "session")  # and of each process that a test starts
NUMBERS = itertools.count()
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("repeatable")


SLOW = (
    "tests/graph_bandit_campaign/command/test_crashes.py",
    "tests/graph_bandit_campaign/pool/prepared/making/test_cluster.py",
    "tests/graph_bandit_campaign/pool/prepared/making/test_interruptions.py",
    "tests/graph_bandit_serve/test_kills.py",
    "tests/graph_bandit_serve/test_browser.py",
    "tests/test_docs.py",
    "tests/test_examples.py",
    "tests/test_gallery.py",
    "tests/test_notebooks.py",
    "tests/test_packaging.py",
    "tests/test_third_party_agent.py",
)
"""Files that `make test` leaves to `make test-all`, beside tests that carry the marker."""


def pytest_ignore_collect(collection_path, config):
    """Import no file in vain whose tests are all slow."""
    if config.option.markexpr == "not slow":
        return any(collection_path == config.rootpath / place for place in SLOW) or None
    return None


@pytest.hookimpl(tryfirst=True)  # before the plugin that leaves out what is marked
def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")


def pytest_unconfigure():
    shutil.rmtree(CACHES, ignore_errors=True)


@pytest.fixture(autouse=True)
def cache_folder():
    """The cache folder of one test, which is not there yet."""
    before, folder = os.environ["GRAPH_BANDIT_CACHE"], CACHES / str(next(NUMBERS))
    os.environ["GRAPH_BANDIT_CACHE"] = str(folder)
    yield folder
    os.environ["GRAPH_BANDIT_CACHE"] = before


@pytest.fixture
def graphs():
    return ragged_graphs()


@pytest.fixture
def batch(graphs):
    return Batch.from_data_list(graphs)


@pytest.fixture
def small_env():
    """Six small graphs, so that an agent plays fifty rounds in a second."""

    def make(**changes):
        return registry.make_environment(
            **{"num_graphs": 6, "num_nodes": 5, "feature_dim": 3, "horizon": 30, **changes}
        )

    return make
