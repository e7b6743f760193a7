"""Workers that die, clusters that go: nothing is lost, and nothing stops the others."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest

from graph_bandit_lab import EnvironmentSettings
from graph_bandit_lab.design.plan import Grid, derive_seeds, plan
from graph_bandit_lab.design.settings import AgentSpec
from graph_bandit_lab.execution.execute import execute
from graph_bandit_lab.execution.executors import DaskExecutor, Processes, SchedulerLostError
from graph_bandit_lab.execution.worker import play

SMALL = EnvironmentSettings(num_graphs=5, num_nodes=4, horizon=8)
AGENTS = (AgentSpec.parse("gnn-ts:width=8,steps=2"), AgentSpec.parse("random"))
SCHEDULER = """
import asyncio
from distributed import Scheduler

async def serve():
    async with Scheduler(host="tcp://127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(serve())
"""
REPETITIONS = plan([Grid((SMALL,), AGENTS)], derive_seeds(0, 3))


def played(open_workers, function=play, repetitions=REPETITIONS):
    """Return outcomes by label and seed."""
    outcomes = {}

    def keep(repetition, outcome):
        assert (repetition.label, repetition.seed) not in outcomes
        outcomes[repetition.label, repetition.seed] = outcome

    execute(repetitions, open_workers, keep, function=function)
    return outcomes


def assert_equal_play(found, expected):
    assert found.keys() == expected.keys()
    for key, outcome in found.items():
        assert np.array_equal(outcome.result.actions, expected[key].result.actions)
        assert np.array_equal(outcome.result.rewards, expected[key].result.rewards)


@pytest.fixture(scope="module")
def alone():
    return {(one.label, one.seed): play(one) for one in REPETITIONS}


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_play_what_one_process_plays_bit_for_bit(workers, alone):
    assert_equal_play(played(partial(Processes, workers)), alone)


def test_a_dask_cluster_plays_it_too(alone):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="tcp://127.0.0.1", dashboard_address=None
    ) as cluster:
        assert_equal_play(played(partial(DaskExecutor, cluster.scheduler_address)), alone)


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.execution.executors.SECONDS_TO_CONNECT", 1)
    pytest.importorskip("distributed")
    with pytest.raises(SchedulerLostError, match="Expected a Dask scheduler at tcp://127.0.0.1:9"):
        played(partial(DaskExecutor, "tcp://127.0.0.1:9"))


def test_a_scheduler_that_is_killed_ends_the_sweep_and_what_was_finished_has_been_handed_over():
    pytest.importorskip("distributed")
    scheduler = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    address = scheduler.stdout.readline().strip()
    outcomes = []

    def on_done(repetition, outcome):
        outcomes.append(outcome.result.status)
        scheduler.kill()

    worker_command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard", "--nthreads", "1"]
    worker = subprocess.Popen(worker_command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        with pytest.raises(SchedulerLostError, match="What was finished is stored"):
            execute(REPETITIONS, partial(DaskExecutor, address), on_done)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
        scheduler.stdout.close()
    assert set(outcomes) == {"finished"}
    assert len(outcomes) < len(REPETITIONS)


def dies_at_the_second_seed(repetition, diagnose):
    if repetition.label == "random" and repetition.seed == REPETITIONS[3].seed:
        os.kill(os.getpid(), signal.SIGKILL)
    return play(repetition, diagnose)


def test_a_repetition_that_kills_its_worker_fails_and_the_others_are_played(alone):
    outcomes = played(partial(Processes, 2), dies_at_the_second_seed)
    guilty = ("random", REPETITIONS[3].seed)
    assert outcomes[guilty].result.status == "failed"
    assert "died, 2 times" in outcomes[guilty].error
    assert_equal_play(
        {key: outcome for key, outcome in outcomes.items() if key != guilty},
        {key: outcome for key, outcome in alone.items() if key != guilty},
    )


def dies_once(repetition, diagnose):
    marker = os.environ["GRAPH_BANDIT_TEST_MARKER"]
    if repetition.label == "random" and not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return play(repetition, diagnose)


def test_a_worker_that_dies_once_costs_nothing(alone, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPH_BANDIT_TEST_MARKER", str(tmp_path / "died"))
    assert_equal_play(played(partial(Processes, 2), dies_once), alone)
    assert (tmp_path / "died").exists()


def raises(repetition, diagnose):
    raise RuntimeError("outside of play")


def test_what_a_worker_raises_beside_the_play_is_a_failure_too():
    outcomes = played(partial(Processes, 1), raises, repetitions=REPETITIONS[:2])
    assert [outcome.result.status for outcome in outcomes.values()] == ["failed", "failed"]
    assert all("outside of play" in outcome.error for outcome in outcomes.values())


def test_workers_do_not_outlive_a_driver_that_is_killed(tmp_path):
    code = (
        "import os, sys, time\n"
        "from graph_bandit_lab.execution.executors import Processes\n"
        "if __name__ == '__main__':\n"
        "    pool = Processes(1)\n"
        "    print(pool.submit(os.getpid).result(), flush=True)\n"
        "    time.sleep(60)\n"
    )
    script = tmp_path / "driver.py"
    script.write_text(code)
    driver = subprocess.Popen([sys.executable, "-W", "ignore", str(script)], stdout=subprocess.PIPE, text=True)
    worker = int(driver.stdout.readline())
    driver.kill()
    driver.wait()
    driver.stdout.close()
    for _ in range(100):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the worker lives on")


def exits(repetition, diagnose):
    from graph_bandit_lab.execution import worker

    worker.run_bandit = lambda *_, **__: sys.exit(3)
    return play(repetition, diagnose)


def test_an_agent_that_exits_is_a_failure_and_takes_nobody_along():
    (outcome,) = played(partial(Processes, 1), exits, repetitions=REPETITIONS[:1]).values()
    assert outcome.result.status == "failed"
    assert "SystemExit: 3" in outcome.error


def test_a_script_whose_workers_cannot_start_is_told_and_nothing_fails(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from graph_bandit_lab.execution.executors import Processes\n"
        "from functools import partial\n"
        "from graph_bandit_lab.execution.sweep import run_sweep\n"
        "from graph_bandit_lab.design.sweep_file import read_sweep\n"
        f"plan = read_sweep({str(tmp_path / 'little.toml')!r}).plan()\n"
        f"run_sweep(plan, {str(tmp_path / 'out')!r}, partial(Processes, 1), progress=False)\n"
    )
    (tmp_path / "little.toml").write_text('agents = ["random"]\n')
    done = subprocess.run([sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "guarded by `if __name__ == '__main__':`" in done.stderr
    from graph_bandit_lab.storage.results import ResultStore

    assert not ResultStore(tmp_path / "out").stored()


@pytest.mark.parametrize("count", [0, -1])
def test_no_process_is_no_pool(count):
    with pytest.raises(ValueError, match="at least one process"):
        Processes(count)


def test_leaving_ends_our_processes_and_nobody_elses():
    import multiprocessing

    mine = Processes(1)
    assert mine.submit(os.getpid).result() != os.getpid()
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    other.start()
    mine.abandon()
    deadline = time.monotonic() + 20
    while len(multiprocessing.active_children()) > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert multiprocessing.active_children() == [other]
    other.kill()
    other.join()
