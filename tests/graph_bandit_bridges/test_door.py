"""The door of the bridges opens without the libraries to which they lead."""

import subprocess
import sys

import pytest
from support import ROOT

WITHOUT_EXTRAS = """
from graph_bandit_env import extras
from graph_bandit_env.extras import MissingExtraError
extras.find_spec = lambda module: None
import graph_bandit_bridges
for name in graph_bandit_bridges.__all__:
    try:
        getattr(graph_bandit_bridges, name)
    except MissingExtraError as error:
        print(f"{name}: {error}")
"""


@pytest.mark.slow
def test_a_name_whose_library_is_not_installed_says_which_extra_brings_it():
    program = [sys.executable, "-c", WITHOUT_EXTRAS]
    done = subprocess.run(program, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    for name, extra in (("PoolSampler", "optuna"), ("PoolModel", "botorch"), ("GraphKernel", "sklearn")):
        assert any(line.startswith(f"{name}: ") and f"[{extra}]" in line for line in said)


def test_tests_of_heavy_libraries_are_run_in_an_environment_of_their_own():
    run = {word for word in (ROOT / "Makefile").read_text(encoding="utf-8").split() if word.startswith("tests/doors/")}
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/doors").glob("test_*.py")} == run
