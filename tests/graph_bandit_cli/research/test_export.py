"""`graph-bandit export`, and `--continue` of `sweep` and `run`."""

import re

import pytest
from support.runs import run

from graph_bandit_cli.main import main
from graph_bandit_lab import read_sweep, run_sweep
from graph_bandit_lab.design import Overrides

TOML = """
title = "in little"
repetitions = 2
agents = ["random", "ucb1"]
[[grid]]
[grid.environment]
num_graphs = 4
num_nodes = 4
horizon = 5
"""


@pytest.fixture
def little(tmp_path):
    (tmp_path / "little.toml").write_text(TOML, encoding="utf-8")
    return ["sweep", str(tmp_path / "little.toml"), "--workers", "None"]


def test_a_sweep_goes_on_from_the_files_of_other_machines(little, tmp_path, capsys):
    files = []
    for agent in ("random", "ucb1"):
        out, file = str(tmp_path / agent), str(tmp_path / f"{agent}.xz")
        plan = read_sweep(little[1], Overrides(agents=(agent,)))
        run_sweep(plan, out, progress=False, report=False)
        assert main(["export", out, "--out", file]) == 0
        assert re.fullmatch(r"2 repetitions, [1-5] kB\n", capsys.readouterr().out.removeprefix(f"{file}: "))
        files.append(file)
    command = [*little, "--out", str(tmp_path / "all"), "--repetitions", "3", "--continue", *files]
    assert main([*command, "--dry-run"]) == 0
    assert "6 repetitions, 4 stored, 2 to play" in capsys.readouterr().out
    assert not (tmp_path / "all").exists()
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "played 2, reused 4, failed 0. Repetitions taken from files: 4." in printed.out
    assert "Repetitions taken from files: 4. There already: 0." in printed.err


def test_a_run_goes_on_too(tmp_path, capsys):
    run(tmp_path / "a", agents=("random",))
    assert main(["export", str(tmp_path / "a"), "--out", str(tmp_path / "a.xz")]) == 0
    small = ["--num-graphs", "5", "--num-nodes", "4", "--horizon", "8", "--agents", "random", "--repetitions", "3"]
    assert main(["run", *small, "--out", str(tmp_path / "b"), "--continue", str(tmp_path / "a.xz")]) == 0
    assert "Reused 2 repetitions that" in capsys.readouterr().out


def test_a_file_that_is_no_export_is_refused_before_anything_is_played(little, tmp_path, capsys):
    assert main([*little, "--out", str(tmp_path / "all"), "--continue", str(tmp_path / "little.toml")]) == 1
    assert "to be an intact file of `graph-bandit export`" in capsys.readouterr().err
    assert main(["export", str(tmp_path), "--out", str(tmp_path / "little.toml")]) == 1
    assert "Expected results in" in capsys.readouterr().err
    assert not (tmp_path / "all").exists()
