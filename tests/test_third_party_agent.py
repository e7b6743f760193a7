"""The example of an agent in a separate package, installed as a user would install it."""

import json
import shutil
import subprocess
import sys

import pytest
from support import ROOT
from support.programs import run_program

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


def test_installing_it_is_all_that_its_name_needs(installed, tmp_path):
    code = """
import json, sys
import registry
found = {"listed": "knn-ucb" in registry.list_agents() and "graph_bandit_knn" not in sys.modules}
found["smoothness"] = registry.make_agent("knn-ucb", smoothness=2).settings.smoothness
import graph_bandit_knn
registry.check_agent(graph_bandit_knn.knn_ucb)
from graph_bandit_cli.main import main
from graph_bandit_lab import load_results
tiny = "--num-graphs 30 --num-nodes 10 --horizon 100 --repetitions 2 --seed 0 --out here".split()
found["codes"] = [main(["run", "--agents", agent, "random", *tiny]) for agent in ("knn-ucb:smothness=2", "knn-ucb")]
found["regret"] = load_results("here").groupby("label")["total_regret"].mean().to_dict()
print(json.dumps(found))
"""
    (tmp_path / "try.py").write_text(code)
    done = run_program(tmp_path / "try.py", cwd=tmp_path, path=installed)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["listed"], found["smoothness"], found["codes"]) == (True, 2.0, [1, 0])
    assert found["regret"]["knn-ucb"] < 0.25 * found["regret"]["random"]
