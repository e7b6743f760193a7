import io
import logging

from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution.driver import _open_log
from graph_bandit_lab.execution.progress import Progress

REPETITIONS = plan([Grid((EnvironmentSettings(horizon=3),), (AgentSpec.parse("random"),))], (1,))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_goes_on_when_the_clock_is_set_back(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    clock = [1e9]
    monkeypatch.setattr("tqdm.std.time", lambda: clock[0])
    with Progress(REPETITIONS, shown=True) as bar:
        clock[0] -= 3600
        bar._bar.mininterval = 0
        bar._bar.update()
    assert "1/3 [" in terminal.getvalue()
    assert "-1:" not in terminal.getvalue()


def test_a_log_that_cannot_be_written_is_told_in_a_line(tmp_path, capsys):
    with _open_log(tmp_path / "sweep.log") as log:
        log.handlers[0].stream.close()  # as on a full disk: the next line raises
        log.log(logging.INFO, "%s", "a line")
        log.handlers[0].stream = None
    printed = capsys.readouterr().err
    assert "sweep.log cannot be written: " in printed
    assert "Traceback" not in printed
