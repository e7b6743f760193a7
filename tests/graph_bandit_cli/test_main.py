import os
import re
import subprocess
import sys

import pytest

from graph_bandit_cli.main import COMMANDS, main

HEAVY = ("numpy", "gymnasium", "pandas", "torch", "matplotlib")
LIGHT = ("tuned", "compare", "report", "library", "serve", "watch", "export", "cache")


def test_help_lists_the_commands_and_imports_nothing_heavy():
    code = (
        "import sys; from graph_bandit_cli.main import main; assert main(['--help']) == 0; "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\w", done.stdout, re.M)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_imports_no_more_than_its_settings_need(command):
    light = HEAVY if command in LIGHT else ("pandas", "torch", "matplotlib")
    code = (
        "import sys\nfrom graph_bandit_cli.main import main\n"
        f"try: main(['{command}', '--help'])\nexcept SystemExit as stopped: assert stopped.code == 0\n"
        f"print([name for name in {light} if name in sys.modules])"
    )
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}  # which knows no Erdős
    command_line = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command_line, capture_output=True, text=True, check=True, env=ascii_only)
    assert COMMANDS[command][1] in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_names_every_default(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    printed = capsys.readouterr().out
    assert "--help" in printed
    assert not re.search(r"\(default:[\s│]*\)", printed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["swep"], "Expected a command. Got swep. Did you mean `sweep`?"), ([], "Expected a command. Got none.")],
)
def test_what_is_no_command_is_refused_with_those_that_are(arguments, message, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"graph-bandit: {message}\n")
    assert "  compare   Compare two folders" in printed


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe is another error there")
def test_help_into_a_pipe_that_is_closed_is_not_an_error():
    reader, writer = os.pipe()
    os.close(reader)
    code = "import sys; from graph_bandit_cli.main import main; sys.exit(main(['--help']))"
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("text", "said"), [("", "Finished work is stored."), ("Nothing.", "Nothing.")])
def test_an_interruption_says_what_is_stored(text, said, monkeypatch, capsys):
    def stop(*_):
        raise KeyboardInterrupt(*filter(None, [text]))

    monkeypatch.setattr(sys.modules["graph_bandit_cli.main"], "_parse", stop)
    assert main(["report", "."]) == 130
    assert capsys.readouterr().err == f"\nStopped. {said}\n"


def test_suggest_says_a_line_before_it_loads_what_takes_long(tmp_path):
    code = (
        "import sys\nfrom graph_bandit_cli.main import main\n"
        "class Heard:\n"
        "    heard = None\n"
        "    def write(self, text):\n"
        f"        Heard.heard = Heard.heard or (text, [n for n in {HEAVY[2:]} if n in sys.modules])\n"
        "    def flush(self): pass\n"
        "    def isatty(self): return True\n"
        "sys.stderr = Heard()\n"
        f"main(['suggest', {str(tmp_path / 'none.csv')!r}, '--maximize', 'y', '--out', 'out.csv'])\n"
        "print(Heard.heard)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "('Loading the model.', [])\n"
