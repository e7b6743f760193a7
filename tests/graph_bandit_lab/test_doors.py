"""What the laboratory offers, and what a look at it costs."""

import importlib
import subprocess
import sys

import pytest

ROOMS = ("episodes", "design", "storage", "execution", "analysis", "reports", "logged", "board")
DOORS = ("graph_bandit_lab", *(f"graph_bandit_lab.{room}" for room in ROOMS))


@pytest.mark.parametrize("name", DOORS)
def test_a_door_has_what_it_lists_and_lists_what_it_has(name):
    door = importlib.import_module(name)
    assert len(door.__all__) <= 15
    assert set(door.__all__) <= set(dir(door))
    for public in door.__all__:
        assert getattr(door, public) is not None
    with pytest.raises(AttributeError):
        _ = door.no_such_name


def test_the_version_is_that_of_the_distribution():
    import importlib.metadata

    import graph_bandit_lab

    assert graph_bandit_lab.__version__ == importlib.metadata.version("graph-bandit-env")


def test_doors_import_nothing_until_they_are_asked():
    code = f"import sys, {', '.join(DOORS)}; sys.exit(any(n in sys.modules for n in ('numpy', 'pandas', 'torch')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_driver_imports_neither_matplotlib_nor_pandas_nor_torch():
    code = (
        "import sys; from graph_bandit_lab import run_sweep, run_experiment, Processes; "
        "sys.exit(any(name in sys.modules for name in ('matplotlib', 'pandas', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
