import os
import time
from concurrent.futures import BrokenExecutor, Future
from contextlib import closing

import numpy as np
import psutil
import pytest

from graph_bandit_lab import AgentSpec, BanditResult, EnvironmentSettings, Grid, Processes, count_cores
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution import InProcess, Workers, choose_workers, run_in_parallel
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
    outcome = Outcome(BanditResult(np.array([0]), np.zeros(1), np.zeros(1)), 0.005)
    late, missed, done = Late(), [], []

    def play_for_a_moment(repetition, diagnose):
        time.sleep(0.005)
        return outcome

    def on_silence(seconds, playing):
        assert seconds >= LONGER * 0.005
        missed.append(playing)
        late.calls[1].set_result(outcome)

    execute(repetitions, late, lambda repetition, _: done.append(repetition), False, play_for_a_moment, on_silence)
    assert missed == [[repetitions[1]]]
    assert len(done) == 3


class Mortal(InProcess):
    """Workers that die at their first call, and perhaps at each."""

    def __init__(self, deaths):
        self.deaths, self.end = deaths, None

    def submit(self, fn, /, *args, **kwargs):
        self.deaths -= 1
        return super().submit(self.die if self.deaths >= 0 else fn, *args, **kwargs)

    def die(self, *_):
        raise BrokenExecutor

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.end = "left" if wait else "abandoned"


def test_each_task_comes_with_its_result_or_its_error():
    workers = Mortal(0)
    results = list(run_in_parallel(divmod, [(7, 2), (7, 0), (9, 4)], workers))
    assert [task for task, _ in results] == [(7, 2), (7, 0), (9, 4)]
    assert [results[0][1], results[2][1]] == [(3, 1), (2, 1)]
    assert isinstance(results[1][1], ZeroDivisionError)
    assert workers.end == "left"


@pytest.mark.parametrize(("deaths", "attempts", "survives"), [(1, 1, False), (1, 2, True), (2, 2, False)])
def test_a_call_whose_worker_dies_is_made_as_often_as_is_asked(deaths, attempts, survives):
    ((_, result),) = run_in_parallel(divmod, [(7, 2)], Mortal(deaths), attempts)
    assert (result == (3, 1)) is survives
    assert isinstance(result, BrokenExecutor) is not survives


def test_tasks_are_taken_when_a_worker_is_free_and_abandoned_when_nobody_wants_the_rest():
    taken, workers = [], Mortal(0)
    with closing(run_in_parallel(divmod, ((taken.append(k) or 7, k) for k in range(1, 9)), workers)) as results:
        assert next(results) == ((7, 1), (7, 0))
    assert taken == [1]
    assert workers.end == "abandoned"
