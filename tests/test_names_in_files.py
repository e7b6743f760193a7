"""A name in a file that somebody sends never loads code: only the command line and Python name agents of files."""

import json
from pathlib import Path

import numpy as np
import pytest

import registry
from graph_bandit_campaign import Campaign
from graph_bandit_cli.main import main
from graph_bandit_env import GraphPool
from graph_bandit_lab import BanditResult, EnvironmentSettings
from graph_bandit_lab.design import RunKey
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


def test_a_file_of_a_campaign_says_which_agent_to_name():
    Campaign(POOL, "random", state="mine.campaign.json").ask()
    state = json.loads(Path("mine.campaign.json").read_text())
    Path("mine.campaign.json").write_text(json.dumps({**state, "agent": HOSTILE}))
    with pytest.raises(ValueError, match="subprocess:getoutput"):
        Campaign(POOL, state="mine.campaign.json")
    Campaign(POOL, "ucb1", state="mine.campaign.json").ask()


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--dry-run", "--workers", "None"], ["--admit", "json:loads"]])
def test_a_sweep_file_says_which_agent_to_name(more, capsys):
    Path("sent.toml").write_text(f"agents = ['{HOSTILE}']\n[[grid]]\n[grid.environment]\n{SETTINGS}")
    assert main(["sweep", "sent.toml", "--out", "out", *more]) == 1
    assert "subprocess:getoutput" in capsys.readouterr().err


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


def test_an_export_is_taken_in_without_its_agents(results):
    export_results(results, Path("sent.xz"))
    assert main(["run", "--agents", "random", "--out", "out", "--continue", "sent.xz", *FLAGS]) == 0
