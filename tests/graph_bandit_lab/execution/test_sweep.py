import contextlib
import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from support.executors import Here

from benchmarks.sweeps.kill_sweep import SWEEP, count, survive, table
from graph_bandit_cli import main as cli
from graph_bandit_cli.main import main
from graph_bandit_lab import load_results
from graph_bandit_lab.design.sweep_file import read_sweep
from graph_bandit_lab.execution import sweep, worker
from graph_bandit_lab.execution.executors import Processes
from graph_bandit_lab.execution.sweep import describe_work, run_sweep
from graph_bandit_lab.storage.files import sole_driver
from graph_bandit_lab.storage.results import ResultStore, RunKey

TOML = SWEEP.format(repetitions=2).replace("sixty short runs", "in little")


@pytest.fixture
def little(tmp_path):
    path = tmp_path / "little.toml"
    path.write_text(TOML)
    return path


def test_what_another_sweep_failed_is_not_this_sweeps(little, tmp_path):
    found, out = read_sweep(little).plan(), tmp_path / "out"
    one = found.repetitions[0]
    other = RunKey("elsewhere", {}, one.key.environment)
    nothing = worker.failed("a traceback").result
    ResultStore(out).add(other, 1, "elsewhere", nothing, 0.0, "a traceback")
    tally = run_sweep(found, out, Here, retry_failed=True, progress=False)
    assert (tally.played, tally.failed) == (16, 0)
    assert (load_results(out)["status"] == "failed").sum() == 1  # and its traceback is still there


def test_two_processes_store_what_one_stores(little, tmp_path):
    for workers in (1, 2):
        tally = run_sweep(
            read_sweep(little).plan(), tmp_path / str(workers), partial(Processes, workers), progress=False
        )
        assert (tally.played, tally.reused, tally.failed) == (16, 0, 0)
    assert table(tmp_path / "1") == table(tmp_path / "2")


def test_a_sweep_goes_on_where_it_stopped_and_grows(little, tmp_path):
    found = read_sweep(little).plan()
    run_sweep(found, tmp_path / "out", Here, progress=False)
    again = run_sweep(found, tmp_path / "out", Here, progress=False)
    assert (again.played, again.reused) == (0, 16)
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 3"))
    more = run_sweep(read_sweep(little).plan(), tmp_path / "out", Here, progress=False)
    assert (more.played, more.reused) == (8, 16)


SCRIPT = """
import sys
from graph_bandit_cli.main import main
if __name__ == "__main__":
    sys.exit(main(["sweep", sys.argv[1], "--out", sys.argv[2], "--workers", "2"]))
"""


def test_a_driver_that_is_killed_again_and_again_loses_nothing_and_repeats_nothing(tmp_path):
    """`python -m benchmarks.sweeps.kill_sweep` kills fifty times."""
    assert survive(tmp_path, kills=2, repetitions=2) == 16


def test_a_repetition_that_raises_is_stored_with_its_traceback_and_can_be_tried_again(tmp_path, capsys, monkeypatch):
    path = tmp_path / "failing.toml"
    path.write_text(TOML)
    monkeypatch.setattr(sweep, "execute", with_a_failure)
    monkeypatch.setattr(cli, "plan_sweep", lambda source, overrides: read_sweep(source, overrides).plan())
    assert main(["sweep", str(path), "--out", str(tmp_path / "out"), "--workers", "1"]) == 1
    printed = capsys.readouterr().out
    assert "failed 1." in printed
    assert "--retry-failed" in printed
    failed = load_results(tmp_path / "out").query("status == 'failed'")
    assert "ZeroDivisionError" in failed["error"].iloc[0]
    assert np.isnan(failed["total_regret"].iloc[0])
    assert "ZeroDivisionError" in (tmp_path / "out" / "sweep.log").read_text()
    monkeypatch.undo()
    assert main(["sweep", str(path), "--out", str(tmp_path / "out"), "--workers", "1"]) == 1
    assert main(["sweep", str(path), "--out", str(tmp_path / "out"), "--workers", "1", "--retry-failed"]) == 0
    assert not (load_results(tmp_path / "out")["status"] == "failed").any()


def test_a_full_disk_stops_the_sweep_and_costs_nothing_that_was_finished(little, tmp_path):
    """A limit on the size of files stands in for the disk: a test may not mount one."""
    little.write_text(TOML.replace("horizon = 8", "horizon = 600"))
    command = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli.main", "sweep", str(little), "--workers", "1"]
    limited = ["bash", "-c", 'ulimit -f 120; exec "$@"', "limited", *command, "--out", str(tmp_path / "full")]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "What was finished is stored; the same command goes on." in done.stderr
    assert 0 < count(tmp_path / "full") < 16
    for name in ("full", "whole"):
        run_sweep(read_sweep(little).plan(), tmp_path / name, Here, progress=False)
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


def test_what_is_called_otherwise_now_is_called_so_in_old_results_too(little, tmp_path):
    run_sweep(read_sweep(little).plan(), tmp_path / "out", Here, progress=False)
    little.write_text(TOML.replace("agents = [", "agents = {mine = ").replace(', "random"]', ', other = "random"}'))
    again = run_sweep(read_sweep(little).plan(), tmp_path / "out", Here, progress=False)
    assert (again.played, again.reused) == (0, 16)
    assert set(load_results(tmp_path / "out")["label"]) == {"mine", "other"}


def test_two_drivers_do_not_play_into_one_folder(little, tmp_path, capsys):
    with sole_driver(tmp_path / "out"):
        assert main(["sweep", str(little), "--out", str(tmp_path / "out")]) == 1
    assert "Another `graph-bandit` is playing into it" in capsys.readouterr().err
    assert not (tmp_path / "out" / "results.sqlite").exists()


def with_a_failure(repetitions, open_workers, keep):
    """Play here, in this process; the first repetition divides by zero."""
    first, *others = repetitions
    monkey = pytest.MonkeyPatch()
    monkey.setattr(worker, "run_bandit", lambda *_, **__: 1 / 0)
    keep(first, worker.play(first))
    monkey.undo()
    for one in others:
        keep(one, worker.play(one))


def test_a_dry_run_tells_how_much_there_is_and_plays_nothing(little, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["sweep", str(little), "--out", str(out), "--dry-run"]) == 0
    assert "16 repetitions, 0 stored, 16 to play; none is timed yet" in capsys.readouterr().out
    assert not out.exists()
    run_sweep(read_sweep(little).plan(), out, Here, progress=False)
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 4"))
    assert "32 repetitions, 16 stored, 16 to play; about 0 minutes" in describe_work(read_sweep(little).plan(), out, 2)


def test_the_driver_stops_at_an_interrupt_and_says_how_to_go_on(little, tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(SCRIPT)
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 200"))
    driver = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(script), str(little), str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    while count(tmp_path / "out") < 3 and driver.poll() is None:
        time.sleep(0.05)
    error = None
    for _ in range(3):  # Python may drop an interrupt, as in a finalizer; whoever waits presses again
        os.killpg(driver.pid, signal.SIGINT)  # as a terminal does, to driver and workers
        with contextlib.suppress(subprocess.TimeoutExpired):
            _, error = driver.communicate(timeout=15)
            break
    assert driver.returncode == 130
    assert "Stopped. in little: 1600 repetitions, " in error
    assert "Traceback" not in error
