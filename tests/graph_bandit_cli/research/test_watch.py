"""`graph-bandit watch`: look at a sweep that another process plays, and leave it alone."""

import os
import signal
import subprocess
import sys
import time

import pytest

from benchmarks.attack.kills import SWEEP, rows_in
from graph_bandit_cli.main import main
from graph_bandit_lab import read_sweep, run_sweep
from graph_bandit_lab.storage.files import sole_driver

needs_a_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of the test's")
COMMAND = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli"]

# What a shell starts in the background, as a CI may the tests, ignores Ctrl-C.
HEEDFUL = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from graph_bandit_cli.main import main
raise SystemExit(main())
"""


@pytest.fixture
def sweep(tmp_path, request):
    path = tmp_path / "sweep.toml"
    repetitions = getattr(request, "param", 4)
    path.write_text(SWEEP.format(repetitions=repetitions).replace("horizon = 8", "horizon = 60"))
    return path


@pytest.fixture
def driver(sweep, tmp_path):
    """Start a sweep in another process, which has stored something when the test begins."""
    out = tmp_path / "out"
    command = [*COMMAND, "sweep", str(sweep), "--out", str(out), "--workers", "None"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not ((out / "sweep.log").is_file() and "seed" in (out / "sweep.log").read_text()):
        time.sleep(0.02)
    yield process
    process.kill()
    process.wait()


def test_looks_and_reports_during_a_sweep_change_nothing(driver, sweep, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["watch", str(out), "--once"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("sixty short runs\nPlaying: ")
    assert " of 32 repetitions.\n" in printed
    assert "a minute, about " in printed
    assert "K = 3, linear\n  gnn-ts:width=8,steps=2" in printed
    assert main(["report", str(out), "--table"]) == 0
    assert "\nagent  " in capsys.readouterr().out
    while driver.poll() is None:
        assert main(["watch", str(out), "--once"]) == 0
    assert driver.returncode == 0
    assert main(["watch", str(out)]) == 0
    assert "Finished: 32 of 32 repetitions." in capsys.readouterr().out
    run_sweep(read_sweep(sweep).plan(), tmp_path / "alone", progress=False, report=False)
    assert rows_in(out) == rows_in(tmp_path / "alone")


@needs_a_terminal
def test_a_terminal_shows_it_until_it_ends_and_nothing_is_cut(driver, tmp_path):
    shown, code = watch_in_a_terminal(tmp_path / "out", columns=80)
    assert code == 0
    last = shown.rsplit("sixty short runs", 1)[1]
    assert "Finished: 32 of 32 repetitions." in last
    assert "4 of 4" in last
    assert "…" not in last
    assert driver.wait() == 0


@needs_a_terminal
@pytest.mark.parametrize("sweep", [100], indirect=True)  # which nobody waits for
def test_ctrl_c_leaves_the_watch_quietly_and_the_end_of_a_killed_driver_is_told(driver, tmp_path, capsys):
    shown, code = watch_in_a_terminal(tmp_path / "out", columns=80, interrupt=True)
    assert code == 0
    assert "Traceback" not in shown
    assert "Stopped" not in shown
    assert driver.poll() is None
    driver.kill()
    driver.wait()
    assert main(["watch", str(tmp_path / "out")]) == 1
    assert "Stopped before its end: " in capsys.readouterr().out


def watch_in_a_terminal(folder, columns, interrupt=False):
    """Return what a terminal of 40 lines shows, and the exit code."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    command = [sys.executable, "-W", "ignore", "-c", HEEDFUL, "watch", str(folder), "--every", "0.05"]
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    environment["TERM"] = "xterm"
    watch = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if interrupt and b"Playing" in shown:
            watch.send_signal(signal.SIGINT)
            interrupt = False
    os.close(ours)
    return shown.decode(), watch.wait()


def test_a_folder_that_is_not_there_or_empty_is_refused(tmp_path, capsys):
    assert main(["watch", str(tmp_path / "none")]) == 1
    assert "Expected a folder of results." in capsys.readouterr().err
    assert main(["watch", str(tmp_path)]) == 1
    assert "or a process that plays there" in capsys.readouterr().err


def test_a_process_that_has_stored_nothing_yet_is_told(tmp_path, capsys):
    with sole_driver(tmp_path):
        assert main(["watch", str(tmp_path), "--once"]) == 0
    assert "has not stored its plan. Stored: 0 repetitions." in capsys.readouterr().out
