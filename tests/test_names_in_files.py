"""A name in a file that somebody sends never loads code: only the command line and Python name agents of files."""

from pathlib import Path

import numpy as np
import pytest

import registry
from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult, EnvironmentSettings
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.storage import ResultStore

HOSTILE = "subprocess:getoutput:cmd=echo > marker"
SMALL = {"num_graphs": 3, "num_nodes": 4, "horizon": 5}


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    """A folder in which a marker would appear if a file ran its command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_ADMITTED", {})
    yield
    assert not Path("marker").exists(), "The file ran code."


@pytest.mark.parametrize("more", [[], ["--dry-run", "--workers", "None"], ["--admit", "json:loads"]])
def test_a_sweep_file_says_which_agent_to_name(more, capsys):
    Path("sent.toml").write_text(f"agents = ['{HOSTILE}']\n[[grid]]\nenvironment = {{num_graphs = 3}}\n")
    assert main(["sweep", "sent.toml", "--out", "out", *more]) == 1
    assert "subprocess:getoutput" in capsys.readouterr().err


def test_results_are_shown_exported_and_taken_in_without_their_agents():
    name, _, cmd = HOSTILE.partition(":cmd=")
    result = BanditResult(np.zeros(5, np.int64), np.zeros(5), np.zeros(5), "finished")
    key = RunKey(name, {"cmd": cmd}, EnvironmentSettings(**SMALL).to_dict())
    ResultStore(Path("results")).add(key, 1, HOSTILE, result, 1.0)
    assert main(["report", "results", "--table"]) == 0
    assert main(["export", "results", "--out", "sent.xz"]) == 0
    sizes = ["--num-graphs", "3", "--num-nodes", "4", "--horizon", "5", "--repetitions", "1"]
    assert main(["run", "--agents", "random", "--out", "out", "--continue", "sent.xz", *sizes]) == 0
