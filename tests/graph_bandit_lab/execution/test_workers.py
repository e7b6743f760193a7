"""Workers that die, clusters that go: nothing is lost, nothing stops the others, and plays are the same bit for bit."""

import contextlib
import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor

import numpy as np
import psutil
import pytest

from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Processes, Sweep, count_cores
from graph_bandit_lab.execution import DaskExecutor, InProcess, SchedulerLostError, choose_workers, run_in_parallel
from graph_bandit_lab.execution import worker as worker_module
from graph_bandit_lab.execution.worker import play

SMALL = {"num_graphs": 5, "num_nodes": 4, "horizon": 8}
SCHEDULER = """
import asyncio
from distributed import Scheduler

async def serve():
    async with Scheduler(host="tcp://127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(serve())
"""


def planned(agents, *environments, seeds=(1, 2)):
    grids = tuple(Grid((environment,), tuple(map(AgentSpec.parse, agents))) for environment in environments)
    return Sweep(title="", grids=grids, seeds=seeds).plan().repetitions


REPETITIONS = planned(("gnn-ts:width=8,steps=2", "random"), EnvironmentSettings(**SMALL), seeds=(1, 2, 3, 4))
RANDOM = [one for one in REPETITIONS if one.label == "random"]  # in `misbehaves`, each in its own way


def played(workers, function=play, repetitions=REPETITIONS):
    """Return outcomes, or errors, by environment, label and seed."""
    tasks = ((repetition, False) for repetition in repetitions)
    return {task[0].identity: outcome for task, outcome in run_in_parallel(function, tasks, workers)}


def assert_equal_play(found, expected):
    for key, outcome in found.items():
        for field in ("actions", "rewards", "regret", "simple_regret", "best_found", "top_recall"):
            np.testing.assert_array_equal(getattr(outcome.result, field), getattr(expected[key].result, field))


@pytest.mark.slow
def test_another_process_plays_what_this_process_plays_bit_for_bit(tmp_path):
    (tmp_path / "hits.csv").write_text("smiles,y\nCCO,1\nCCN,2\nCCC,3\nCC(=O)O,4\nCCCC,\n")
    environments = (
        EnvironmentSettings(**SMALL),
        EnvironmentSettings(**SMALL, resample_graphs="round", reward_scale="unit"),
        EnvironmentSettings(**SMALL, reward_model="gp_gntk", drift="walk", drift_rate=0.1),
        EnvironmentSettings(graphs=str(tmp_path / "hits.csv"), target="y", horizon=4, replacement=False, noise_std=0),
    )
    repetitions = planned(("gnn-ts:width=8,steps=2", "gntk-ucb", "lin-ts"), *environments)
    here, there = played(InProcess(), repetitions=repetitions), played(Processes(1), repetitions=repetitions)
    assert {outcome.result.status for outcome in here.values()} == {"finished"}
    assert len(here) == len(there) == 24
    assert_equal_play(there, here)


def exits(*_, **__):
    sys.exit(3)


def misbehaves(repetition, diagnose):
    """Play, but kill the process (always, or once), raise, or play an agent that exits, where it is random's turn."""
    which = RANDOM.index(repetition) if repetition in RANDOM else None
    marker = os.environ["GRAPH_BANDIT_TEST_MARKER"]
    if which == 0 or (which == 1 and not os.path.exists(marker)):
        if which == 1:
            open(marker, "w").close()
        os._exit(9)  # as a kill does: without a word
    if which == 2:
        raise RuntimeError("outside of play")
    if which == 3:
        run_bandit, worker_module.run_bandit = worker_module.run_bandit, exits
        try:
            return play(repetition, diagnose)
        finally:
            worker_module.run_bandit = run_bandit
    return play(repetition, diagnose)


@pytest.mark.slow
def test_a_worker_that_dies_loses_its_own_call_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPH_BANDIT_TEST_MARKER", str(tmp_path / "died"))
    outcomes = played(Processes(2), misbehaves)
    killed, _, raised, exited = (outcomes.pop(one.identity) for one in (RANDOM[0], *RANDOM[1:]))
    assert isinstance(killed, BrokenExecutor)
    assert isinstance(raised, RuntimeError)
    assert (exited.result.status, "SystemExit: 3" in exited.error) == ("failed", True)
    alone = {one.identity: play(one) for one in REPETITIONS if one.label != "random"}
    assert outcomes.keys() == alone.keys()
    assert_equal_play(outcomes, alone)


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers; the last test that uses them kills the scheduler."""
    pytest.importorskip("distributed")
    quiet = {"stderr": subprocess.DEVNULL, "text": True}
    scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, **quiet)
    address = scheduler.stdout.readline().strip()
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard"]
    each = ["--nworkers", "2", "--nthreads", "1"]
    workers = subprocess.Popen([*command, *each], stdout=subprocess.DEVNULL, **quiet)
    yield scheduler, address
    for process in (*psutil.Process(workers.pid).children(recursive=True), workers, scheduler):
        with contextlib.suppress(psutil.NoSuchProcess):  # it may have ended with the scheduler
            process.kill()
        process.wait()
    scheduler.stdout.close()


@pytest.mark.slow
def test_a_dask_cluster_plays_it_too_and_is_missed_when_it_goes(cluster, monkeypatch):
    scheduler, address = cluster
    outcomes = played(DaskExecutor(address))
    assert len(outcomes) == len(REPETITIONS)
    assert_equal_play(outcomes, {one.identity: play(one) for one in REPETITIONS})
    tasks = ((repetition, False) for repetition in REPETITIONS)
    results = run_in_parallel(play, tasks, DaskExecutor(address))
    with pytest.raises(SchedulerLostError):
        assert not [scheduler.kill() for _ in results]
    monkeypatch.setattr("graph_bandit_lab.execution.executors.SECONDS_TO_CONNECT", 1)
    with pytest.raises(SchedulerLostError, match="Expected a Dask scheduler at tcp://127.0.0.1:9"):
        DaskExecutor("tcp://127.0.0.1:9")


@pytest.mark.slow
def test_workers_do_not_outlive_a_driver_that_is_killed(tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(
        "import os, sys, time\n"
        "from graph_bandit_lab import Processes\n"
        "if __name__ == '__main__':\n"
        "    pool = Processes(1)\n"
        "    print(pool.submit(os.getpid).result(), flush=True)\n"
        "    time.sleep(60)\n"
    )
    driver = subprocess.Popen([sys.executable, "-W", "ignore", str(script)], stdout=subprocess.PIPE, text=True)
    worker = psutil.Process(int(driver.stdout.readline()))
    driver.kill()
    driver.wait()
    driver.stdout.close()
    worker.wait(timeout=20)


@pytest.mark.slow
def test_leaving_ends_our_processes_and_nobody_elses():
    mine = Processes(1)
    psutil.Process(mine.submit(os.getpid).result()).suspend()  # which hears of nothing but a kill
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    other.start()
    mine.abandon()
    deadline = time.monotonic() + 20
    while len(multiprocessing.active_children()) > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert multiprocessing.active_children() == [other]
    other.kill()
    other.join()


def test_workers_are_this_process_or_as_many_as_are_asked_for_or_one_for_each_core():
    assert choose_workers(None, None) == (InProcess, 1)
    for asked, expected in ((3, 3), (0, count_cores())):
        open_workers, count = choose_workers(asked, None)
        assert count == expected
        assert (open_workers.func, open_workers.args) == (Processes, (expected,))
    for refused in (lambda: choose_workers(-1, None), lambda: Processes(0)):
        with pytest.raises(ValueError, match=r"-1|process"):
            refused()


class Mortal(InProcess):
    """Workers that die at their first calls."""

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


@pytest.mark.parametrize(
    "environment", [{"reward_model": "gp_gntk", "actions_per_round": 2}, {"replacement": False, "horizon": 5}]
)
def test_a_warm_up_changes_no_bit_of_any_play(environment, monkeypatch):
    monkeypatch.setattr(worker_module, "_warm", set())
    agents = ("gnn-ts:width=8,steps=2", "gntk-ts", "epsilon-greedy", "random")
    some = planned(agents, EnvironmentSettings(**{**SMALL, **environment}), seeds=(3,))
    warm = {one.identity: play(one) for one in some}
    assert len(worker_module._warm) == len(agents)
    monkeypatch.setattr(worker_module, "warm_up", lambda repetition: None)
    assert_equal_play(warm, {one.identity: play(one) for one in some})
