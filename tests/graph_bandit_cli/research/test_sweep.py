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

from benchmarks.sweeps.kill_sweep import SWEEP, count, survive, table
from graph_bandit_cli.main import main
from graph_bandit_lab import load_results, read_sweep, run_sweep
from graph_bandit_lab.execution import describe_work, worker
from graph_bandit_lab.storage.files import sole_driver

TOML = SWEEP.format(repetitions=2).replace("sixty short runs", "in little")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What the little sweep stores, played in peace; it is read only."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "little.toml").write_text(TOML)
    run_sweep(read_sweep(folder / "little.toml").plan(), folder / "out", progress=False, report=False)
    return folder / "out"


@pytest.fixture
def little(tmp_path):
    path = tmp_path / "little.toml"
    path.write_text(TOML)
    return path


def test_a_driver_that_is_killed_again_and_again_loses_nothing_and_repeats_nothing(tmp_path):
    """`python -m benchmarks.sweeps.kill_sweep` kills fifty times."""
    assert survive(tmp_path, kills=2, repetitions=2) == 16


HERE = ["--workers", "None"]  # no process of its own


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


def test_a_full_disk_stops_the_sweep_and_costs_nothing_that_was_finished(little, tmp_path):
    """A limit on the size of files stands in for the disk: a test may not mount one."""
    little.write_text(TOML.replace("horizon = 8", "horizon = 600"))
    command = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", "sweep", str(little), "--workers", "1"]
    if sys.platform == "win32":
        pytest.skip("needs a limit on the size of files")
    limited = ["bash", "-c", 'ulimit -f 120; exec "$@"', "limited", *command, "--out", str(tmp_path / "full")]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Finished work is stored; run the same command to continue." in done.stderr
    assert 0 < count(tmp_path / "full") < 16
    for name in ("full", "whole"):
        run_sweep(read_sweep(little).plan(), tmp_path / name, progress=False, report=False)
    assert table(tmp_path / "full") == table(tmp_path / "whole")


def test_the_process_that_drives_never_imports_torch(little, tmp_path):
    """Torch alone is a quarter of a gigabyte; `benchmarks.speed.many_runs` measures the driver of 16,000 runs."""
    code = (
        "import sys\n"
        "from graph_bandit_cli.main import main\n"
        "if __name__ == '__main__':\n"
        f"    assert main(['sweep', {str(little)!r}, '--out', {str(tmp_path / 'out')!r}, '--workers', '1']) == 0\n"
        "    sys.exit('torch' in sys.modules)\n"
    )
    (tmp_path / "driver.py").write_text(code)
    done = subprocess.run([sys.executable, "-W", "ignore", str(tmp_path / "driver.py")], check=False)
    assert done.returncode == 0


def test_two_drivers_do_not_play_into_one_folder(little, tmp_path, capsys):
    with sole_driver(tmp_path / "out"):
        assert main(["sweep", str(little), "--out", str(tmp_path / "out"), *HERE]) == 1
    assert "Another `graph-bandit` is playing into it" in capsys.readouterr().err
    assert not (tmp_path / "out" / "results.sqlite").exists()


def test_a_dry_run_tells_how_much_there_is_and_plays_nothing(little, whole, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["sweep", str(little), "--out", str(out), "--dry-run", *HERE]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"16 repetitions, 0 stored, 16 to play; about .* with 1 worker, .* on a cluster of 100", printed)
    assert "None of them is timed yet: their times are estimated from" in printed
    assert not out.exists()
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 4"))
    text = describe_work(read_sweep(little).plan(), whole, 2)
    assert re.search(r"32 repetitions, 16 stored, 16 to play; about \d\.\d s with 2 workers\.$", text)


@pytest.mark.skipif(sys.platform == "win32", reason="needs an interrupt that reaches a group of processes")
def test_the_driver_stops_at_an_interrupt_and_says_how_to_go_on(little, tmp_path):
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 200"))
    command = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", "sweep", str(little), "--workers", "2"]
    driver = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=allow_ctrl_c,
    )
    while count(tmp_path / "out") < 3 and driver.poll() is None:
        time.sleep(0.05)
    error = None
    for _ in range(3):  # Python may drop an interrupt, as in a finalizer; whoever waits presses again
        os.killpg(driver.pid, signal.SIGINT)  # as a terminal does, to driver and workers
        with contextlib.suppress(subprocess.TimeoutExpired):
            _, error = driver.communicate(timeout=15)
            break
    else:
        driver.kill()
        driver.communicate()
    assert driver.returncode == 130
    assert "Stopped. in little: 1600 repetitions, " in error
    assert "Traceback" not in error
