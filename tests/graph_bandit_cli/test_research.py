"""`run`, `sweep`, `report`, `export` and `agents`, as they are typed; what stops them costs nothing."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import registry
from graph_bandit_cli.main import main
from graph_bandit_lab import load_results, read_sweep, run_sweep
from graph_bandit_lab.design import Overrides
from graph_bandit_lab.storage import sole_driver

SMALL = ["--num-graphs", "5", "--num-nodes", "4", "--horizon", "8", "--repetitions", "2"]
COMMAND = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli"]
TOML = """
title = "in little"
repetitions = 2
agents = ["gnn-ts:width=8,steps=2", "random"]

[[grid]]
[grid.environment]
num_graphs = [3, 5]
num_nodes = 4
reward_model = ["linear", "gp_gntk"]
horizon = 8
"""


def run(out, *flags):
    return main(["run", "--out", str(out), "--agents", "gnn-ts:width=8,steps=2", "random", *SMALL, *flags])


def test_run_and_report_print_a_table_and_write_the_page(tmp_path, capsys):
    assert run(tmp_path) == 0
    printed = capsys.readouterr()
    assert re.search(r"4 of 4: random, seed \d+: regret .* in 8 rounds", printed.err)  # no terminal here
    assert "ER graphs, p = 0.4, N = 4, K = 5, linear reward, T = 8" in printed.out
    row = r"^random +\d+\.\d \[.*\] +\d\.\d{3} +\d\.\d{3} \[.*\] +\d+\.0 % +2 +\d+\.\d$"
    assert re.search(row, printed.out, re.M)
    assert f"Report: {tmp_path / 'report.html'}" in printed.out
    pictures = {f"{name}.{ending}" for name in ("findings", "regret") for ending in ("png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == {
        "driver.lock",
        "report.html",
        "results.sqlite",
        "sweep.log",
        *pictures,
    }
    (tmp_path / "report.html").unlink()
    assert main(["report", str(tmp_path), "--table", "--markdown"]) == 0
    printed = capsys.readouterr().out
    assert re.search(row, printed, re.M)
    assert re.search(r"^\| random \| \d+\.\d \[.*\] \| .* \| 2 \|", printed, re.M)
    assert (tmp_path / "report.html").is_file()


def test_agents_lists_names_and_explains_settings(capsys, monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("bare", object)
    assert main(["agents"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^wl-ei +node features, edge features\n", printed, re.M)
    assert re.search(r"^molecule-ts +SMILES +needs molecules, plays on one graph set\n", printed, re.M)
    assert re.search(r"^bare +\?\n", printed, re.M)
    assert main(["agents", "gnn-ts"]) == 0
    printed = capsys.readouterr().out
    assert "exploration_scale=0.3\n    nu, multiplies sigma" in printed
    assert "covariance=exact (exact | diagonal)" in printed
    assert "preset=paper is short for covariance=diagonal, " in printed


@pytest.fixture
def little(tmp_path):
    path = tmp_path / "little.toml"
    path.write_text(TOML)
    return path


def test_a_sweep_goes_on_from_a_file_and_tells_of_failures(little, tmp_path, capsys, monkeypatch):
    small = ["--environments", "K=3", "reward_model=linear", "--workers", "None"]
    command = ["sweep", str(little), "--out", str(tmp_path / "out"), *small, "--continue", str(tmp_path / "a.xz")]
    part = read_sweep(little, Overrides(agents=("random",), environments=("K=3", "reward_model=linear")))
    run_sweep(part, tmp_path / "a", progress=False, report=False)
    assert main(["export", str(tmp_path / "a"), "--out", str(tmp_path / "a.xz")]) == 0
    assert re.search(r"a.xz: 2 repetitions, [1-9] kB\n", capsys.readouterr().out)
    assert main([*command, "--dry-run"]) == 0
    assert "4 repetitions, 2 stored, 2 to play" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr("graph_bandit_lab.execution.worker.run_bandit", lambda *_, **__: 1 / 0)
    assert main(command) == 1
    printed = capsys.readouterr()
    assert "played 2, reused 2, failed 2. Repetitions taken from files: 2." in printed.out
    assert "ZeroDivisionError" in printed.err
    with sole_driver(tmp_path / "out"):
        assert main(command) == 1
    assert "Another `graph-bandit`" in capsys.readouterr().err


def count(folder):
    try:
        return len(load_results(folder, arrays=()))
    except (FileNotFoundError, ValueError):  # not there yet
        return 0


def rows_in(folder):
    """Everything that was played, without times."""
    rows = load_results(folder, arrays=("actions", "rewards", "regret")).to_dict("records")
    assert {row["status"] for row in rows} == {"finished"}
    arrays = "actions", "rewards", "regret"
    return {(row["settings_hash"], row["seed"]): [row[name].tobytes() for name in arrays] for row in rows}


@pytest.mark.slow
def test_a_driver_that_is_killed_or_has_no_room_loses_nothing_and_repeats_nothing(little, tmp_path):
    little.write_text(TOML.replace("horizon = 8", "horizon = 300"))
    command = [*COMMAND, "sweep", str(little), "--workers", "1", "--out", str(tmp_path / "out")]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while count(tmp_path / "out") < 2 and driver.poll() is None:
        time.sleep(0.05)
    driver.kill()
    driver.wait()
    stored = count(tmp_path / "out")
    assert 2 <= stored < 16
    if sys.platform != "win32":  # a limit on the size of files stands in for the disk: a test may not mount one
        limited = ["bash", "-c", 'ulimit -f 80; exec "$@"', "limited", *command]
        done = subprocess.run(limited, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "Finished work is stored; run the same command to continue." in done.stderr
        assert stored <= count(tmp_path / "out") < 16
    tally = run_sweep(read_sweep(little), tmp_path / "out", progress=False, report=False)
    assert tally.reused >= stored
    run_sweep(read_sweep(little), tmp_path / "whole", progress=False, report=False)
    assert rows_in(tmp_path / "out") == rows_in(tmp_path / "whole")
    assert np.isfinite(load_results(tmp_path / "out")["total_regret"]).all()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs an interrupt that reaches a group of processes")
def test_an_interrupt_keeps_what_is_finished_and_says_how_to_go_on(little, tmp_path):
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 200"))
    words = [*COMMAND, "sweep", str(little), "--workers", "1", "--out", str(tmp_path / "out")]
    streams = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True, "start_new_session": True}
    process = subprocess.Popen(
        words,
        **streams,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while count(tmp_path / "out") < 3 and process.poll() is None:
        time.sleep(0.05)
    error = ""
    for _ in range(3):  # Python may drop an interrupt, as in a finalizer, so press again
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to driver and workers
        with contextlib.suppress(subprocess.TimeoutExpired):
            _, error = process.communicate(timeout=30)
            break
    else:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert re.search(r"Stopped. .* stored, .* to play.\nThe same command continues.", error)
    assert "Traceback" not in error
    assert count(tmp_path / "out") >= 3
