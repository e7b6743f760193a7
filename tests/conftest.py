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
    warnings.simplefilter("ignore", DeprecationWarning)  # PyG scripts a class with torch.jit when it is imported
    import torch_geometric.nn  # noqa: F401
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

import registry

torch.set_num_threads(1)
CACHES = Path(tempfile.mkdtemp(prefix="graph-bandit-tests-"))
os.environ["GRAPH_BANDIT_CACHE"] = str(CACHES / "session")  # and of each process that a test starts
NUMBERS = itertools.count()
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("repeatable")


SLOWEST_FIRST = (
    "tests/test_examples.py",
    "tests/graph_bandit_cli/research/test_sweep.py",
    "tests/graph_bandit_lab/execution/test_execute.py",
    "tests/test_packaging.py",
    "tests/benchmarks/",
    "tests/graph_bandit_env/rewards/",
    "tests/agents/neural/test_module_play.py",
    "tests/agents/molecule/",
    "tests/test_third_party_agent.py",
    "tests/test_docs.py",
)
"""Each file is one worker's (`--dist loadfile`): were a long one the last, the other workers would wait for it."""


def pytest_collection_modifyitems(items):
    def rank(item):
        return next((k for k, start in enumerate(SLOWEST_FIRST) if item.nodeid.startswith(start)), len(SLOWEST_FIRST))

    items.sort(key=rank)


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
