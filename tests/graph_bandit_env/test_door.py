"""The public names of `graph_bandit_env`, and the cost of importing it."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import graph_bandit_env

HEAVY = ("torch", "torch_geometric", "gntk", "rdkit", "matplotlib", "networkx", "pandas", "scipy", "numba")


def test_the_import_is_light():
    code = f"import sys, graph_bandit_env, graph_bandit_env.wrappers.vector; print({HEAVY!r} & sys.modules.keys())"
    code = code.replace(repr(HEAVY), f"set({HEAVY!r})")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_all_of_it_is_there():
    assert len(graph_bandit_env.__all__) <= 15
    for name in graph_bandit_env.__all__:
        assert getattr(graph_bandit_env, name) is not None


def test_it_tells_its_version():
    assert graph_bandit_env.__version__ == version("graph-bandit-env")


@pytest.mark.parametrize(
    "room", ["bandit", "files", "graphs", "pools", "rendering", "rewards", "wrappers", "wrappers.vector"]
)
def test_each_room_says_what_it_holds_and_what_others_may_take(room):
    module = __import__(f"graph_bandit_env.{room}", fromlist=["__all__"])
    assert len(module.__doc__.splitlines()) == 1
    assert all(hasattr(module, name) for name in module.__all__)
