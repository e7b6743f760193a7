"""A name in a file that somebody sends never loads code: only the command line and Python name agents of files."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import registry
from graph_bandit_campaign import Campaign
from graph_bandit_cli.main import main
from graph_bandit_env import GraphPool
from graph_bandit_lab import BanditResult, EnvironmentSettings
from graph_bandit_lab.design import Repetition, RunKey
from graph_bandit_lab.design.settings import AgentSpec
from graph_bandit_lab.storage import ResultStore, export_results

HOSTILE = "subprocess:getoutput:cmd=echo > marker"
SETTINGS = "num_graphs = 3\nnum_nodes = 4\nhorizon = 5\n"
FLAGS = ["--num-graphs", "3", "--num-nodes", "4", "--horizon", "5", "--repetitions", "1"]
POOL = GraphPool([[[1.0]]] * 5, [[]] * 5)


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    """A folder in which a marker would appear if a file ran its command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_ADMITTED", {})
    yield
    assert not Path("marker").exists(), "The file ran code."


def test_the_marker_would_appear():
    subprocess.getoutput(cmd="echo > marker")
    assert Path("marker").exists()
    Path("marker").unlink()


def test_a_file_of_a_campaign_says_which_agent_to_name():
    Campaign(POOL, "random", state="mine.campaign.json").ask()
    state = json.loads(Path("mine.campaign.json").read_text())
    Path("mine.campaign.json").write_text(json.dumps({**state, "agent": HOSTILE}))
    with pytest.raises(ValueError, match=r"mine.campaign.json: .*`subprocess:getoutput`.*never loads code.*pass it as"):
        Campaign(POOL, state="mine.campaign.json")
    Campaign(POOL, "ucb1", state="mine.campaign.json").ask()


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--dry-run", "--workers", "None"], ["--admit", "json:loads"]])
def test_a_sweep_file_says_which_agent_to_name(more, capsys):
    Path("sent.toml").write_text(f"agents = ['{HOSTILE}']\n[[grid]]\n[grid.environment]\n{SETTINGS}")
    assert main(["sweep", "sent.toml", "--out", "out", *more]) == 1
    message = "sent.toml: Expected an agent that is registered, or that you name yourself. Got `subprocess:getoutput`"
    assert message in capsys.readouterr().err


def test_a_file_of_tuned_settings_names_no_agent(capsys):
    Path("tuned.json").write_text(json.dumps({"settings": {"er": {"random": {"getoutput:cmd": "echo > marker"}}}}))
    Path("sent.toml").write_text(f"agents = ['random:{{tuned}}']\n[[grid]]\n[grid.environment]\n{SETTINGS}")
    assert main(["sweep", "sent.toml", "--out", "out", "--tuned", "tuned.json", "--workers", "None"]) == 1
    assert "Unknown setting `getoutput:cmd`" in capsys.readouterr().err


@pytest.fixture
def results():
    """A folder of results with one of the hostile agent."""
    name, _, cmd = HOSTILE.partition(":cmd=")
    zeros = np.zeros(5)
    result = BanditResult(zeros.astype(np.int64), zeros, zeros, "finished")
    environment = EnvironmentSettings(num_graphs=3, num_nodes=4, horizon=5).to_dict()
    ResultStore(Path("results")).add(RunKey(name, {"cmd": cmd}, environment), 1, HOSTILE, result, 1.0)
    return Path("results")


@pytest.mark.parametrize("command", [["report"], ["report", "--table"]])
def test_a_folder_of_results_is_shown_without_its_agents(command, results):
    assert main([*command, str(results)]) == 0


def test_a_folder_of_results_goes_on_with_the_agents_of_the_command(results):
    assert main(["run", "--agents", "random", "--out", str(results), "--retry-failed", *FLAGS]) == 0


def test_an_export_is_taken_in_without_its_agents(results):
    export_results(results, Path("sent.xz"))
    assert main(["run", "--agents", "random", "--out", "out", "--continue", "sent.xz", *FLAGS]) == 0


def test_a_worker_makes_the_agents_that_the_driver_has_planned(monkeypatch, tmp_path):
    code = "import registry\n@registry.agent_factory\ndef make(scale=1.0):\n    return ('made', scale)\n"
    Path("mine_w.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    spec = AgentSpec.parse("mine_w:make:scale=2")
    assert Repetition(spec, RunKey(spec.name, {}, {}), 0).make_agent() == ("made", 2)
