"""`suggest`, `screen`, `prepare` and `cache`, as they are typed; the campaign's own tests have the rest."""

import os
import signal
import subprocess
import sys

import pytest
from support.ended import have_ended
from support.scoring import command_of, started_by
from support.tables import read, write

from graph_bandit_cli.main import main

MOLECULES = [("id", "smiles"), *((f"m{k}", "C" * (k + 1)) for k in range(9))]


def test_suggest_prepare_and_cache_write_and_say_what_they_did(tmp_path, cache_folder, capsys):
    pool, out = tmp_path / "pool.csv", tmp_path / "out.csv"
    write(pool, [*MOLECULES, ("again", "C"), ("none", "")])
    flags = ["--maximize", "y", "--n", "2", "--agent", "molecule-ucb", "--skip-bad-rows"]
    assert main(["suggest", str(pool), "--out", str(out), *flags]) == 0
    assert "Round 1" in capsys.readouterr().out
    assert len({row["id"] for row in read(out)} & {name for name, _ in MOLECULES}) == 2
    command = ["prepare", str(pool), "--out", str(tmp_path / "pool"), "--workers", "None", "--traits", "properties"]
    assert main(command) == 0
    assert "9 molecules, " in capsys.readouterr().out
    assert main([*command[:-1], "morgan"]) == 1  # it was begun with others
    assert "begun with" in capsys.readouterr().err
    assert list(cache_folder.iterdir())
    assert main(["cache", "--clear"]) == 0
    assert str(cache_folder) in capsys.readouterr().out
    assert not list(cache_folder.iterdir())


def screen(folder, mode):
    write(folder / "pool.csv", MOLECULES)
    words = ["screen", str(folder / "pool.csv"), "--score", command_of(mode, folder), "--out", str(folder / "s.csv")]
    return [*words, "--maximize", "y", "--evaluations", "6", "--n", "4", "--agent", "random"]


def test_screen_writes_the_values_or_says_where_the_program_printed(tmp_path, capsys):
    assert main(screen(tmp_path, "good")) == 0
    rows = read(tmp_path / "s.csv")
    assert len(rows) == 6
    assert all(float(row["y"]) == len(row["smiles"]) for row in rows)
    assert "6 of 6 evaluations" in capsys.readouterr().out
    (tmp_path / "broken").mkdir()
    assert main(screen(tmp_path / "broken", "fails")) == 1
    assert "s.log" in capsys.readouterr().err
    assert "no such receptor" in (tmp_path / "broken" / "s.log").read_text()


def allow_signals():
    """Undo what a test runner in the background hands down: processes that ignore signals."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has other signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_it_and_the_programs(name, tmp_path):
    words = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", *screen(tmp_path, "hangs")]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=allow_signals)
    started_by(tmp_path)
    process.send_signal(getattr(signal, name))
    assert "Stopped. All values so far are stored" in process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert have_ended(started_by(tmp_path))
