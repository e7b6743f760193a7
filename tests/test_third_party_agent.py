"""The example of an agent in a separate package, installed as a user would install it."""

import importlib
import json
import os
import shutil
import subprocess
import sys

import numpy as np
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


def upper_bound(agent):
    belief = agent.belief()
    return belief.mean + belief.spread


class Graphs:
    def __init__(self, graphs):
        self.to_pyg = lambda: graphs


def index_by_the_letter(graphs, actions, rewards, nu, smoothness):  # loops over graphs and neighbours, in NumPy
    rows = []
    for graph in graphs:
        nodes = graph.x.double().numpy()
        neighbours = np.zeros_like(nodes)
        for source, target in graph.edge_index.T.tolist():
            neighbours[target] += nodes[source]
        rows.append([*nodes.mean(0), *neighbours.mean(0)])
    features = (rows - np.mean(rows, 0)) / np.std(rows, 0)
    distances = np.array([[np.sqrt(np.mean((a - b) ** 2) / 2) for b in features] for a in features])
    played = sorted(set(actions))
    scale = np.std([np.mean([y for a, y in zip(actions, rewards, strict=True) if a == g]) for g in played])
    index = []
    for row in distances:
        bounds = []
        for radius in sorted(row):
            near = [y for a, y in zip(actions, rewards, strict=True) if row[a] <= radius]
            if near:
                width = nu * np.sqrt(np.log(1 + len(actions)) / len(near)) + smoothness * radius
                bounds.append((width, np.mean(near) + scale * width))
        index.append(min(bounds)[1])
    return index


@pytest.mark.parametrize(("nu", "smoothness"), [(0.1, 1.0), (1.0, 0.3), (0.0, 2.0)])
def test_its_index_is_what_the_formula_says(knn, graphs, nu, smoothness):
    actions, rewards = [2, 0, 2, 3, 2], [0.3, -1.0, 0.5, 2.0, 0.1]
    agent = knn.knn_ucb(exploration_scale=nu, smoothness=smoothness)
    agent.reset(None, graph_set=Graphs(graphs))
    agent.update(None, actions, rewards)
    expected = index_by_the_letter(graphs, actions, rewards, nu, smoothness)
    np.testing.assert_allclose(upper_bound(agent), expected, rtol=1e-12)


def test_it_satisfies_the_protocol_and_asks_for_a_reset(knn):
    registry.check_agent(knn.knn_ucb)
    with pytest.raises(RuntimeError, match="reset"):
        knn.knn_ucb().select_action(None)
