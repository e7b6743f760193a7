"""Workers that die, clusters that go: nothing is lost, and nothing stops the others."""

import contextlib
import dataclasses
import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Processes
from graph_bandit_lab.design import derive_seeds
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution import DaskExecutor, InProcess, SchedulerLostError
from graph_bandit_lab.execution.execute import execute
from graph_bandit_lab.execution.worker import play
from graph_bandit_lab.storage import ResultStore

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
REPETITIONS = plan([Grid((SMALL,), AGENTS)], derive_seeds(0, 4))
RANDOM = [one for one in REPETITIONS if one.label == "random"]  # in `misbehaves`, each in its own way


def name(repetition):
    return repetition.key.environment_key, repetition.label, repetition.seed


def played(workers, function=play, repetitions=REPETITIONS):
    """Return outcomes by environment, label and seed."""
    outcomes = {}

    def keep(repetition, outcome):
        assert name(repetition) not in outcomes
        outcomes[name(repetition)] = outcome

    execute(repetitions, workers, keep, function=function)
    return outcomes


def assert_equal_play(found, expected):
    assert found.keys() == expected.keys()
    for key, outcome in found.items():
        for field in ("actions", "rewards", "regret", "simple_regret", "best_found", "top_share"):
            np.testing.assert_array_equal(getattr(outcome.result, field), getattr(expected[key].result, field))


@pytest.fixture(scope="module")
def alone():
    return {name(repetition): play(repetition) for repetition in REPETITIONS}


def test_another_process_plays_what_this_process_plays_bit_for_bit(tmp_path):
    """Over what repetitions can be of, since each worker that starts costs seconds."""
    (tmp_path / "hits.csv").write_text("smiles,y\nCCO,1\nCCN,2\nCCC,3\nCC(=O)O,4\nCCCC,\n")
    own = {"graphs": str(tmp_path / "hits.csv"), "target": "y", "horizon": 4, "replacement": False, "noise_std": 0}
    drifting = dataclasses.replace(SMALL, reward_model="gp_gntk", drift="walk", drift_rate=0.1)
    features = {
        SMALL: "gnn-ts:width=8,steps=2",
        dataclasses.replace(SMALL, resample_graphs="round", reward_scale="unit"): "gnn-ucb:width=8,steps=2",
        drifting: "gntk-ucb",
        EnvironmentSettings(**own): "random",
    }
    grids = [Grid((each,), (AgentSpec.parse(agent), AgentSpec.parse("lin-ts"))) for each, agent in features.items()]
    repetitions = plan(grids, derive_seeds(0, 2))
    here, there = played(InProcess(), repetitions=repetitions), played(Processes(1), repetitions=repetitions)
    assert len(here) == 16
    assert {outcome.result.status for outcome in here.values()} == {"finished"}
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
        from graph_bandit_lab.execution import worker

        run_bandit, worker.run_bandit = worker.run_bandit, exits
        try:
            return play(repetition, diagnose)
        finally:
            worker.run_bandit = run_bandit
    return play(repetition, diagnose)


@pytest.fixture(scope="module")
def after_mischief(tmp_path_factory):
    """Outcomes of two processes by what each repetition did."""
    marker = tmp_path_factory.mktemp("marker") / "died"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPH_BANDIT_TEST_MARKER", str(marker))
        outcomes = played(Processes(2), misbehaves)
    assert marker.exists()
    return outcomes


def test_a_repetition_that_kills_its_worker_fails(after_mischief):
    outcome = after_mischief[name(RANDOM[0])]
    assert outcome.result.status == "failed"
    assert "died, 2 times" in outcome.error


def test_the_others_are_played_bit_for_bit_and_a_worker_that_dies_once_costs_nothing(after_mischief, alone):
    guilty = {name(RANDOM[k]) for k in (0, 2, 3)}
    assert_equal_play(
        {key: outcome for key, outcome in after_mischief.items() if key not in guilty},
        {key: outcome for key, outcome in alone.items() if key not in guilty},
    )


def test_what_a_worker_raises_beside_the_play_is_a_failure_too(after_mischief):
    outcome = after_mischief[name(RANDOM[2])]
    assert outcome.result.status == "failed"
    assert "outside of play" in outcome.error


def test_an_agent_that_exits_is_a_failure_and_takes_nobody_along(after_mischief):
    outcome = after_mischief[name(RANDOM[3])]
    assert outcome.result.status == "failed"
    assert "SystemExit: 3" in outcome.error


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
def test_a_dask_cluster_plays_it_too(cluster, alone):
    assert_equal_play(played(DaskExecutor(cluster[1])), alone)


@pytest.mark.slow
def test_workers_of_a_cluster_get_the_graphs_that_they_cannot_read_where_they_lie(cluster, tmp_path):
    table = tmp_path / "hits.csv"
    table.write_text("smiles,y\nCCO,1\nCCN,2\nCCC,3\n")
    environment = EnvironmentSettings(graphs=str(table), target="y", horizon=3, replacement=False)
    repetitions = plan([Grid((environment,), (AgentSpec.parse("random"),))], (1, 2))
    workers = DaskExecutor(cluster[1])
    workers.share(repetitions)
    table.unlink()
    found = []
    execute(repetitions, workers, lambda repetition, outcome: found.append(outcome))
    assert [outcome.error for outcome in found] == ["", ""]


@pytest.mark.slow
def test_a_scheduler_that_is_killed_ends_the_sweep_and_what_was_finished_has_been_handed_over(cluster):
    scheduler, address = cluster
    outcomes = []

    def on_done(repetition, outcome):
        outcomes.append(outcome.result.status)
        scheduler.kill()

    with pytest.raises(SchedulerLostError, match="What was finished is stored"):
        execute(REPETITIONS, DaskExecutor(address), on_done)
    assert set(outcomes) == {"finished"}
    assert len(outcomes) < len(REPETITIONS)


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.execution.executors.SECONDS_TO_CONNECT", 1)
    pytest.importorskip("distributed")
    with pytest.raises(SchedulerLostError, match="Expected a Dask scheduler at tcp://127.0.0.1:9"):
        DaskExecutor("tcp://127.0.0.1:9")


@pytest.mark.slow
def test_workers_do_not_outlive_a_driver_that_is_killed(tmp_path):
    code = (
        "import os, sys, time\n"
        "from graph_bandit_lab import Processes\n"
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
        if not psutil.pid_exists(worker):
            return
        time.sleep(0.1)
    pytest.fail("the worker lives on")


@pytest.mark.slow
def test_a_script_whose_workers_cannot_start_is_told_and_nothing_fails(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from functools import partial\n"
        "from graph_bandit_lab import Processes, read_sweep, run_sweep\n"
        f"plan = read_sweep({str(tmp_path / 'little.toml')!r}).plan()\n"
        f"run_sweep(plan, {str(tmp_path / 'out')!r}, partial(Processes, 1), progress=False, report=False)\n"
    )
    (tmp_path / "little.toml").write_text('agents = ["random"]\n')
    done = subprocess.run([sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "guarded by `if __name__ == '__main__':`" in done.stderr
    assert not ResultStore(tmp_path / "out").stored()


def test_leaving_ends_our_processes_and_nobody_elses():
    mine = Processes(1)
    pid = mine.submit(os.getpid).result()
    assert pid != os.getpid()
    psutil.Process(pid).suspend()  # which hears of nothing but a kill
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    other.start()
    mine.abandon()
    deadline = time.monotonic() + 20
    while len(multiprocessing.active_children()) > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert multiprocessing.active_children() == [other]
    other.kill()
    other.join()
