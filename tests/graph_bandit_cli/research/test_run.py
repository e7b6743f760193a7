import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import fields

import pytest
from support.interrupts import allow_ctrl_c

import registry
from graph_bandit_cli.main import main
from graph_bandit_cli.research import run as run_command
from graph_bandit_lab import EnvironmentSettings, load_results

SMALL = ["--num-graphs", "5", "--num-nodes", "4", "--horizon", "8", "--repetitions", "2"]
COMMAND = [sys.executable, "-m", "graph_bandit_cli", "run"]


def run(out, *flags):
    agents = [] if "--agents" in flags else ["--agents", "gnn-ts:width=8,steps=2", "random"]
    return main(["run", "--out", str(out), *agents, *SMALL, *flags])


def test_run_prints_a_table_and_writes_results_figure_and_report(tmp_path, capsys):
    assert run(tmp_path) == 0
    captured = capsys.readouterr()
    printed = captured.out
    assert re.search(r"4 of 4: random, seed \d+: BanditResult\(finished, 8 rounds", captured.err)  # no terminal here
    assert "ER graphs, p = 0.4, N = 4, K = 5, linear reward, T = 8" in printed
    assert re.search(r"^random +\d+\.\d \[.*\] +\d\.\d{3} +\d\.\d{3} \[.*\] +\d+\.0 % +2 +\d+\.\d$", printed, re.M)
    assert f"Report: {tmp_path / 'report.html'}" in printed
    assert {path.name for path in tmp_path.iterdir()} == {
        "driver.lock",
        "findings.png",
        "findings.svg",
        "regret.png",
        "regret.svg",
        "report.html",
        "results.sqlite",
    }


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder of a run; it is copied where something is written."""
    folder = tmp_path_factory.mktemp("played")
    assert run(folder) == 0
    return folder


@pytest.fixture
def copied(played, tmp_path):
    return shutil.copytree(played, tmp_path / "copied")


def test_run_says_what_it_reused(copied, capsys):
    assert run(copied) == 0
    assert "Reused 4 repetitions" in capsys.readouterr().out


def test_a_dry_run_plays_nothing(played, capsys):
    assert run(played, "--repetitions", "3", "--dry-run") == 0
    assert re.search(r"6 repetitions, 4 stored, 2 to play; about \d\.\d s with 1 worker\.", capsys.readouterr().out)
    assert len(load_results(played)) == 4


def test_report_prints_the_table_in_markdown(copied, capsys):
    assert main(["report", str(copied), "--markdown"]) == 0
    printed = capsys.readouterr().out
    assert "| agent | mean R_T [95 % interval] |" in printed
    assert re.search(
        r"^\| random \| \d+\.\d \[.*\] \| \d\.\d{3} \| \d\.\d{3} \[.*\] \| \d+\.0 % \| 2 \|", printed, re.M
    )


def test_report_prints_the_table_for_people(copied, capsys):
    assert main(["report", str(copied), "--table"]) == 0
    assert re.search(r"^random +\d+\.\d \[.*\] .* 2 +\d", capsys.readouterr().out, re.M)


def test_report_writes_the_page_again(copied):
    (copied / "report.html").unlink()
    assert main(["report", str(copied)]) == 0
    assert (copied / "report.html").is_file()


def test_agents_lists_names_and_explains_settings(capsys):
    assert main(["agents"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^agent +reads\n", printed)
    assert re.search(r"^gnn-ts +node features\n", printed, re.M)
    assert re.search(r"^wl-ei +node features, edge features\n", printed, re.M)
    assert re.search(r"^molecule-ts +SMILES +needs molecules, plays on one graph set\n", printed, re.M)
    assert re.search(r"^ucb1 +nothing +plays on one graph set$", printed, re.M)
    assert main(["agents", "gnn-ts"]) == 0
    printed = capsys.readouterr().out
    assert "gnn-ts:setting=value" in printed
    assert "exploration_scale=0.3\n    nu, multiplies sigma" in printed
    assert "covariance=exact (exact | diagonal)" in printed
    assert "preset=paper is short for covariance=diagonal, " in printed


def test_an_agent_that_tells_no_settings_is_listed_all_the_same(capsys, monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("bare", object)
    assert main(["agents"]) == 0
    assert re.search(r"^bare +\?\n", capsys.readouterr().out, re.M)
    assert main(["agents", "bare"]) == 0
    assert "bare does not list its settings" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--num-graphs", "0"], "graph-bandit: Expected `num_graphs`"),
        (["--agents", "gnn_ts"], "graph-bandit: Unknown agent `gnn_ts`. Did you mean `gnn-ts`?"),
        (["--noise-std", "-1"], "graph-bandit: Expected `noise_std`"),
        (["--actions-per-round", "6"], "graph-bandit: Expected `actions_per_round`"),
        (["--agents", "gnn-ts:preset=[1]"], "graph-bandit: Unknown preset"),
    ],
)
def test_refusals_are_one_line_and_exit_code_one(tmp_path, capsys, flags, message):
    assert run(tmp_path, *flags) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(message)
    assert captured.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_report_of_an_empty_folder_is_refused_with_advice(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 1
    assert "Make some with `graph-bandit run" in capsys.readouterr().err


def test_ctrl_c_before_anything_is_stored_says_so(tmp_path, capsys, monkeypatch):
    def stop(settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_command, "run_experiment", stop)
    assert run(tmp_path / "new") == 130
    assert "stored in" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_an_out_that_is_a_file_is_refused_in_one_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert run(tmp_path / "file") == 1
    assert capsys.readouterr().err.startswith("graph-bandit: Expected")


def test_a_table_of_different_instances_says_so(copied, capsys):
    run(copied, "--agents", "random", "--repetitions", "3")
    assert "have not all played the same instances" in capsys.readouterr().out


def test_a_run_of_no_repetitions_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(tmp_path, "--repetitions", "0")
    assert stopped.value.code == 2
    assert "Expected `repetitions` to be at least 1. Got 0." in capsys.readouterr().err


def test_an_unknown_flag_is_refused(tmp_path):
    with pytest.raises(SystemExit) as stopped:
        run(tmp_path, "--num-graph", "5")
    assert stopped.value.code == 2


def test_help_documents_every_flag(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    printed = re.sub(r"[│\s]+", " ", capsys.readouterr().out)
    for field in fields(EnvironmentSettings):
        flag = "--" + field.name.replace("_", "-")
        if field.init:
            assert re.search(rf"{flag},? (\{{[^}}]*\}}|\S)+ \w[\w ,:’'–-]{{6,}}", printed), flag
        else:
            assert f"{flag} " not in printed


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished_and_shows_progress(tmp_path):
    """Type the command in a terminal of its own, wait for the second repetition, and press Ctrl-C."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    control, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (40, 120))
    flags = ["--agents", "gnn-ts:width=8,steps=2", *SMALL, "--horizon", "400", "--repetitions", "50"]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
    process = subprocess.Popen([*COMMAND, "--out", str(tmp_path), *flags], **streams, preexec_fn=allow_ctrl_c)
    os.close(terminal)
    rescue = threading.Timer(120, process.kill)  # so that a hang fails instead of waiting for ever
    rescue.start()
    printed, pressed = "", False
    while True:
        try:
            chunk = os.read(control, 4096).decode(errors="replace")
        except OSError:  # how Linux says that the other side is closed
            break
        if not chunk:
            break
        printed += chunk
        if not pressed and len(set(re.findall(r"seed (\d+):", printed))) == 2:
            process.send_signal(signal.SIGINT)
            pressed = True
    rescue.cancel()
    os.close(control)
    assert process.wait() == 130
    assert len(load_results(tmp_path)) == 1
    assert f"Stopped. Repetitions stored in {tmp_path}: 1." in printed
    assert "round/s" in printed
    assert (tmp_path / "report.html").is_file()


def test_failures_are_told_with_what_plays_them_again(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.execution.worker.run_bandit", lambda *_, **__: 1 / 0)
    assert run(tmp_path) == 1
    printed = capsys.readouterr().err
    assert "ZeroDivisionError" in printed
    assert "Failed: 4 repetitions. --retry-failed plays them again." in printed
    monkeypatch.undo()
    assert run(tmp_path) == 1
    assert run(tmp_path, "--retry-failed") == 0
