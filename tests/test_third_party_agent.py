"""The example of an agent in a separate package, installed as a user would install it."""

import importlib
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from support import ROOT
from support.graphs import ragged_graphs

import registry
from agents.contract import Agent

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


@pytest.fixture(scope="module")
def in_python(installed, tmp_path_factory):
    code = """
import sys
import registry
found["listed"] = registry.list_agents()
found["imported by listing"] = "graph_bandit_knn" in sys.modules
found["needs"] = registry.agent_needs("knn-ucb")
found["module"] = sys.modules["graph_bandit_knn"].__file__
found["registry"] = registry.__file__
found["smoothness"] = registry.make_agent("knn-ucb", smoothness=2).settings.smoothness
found["refused"] = []
for settings in ({"smothness": 2}, {"smoothness": 0}, {"smoothness": "2"}, {"exploration_scale": float("nan")}):
    try:
        registry.make_agent("knn-ucb", **settings)
    except ValueError as error:
        found["refused"].append(str(error))
registry.check_agent(lambda: registry.make_agent("knn-ucb"))
found["checked"] = True
"""
    return in_a_new_process(installed, tmp_path_factory.mktemp("python"), code)


@pytest.fixture(scope="module")
def on_the_command_line(installed, tmp_path_factory):
    code = """
import contextlib, io
from graph_bandit_lab import load_results
from graph_bandit_cli.main import main

def run(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}

tiny = "--num-graphs 30 --num-nodes 10 --horizon 100 --repetitions 2 --seed 0 --out here".split()
found["agents"] = run("agents", "knn-ucb")
found["typo"] = run("run", "--agents", "knn-ucb:smothness=2", *tiny)
found["run"] = run("run", "--agents", "knn-ucb", "knn-ucb:smoothness=2", "random", *tiny)
results = load_results("here")
found["regret"] = results.groupby("label")["total_regret"].mean().to_dict()
found["stored settings"] = results["agent_settings"][0]
"""
    return in_a_new_process(installed, tmp_path_factory.mktemp("command"), code)


def test_installing_it_is_all_that_its_name_needs(installed, in_python):
    assert "knn-ucb" in in_python["listed"]
    assert in_python["module"] == str(installed / "graph_bandit_knn.py")
    assert in_python["registry"] == str(ROOT / "registry.py")


def test_its_name_is_listed_before_its_code_is_imported(in_python):
    assert in_python["imported by listing"] is False


def test_its_needs_and_settings_pass_through_the_registry(in_python):
    assert in_python["needs"] == "any"
    assert in_python["smoothness"] == 2.0


def test_it_says_what_it_refuses(in_python):
    assert in_python["refused"] == [
        "Unknown setting `smothness`. Did you mean `smoothness`? Settings: exploration_scale, smoothness.",
        "Expected `smoothness` to be positive. Got 0, which makes all graphs equally good.",
        "Expected `smoothness` to be finite and >= 0. Got '2'.",
        "Expected `exploration_scale` to be finite and >= 0. Got nan.",
    ]


def test_it_passes_the_conformance_kit_as_installed(in_python):
    assert in_python["checked"] is True


def test_the_command_plays_it_far_better_than_chance(on_the_command_line):
    assert on_the_command_line["run"]["code"] == 0
    regret = on_the_command_line["regret"]
    assert regret["knn-ucb"] < 0.25 * regret["random"]
    assert regret["knn-ucb:smoothness=2"] < 0.25 * regret["random"]
    assert on_the_command_line["stored settings"] == {"exploration_scale": 0.1, "smoothness": 1.0}


def test_the_command_explains_its_settings(on_the_command_line):
    assert on_the_command_line["agents"]["code"] == 0
    assert "mean rewards may differ" in " ".join(on_the_command_line["agents"]["out"].split())


def test_the_command_refuses_a_typo_without_a_traceback(on_the_command_line):
    assert on_the_command_line["typo"]["code"] == 1
    assert on_the_command_line["typo"]["err"].startswith("graph-bandit: Unknown setting `smothness`.")


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


def test_distances_are_in_units_of_their_root_mean_square_and_none_is_nearer_than_the_graph_itself(knn):
    agent = knn.knn_ucb()
    agent.reset(None, graph_set=Graphs(ragged_graphs(sizes=range(2, 42))))
    assert agent.distances.square().mean().item() == pytest.approx(1)
    assert not agent.distances[:, 0].any()
    assert agent.nearest[:, 0].tolist() == list(range(40))


def test_after_one_reward_it_plays_what_is_farthest_from_it(knn, graphs):
    agent = knn.knn_ucb()
    agent.reset(None, graph_set=Graphs(graphs))
    agent.update(None, 1, 0.1)
    assert agent.select_action(None) == agent.nearest[1, -1]


def test_it_goes_on_from_its_state_bit_for_bit(knn, graphs):
    agent, twin = knn.knn_ucb(), knn.knn_ucb()
    agent.reset(None, seed=1, graph_set=Graphs(graphs))
    twin.reset(None, seed=2, graph_set=Graphs(graphs))
    twin.load_state_dict(agent.state_dict())  # nothing is known yet: all graphs tie, and the generator decides
    ties = [agent.select_action(None) for _ in range(20)]
    assert [twin.select_action(None) for _ in range(20)] == ties
    agent.update(None, [0, 1, 1], [0.1, 0.2, 0.7])
    twin.load_state_dict(agent.state_dict())
    for _ in range(20):
        action = agent.select_action(None)
        assert twin.select_action(None) == action
        for one in (agent, twin):
            one.update(None, action, 0.1 * action)
        assert torch.equal(upper_bound(agent), upper_bound(twin))


@pytest.mark.parametrize(
    ("settings", "count", "message"), [({"smoothness": 3}, 4, "another `smoothness`: 1.0"), ({}, 3, "the same graphs")]
)
def test_it_refuses_the_state_of_another(knn, graphs, settings, count, message):
    agent, other = knn.knn_ucb(), knn.knn_ucb(**settings)
    agent.reset(None, graph_set=Graphs(graphs))
    other.reset(None, graph_set=Graphs(graphs[:count]))
    with pytest.raises(ValueError, match=message):
        other.load_state_dict(agent.state_dict())


def test_it_plays_on_one_graph_and_on_graphs_that_are_all_alike(knn, graphs):
    for few in (graphs[:1], [graphs[0]] * 3, [graphs[1]] * 2):
        agent = knn.knn_ucb()
        agent.reset(None, graph_set=Graphs(few))
        for _ in range(5):
            agent.update(None, agent.select_action(None), 0.1)
        assert upper_bound(agent).isfinite().all()


def test_it_satisfies_the_protocol_and_asks_for_a_reset(knn):
    agent = knn.knn_ucb()
    assert isinstance(agent, Agent)
    registry.check_agent(knn.knn_ucb)
    for call in (lambda: agent.select_action(None), lambda: agent.update(None, 0, 1.0), agent.state_dict):
        with pytest.raises(RuntimeError, match="Expected `reset` first"):
            call()
