"""What the laboratory offers, and what a look at it costs."""

import importlib
import subprocess
import sys

import pytest

ROOMS = ("episodes", "design", "storage", "execution", "analysis", "reports", "logged")
CHEAP = ("graph_bandit_lab", *(f"graph_bandit_lab.{room}" for room in ROOMS[:4]))


@pytest.mark.parametrize("name", ["graph_bandit_lab", *(f"graph_bandit_lab.{room}" for room in ROOMS)])
def test_a_door_has_what_it_lists(name):
    door = importlib.import_module(name)
    assert all(getattr(door, public) is not None for public in door.__all__)


def test_what_plays_and_stores_is_imported_without_torch_pandas_and_matplotlib():
    code = (
        f"import sys, registry, {', '.join(CHEAP)}; from graph_bandit_lab import run_sweep, load_results, read_sweep; "
        "sys.exit(any(name in sys.modules for name in ('matplotlib', 'pandas', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
