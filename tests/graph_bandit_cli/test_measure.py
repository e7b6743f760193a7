"""`screen` and `cache`, as they are typed; the campaign's golden runs have the rest."""

import os
import signal
import subprocess
import sys

import pytest
from support.ended import have_ended
from support.scoring import command_of, started_by
from support.tables import write

from graph_bandit_cli.main import main


def test_cache_says_what_it_deletes(cache_folder, capsys):
    cache_folder.mkdir()
    (cache_folder / f"{'0' * 64}.pool").write_bytes(b"a" * 1_500_000)
    assert main(["cache"]) == main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"{cache_folder}: 1 file, 1.5 MB.\n{cache_folder}: 1 file, 1.5 MB deleted.\n"
    assert not list(cache_folder.iterdir())


def allow_signals():
    """Undo what a test runner in the background hands down: processes that ignore signals."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has other signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_it_and_the_programs(name, tmp_path):
    write(tmp_path / "pool.csv", [("id", "smiles"), *((f"m{k}", "C" * (k + 1)) for k in range(9))])
    words = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", "screen", str(tmp_path / "pool.csv")]
    words += ["--score", command_of("hangs", tmp_path), "--out", str(tmp_path / "s.csv"), "--maximize", "y"]
    words += ["--evaluations", "6", "--n", "4", "--agent", "random"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=allow_signals)
    started_by(tmp_path)
    process.send_signal(getattr(signal, name))
    assert "Stopped. All values so far are stored" in process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert have_ended(started_by(tmp_path))
