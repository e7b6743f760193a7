import os
from concurrent.futures import Future

import numpy as np
import psutil
import pytest

from graph_bandit_lab import AgentSpec, BanditResult, EnvironmentSettings, Grid, Processes, count_cores
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution import InProcess, Workers, choose_workers
from graph_bandit_lab.execution.execute import LONGER, execute
from graph_bandit_lab.execution.worker import Outcome


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        ({"process_cpu_count": lambda: 3, "sched_getaffinity": lambda pid: {0}}, 3),
        ({"sched_getaffinity": lambda pid: {0, 5}, "cpu_count": lambda: 8}, 2),
        ({"cpu_count": lambda: 8}, 8),
        ({"cpu_count": lambda: None}, 1),
    ],
)
def test_cores_are_counted_on_every_platform(offered, expected, monkeypatch):
    for name in ("process_cpu_count", "sched_getaffinity", "cpu_count"):
        monkeypatch.delattr(os, name, raising=False)
    for name, function in offered.items():
        monkeypatch.setattr(os, name, function, raising=False)
    assert count_cores() == expected


@pytest.mark.parametrize("count", [0, -1])
def test_no_process_is_no_pool(count):
    with pytest.raises(ValueError, match="at least one process"):
        Processes(count)


def test_workers_are_this_process_or_as_many_as_are_asked_for_or_one_for_each_core():
    assert choose_workers(None, None) == (InProcess, 1)
    for asked, expected in ((3, 3), (0, count_cores())):
        open_workers, count = choose_workers(asked, None)
        assert count == expected
        assert (open_workers.func, open_workers.args) == (Processes, (expected,))
    with pytest.raises(ValueError, match="Expected `--workers` to be at least 0. Got -1."):
        choose_workers(-1, None)


def test_this_process_keeps_what_a_call_raises_and_passes_an_interrupt_on():
    workers = InProcess()
    assert workers.submit(divmod, 7, 2).result() == (3, 1)
    assert isinstance(workers.submit(divmod, 7, 0).exception(), ZeroDivisionError)

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workers.submit(interrupt)


def test_a_stopped_process_does_not_hold_up_the_end(monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.execution.executors.SECONDS_TO_LEAVE", 0.2)
    workers = Processes(1)
    process = psutil.Process(workers.submit(os.getpid).result())
    process.suspend()
    workers.shutdown()
    process.wait(timeout=20)


class Late(Workers):
    """Workers whose second call does not end until it is missed."""

    slots = 2
    calls = ()

    def submit(self, fn, /, *args, **kwargs):
        self.calls = (*self.calls, Future())
        if len(self.calls) != 2:
            self.calls[-1].set_result(fn(*args, **kwargs))
        return self.calls[-1]


def test_a_repetition_that_takes_far_too_long_is_named_and_waited_for(monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.execution.execute.SILENCE", 0.01)
    repetitions = plan([Grid((EnvironmentSettings(horizon=1),), (AgentSpec.parse("random"),))], (1, 2, 3))
    outcome = Outcome(BanditResult(np.array([0]), np.zeros(1), np.zeros(1)), wall_time=0.005)
    late, missed, done = Late(), [], []

    def on_silence(seconds, playing):
        assert seconds >= LONGER * 0.005
        missed.append(playing)
        late.calls[1].set_result(outcome)

    execute(repetitions, late, lambda repetition, _: done.append(repetition), False, lambda *_: outcome, on_silence)
    assert missed == [[repetitions[1]]]
    assert len(done) == 3
