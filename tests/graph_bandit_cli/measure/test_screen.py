"""`graph-bandit screen`, as it is typed."""

import os
import signal
import subprocess
import sys

import pytest
from support.scoring import await_end, await_note, command_of
from support.tables import read, write

from graph_bandit_cli.main import main

pytest.importorskip("rdkit")


def command(folder, mode, *more):
    write(folder / "pool.csv", [("id", "smiles"), *((f"m{k}", "C" * (k + 1)) for k in range(9))])
    words = ["screen", str(folder / "pool.csv"), "--score", command_of(mode, folder), "--out", str(folder / "s.csv")]
    return [*words, "--maximize", "y", "--evaluations", "6", "--n", "4", "--agent", "random", *more]


def test_it_writes_the_values_and_lists_the_best(tmp_path, capsys):
    assert main(command(tmp_path, "good")) == 0
    rows = read(tmp_path / "s.csv")
    assert len(rows) == 6
    assert all(float(row["y"]) == len(row["smiles"]) for row in rows)
    printed = capsys.readouterr().out
    assert "round 2: 6 of 6 evaluations" in printed
    assert printed.rstrip().endswith(str(tmp_path / "s.next.campaign.json"))


def test_a_broken_program_is_told_in_the_words_of_the_user(tmp_path, capsys):
    assert main(command(tmp_path, "fails")) == 1
    told = capsys.readouterr().err
    assert told.startswith(
        "graph-bandit: Expected a value of one molecule at least. The program gave none for the first 4"
    )
    assert told.endswith("The program printed:\n[31mno such receptor\n")
    assert (
        main(
            [
                "screen",
                "pool.csv",
                "--score",
                "no-such-program",
                "--out",
                "s.csv",
                "--maximize",
                "y",
                "--evaluations",
                "6",
            ]
        )
        == 1
    )
    assert "Expected `--score` to begin with a program that can be run" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--undo", "--more", "--again", "--predictions", "--target", "--noise"])
def test_what_it_does_not_know_is_no_option(option, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(command(tmp_path, "good", option))


def allow_signals():
    """Undo what a test runner in the background hands down: processes that ignore signals."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


@pytest.mark.skipif(os.name != "posix", reason="Windows has other signals")
@pytest.mark.parametrize(
    "name", ["SIGTERM", *(pytest.param(name, marks=pytest.mark.slow) for name in ("SIGINT", "SIGHUP"))]
)
def test_a_signal_ends_it_and_the_programs(name, tmp_path):
    words = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", *command(tmp_path, "hangs")]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=allow_signals)
    await_note(tmp_path)
    process.send_signal(getattr(signal, name))
    assert "Stopped. All values that came in are stored" in process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert await_end(tmp_path)
