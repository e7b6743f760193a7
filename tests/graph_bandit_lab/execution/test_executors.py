import os

import pytest

from graph_bandit_lab import Processes, count_cores
from graph_bandit_lab.execution import InProcess, choose_workers


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
