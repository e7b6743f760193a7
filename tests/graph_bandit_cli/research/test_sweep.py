"""`graph-bandit sweep`: what stops it costs nothing that was finished."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from support.interrupts import allow_ctrl_c

from graph_bandit_cli.main import main
from graph_bandit_lab import load_results, read_sweep, run_sweep
from graph_bandit_lab.execution import describe_work, worker
from graph_bandit_lab.storage.files import sole_driver

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


DRIVER = """
import sys
from graph_bandit_cli.main import main
if __name__ == "__main__":
    assert main(["sweep", "little.toml", "--out", "out", "--workers", "1"]) == 0
    print("torch" in sys.modules)
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """Play the little sweep without interruption, and say whether the driver imported torch. Tests only read it."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "little.toml").write_text(TOML)
    (folder / "driver.py").write_text(DRIVER)
    command = [sys.executable, "-W", "ignore", "driver.py"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    assert "relative regret (sd)" in done.stdout  # the table
    return folder / "out", done.stdout.splitlines()[-1] == "True"


@pytest.fixture
def little(tmp_path):
    path = tmp_path / "little.toml"
    path.write_text(TOML)
    return path


def rows_in(folder):
    """Return status, actions and rewards of the stored repetitions, each stored once."""
    rows = load_results(folder).to_dict("records")
    table = {
        (row["label"], row["environment_key"], row["seed"]): (
            row["status"],
            *map(list, (row["actions"], row["rewards"])),
        )
        for row in rows
    }
    assert len(table) == len(rows)
    return table


def count(folder):
    try:
        return len(rows_in(folder))
    except FileNotFoundError:  # not there yet
        return 0


@pytest.mark.slow
def test_a_driver_that_is_killed_while_it_writes_loses_nothing_and_repeats_nothing(little, driver, tmp_path):
    out = tmp_path / "out"
    command = ["sweep", str(little), "--out", str(out), "--workers", "1"]
    for stored in (1, 3):
        with subprocess.Popen([sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", *command]) as process:
            while process.poll() is None and count(out) < stored:
                time.sleep(0.01)
            process.kill()
        assert stored <= count(out) < 16
    run_sweep(read_sweep(little).plan(), out, progress=False, report=False)
    assert rows_in(out) == rows_in(driver[0])


HERE = ["--workers", "None"]  # no process of its own


@pytest.mark.slow
def test_a_repetition_that_raises_is_stored_with_its_traceback_and_can_be_tried_again(little, tmp_path, capsys):
    command = ["sweep", str(little), "--out", str(tmp_path / "out"), *HERE]
    run_bandit, calls = worker.run_bandit, []

    def fail_at_first(*arguments, **options):
        calls.append(1)
        return 1 / 0 if len(calls) == 1 else run_bandit(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "run_bandit", fail_at_first)
        assert main(command) == 1
    printed = capsys.readouterr()
    assert "failed 1." in printed.out
    assert "--retry-failed" in printed.out
    assert "1 of 16: " in printed.err
    failed = load_results(tmp_path / "out").query("status == 'failed'")
    assert "ZeroDivisionError" in failed["error"].iloc[0]
    assert np.isnan(failed["total_regret"].iloc[0])
    assert "ZeroDivisionError" in (tmp_path / "out" / "sweep.log").read_text()
    assert main(command) == 1
    assert "played 0, reused 16, failed 1." in capsys.readouterr().out
    assert main([*command, "--retry-failed"]) == 0
    assert not (load_results(tmp_path / "out")["status"] == "failed").any()


@pytest.mark.slow
def test_a_full_disk_stops_the_sweep_and_costs_nothing_that_was_finished(little, tmp_path):
    """A limit on the size of files stands in for the disk: a test may not mount one."""
    little.write_text(TOML.replace("horizon = 8", "horizon = 300"))
    command = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", "sweep", str(little), "--workers", "1"]
    if sys.platform == "win32":
        pytest.skip("needs a limit on the size of files")
    limited = ["bash", "-c", 'ulimit -f 80; exec "$@"', "limited", *command, "--out", str(tmp_path / "full")]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Finished work is stored; run the same command to continue." in done.stderr
    assert 0 < count(tmp_path / "full") < 16
    for name in ("full", "whole"):
        run_sweep(read_sweep(little).plan(), tmp_path / name, progress=False, report=False)
    assert rows_in(tmp_path / "full") == rows_in(tmp_path / "whole")


@pytest.mark.slow
def test_the_process_that_drives_never_imports_torch(driver):
    """Torch alone is a quarter of a gigabyte."""
    folder, has_torch = driver
    assert count(folder) == 16
    assert not has_torch


def test_two_drivers_do_not_play_into_one_folder(little, tmp_path, capsys):
    with sole_driver(tmp_path / "out"):
        assert main(["sweep", str(little), "--out", str(tmp_path / "out"), *HERE]) == 1
    assert "Another `graph-bandit` is playing into it" in capsys.readouterr().err
    assert not (tmp_path / "out" / "results.sqlite").exists()


@pytest.mark.slow
def test_a_dry_run_tells_how_much_there_is_and_plays_nothing(little, driver, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["sweep", str(little), "--out", str(out), "--dry-run", *HERE]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"16 repetitions, 0 stored, 16 to play; about .* with 1 worker, .* on a cluster of 100", printed)
    assert "None of them is timed yet: their times are estimated from" in printed
    assert not out.exists()
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 4"))
    text = describe_work(read_sweep(little).plan(), driver[0], 2)
    assert re.search(r"32 repetitions, 16 stored, 16 to play; about \d\.\d s with 2 workers\.$", text)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs an interrupt that reaches a group of processes")
def test_the_driver_stops_at_an_interrupt_and_says_how_to_go_on(little, tmp_path):
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 200"))
    command = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", "sweep", str(little), "--workers", "1"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=allow_ctrl_c,
    )
    while count(tmp_path / "out") < 3 and process.poll() is None:
        time.sleep(0.05)
    error = None
    for _ in range(3):  # Python may drop an interrupt, as in a finalizer, so press again
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to driver and workers
        with contextlib.suppress(subprocess.TimeoutExpired):
            _, error = process.communicate(timeout=15)
            break
    else:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert "Stopped. in little: 1600 repetitions, " in error
    assert "Traceback" not in error
