"""The command: what it lists, refuses, loads and prints, whatever the subcommand."""

import os
import re
import subprocess
import sys
from pkgutil import resolve_name

import pytest

from graph_bandit_cli.help import GROUPS, MEASURING, options_of, spell_option
from graph_bandit_cli.main import COMMANDS, PARTS, main

HEAVY = ("numpy", "gymnasium", "pandas", "torch", "matplotlib")
LIGHT = ("best-settings", "compare", "report", "example-data", "serve", "export", "cache")
HELP = f"""
import sys
import registry
from graph_bandit_cli.main import COMMANDS, main
assert not [name for name in {HEAVY} if name in sys.modules]
main(["--help"])
for command in sorted(COMMANDS, key=lambda name: name not in {LIGHT}):
    try:
        main([command, "--help"])
    except SystemExit as stopped:
        assert stopped.code == 0, command
    without = {HEAVY} if command in {LIGHT} else ("pandas", "torch", "matplotlib")
    assert not [name for name in without if name in sys.modules], command
"""


def test_help_lists_commands_and_names_every_default_and_imports_no_more_than_settings_need():
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}  # which knows no Erdős
    command = [sys.executable, "-W", "ignore", "-c", HELP]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ascii_only)
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\w", done.stdout, re.M)
        assert f"usage: graph-bandit {name}" in done.stdout
    assert not re.search(r"\(default: *\)", done.stdout)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_help_fits_the_terminal_and_help_all_describes_every_option(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    for name in COMMANDS:
        for flag, number in (("--help", 0), ("--help-all", 1)):
            assert main([name, flag]) == 0
            text = capsys.readouterr().out
            assert max(map(len, text.splitlines())) <= width
            assert number or name != "suggest" or len(text.splitlines()) <= 60
        for option in options_of(resolve_name(PARTS[name][0])):
            assert not option.option_strings or f"  {option.option_strings[0]} " in text or spell_option(option) in text
    fields = {*re.sub(r"\w+:|\|", "", GROUPS).split()}
    read = [field.dest.replace("-", "_") for name in MEASURING for field in options_of(resolve_name(PARTS[name][0]))]
    assert fields <= {*read}


@pytest.mark.parametrize("arguments", [["swep"], []])
def test_what_is_no_command_is_refused_with_those_that_are(arguments, capsys):
    assert main(arguments) == 2
    assert "  sweep " in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe is another error there")
def test_help_into_a_pipe_that_is_closed_is_not_an_error():
    reader, writer = os.pipe()
    os.close(reader)
    code = "import sys; from graph_bandit_cli.main import main; sys.exit(main(['--help']))"
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


SUGGEST = ["suggest", "pool.csv", "--out", "out.csv"]


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        ([*SUGGEST, "--minimize", "a", "b"], 1, "--minimize a --minimize b"),
        ([*SUGGEST, "--maximize", "a", "--measured", "x.csv", "--measured=y.csv"], 1, "--measured"),
        (["suggest", "--maximize", "a", "no_pool.csv", "--out", "out.csv"], 1, "no_pool.csv"),
        ([*SUGGEST, "--maximize", "y", "--n", "0"], 2, "--n"),
        (["backtest", "t.csv", "--out", "out", "--maximize", "a", "--n", "1", "--n", "8"], 1, "--n"),
        (["screen", "pool.csv", "--undo"], 2, "--undo"),
        (["run", "--out", "out", "--agents", "ucb1", "--agents", "random"], 1, "--agents"),
        (["run", "--out", "out", "--agents", "gnn_ts"], 1, "gnn-ts"),
        (["run", "--out", "out", "--actions-per-round", "200"], 1, "actions_per_round"),
        (["run", "--out", "out", "--repetitions", "0"], 2, "repetitions"),
        (["run", "--out", "out", "--num-graph", "5"], 2, "--num-graph"),
        (["run", "--out", "file"], 1, "file"),
        (["sweep", "qick", "--out", "out"], 1, "quick"),
        (["sweep", "quick", "--out", "out", "--continue", "file"], 1, "graph-bandit export"),
        (["report", "."], 1, "graph-bandit run"),
        (["export", ".", "--out", "out"], 1, "graph-bandit run"),
    ],
)
def test_refusals_name_what_is_wrong_and_make_nothing(arguments, code, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as stopped:
        sys.exit(main(arguments))
    assert stopped.value.code == code
    assert name in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
