"""The example of an agent in a separate package, installed as a user would install it."""

import importlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from support import ROOT

import registry

EXAMPLE = ROOT / "examples" / "third_party_agent"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with nothing but the installed package."""
    source = tmp_path_factory.mktemp("package") / "source"  # a copy, for a build leaves files next to the sources
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    folder = tmp_path_factory.mktemp("installed")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    done = subprocess.run([*install, "--target", str(folder), str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def in_a_new_process(installed, folder, code):
    """Run `code` where the package is installed and these sources are found first; return what it leaves in `found`."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"found = {{}}\n{code}\nimport json; print(json.dumps(found))"],
        cwd=folder,
        env={"PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_installing_it_is_all_that_its_name_needs(installed, tmp_path):
    code = """
import sys
import registry
found["listed"] = "knn-ucb" in registry.list_agents() and "graph_bandit_knn" not in sys.modules
found["smoothness"] = registry.make_agent("knn-ucb", smoothness=2).settings.smoothness
from graph_bandit_cli.main import main
from graph_bandit_lab import load_results
tiny = "--num-graphs 30 --num-nodes 10 --horizon 100 --repetitions 2 --seed 0 --out here".split()
found["codes"] = [main(["run", "--agents", agent, "random", *tiny]) for agent in ("knn-ucb:smothness=2", "knn-ucb")]
found["regret"] = load_results("here").groupby("label")["total_regret"].mean().to_dict()
"""
    found = in_a_new_process(installed, tmp_path, code)
    assert (found["listed"], found["smoothness"], found["codes"]) == (True, 2.0, [1, 0])
    assert found["regret"]["knn-ucb"] < 0.25 * found["regret"]["random"]


@pytest.fixture
def knn(installed, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))
    return importlib.import_module("graph_bandit_knn")


def test_it_satisfies_the_protocol_and_asks_for_a_reset(knn):
    registry.check_agent(knn.knn_ucb)
    with pytest.raises(RuntimeError, match="reset"):
        knn.knn_ucb().select_action(None)
