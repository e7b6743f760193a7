import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import registry
from benchmarks.kill_sweep import SWEEP, count, survive, table
from graph_bandit_lab import load_results, sweep, worker
from graph_bandit_lab.cli import main
from graph_bandit_lab.execute import processes
from graph_bandit_lab.results import ResultStore, RunKey
from graph_bandit_lab.sweep import describe_work, list_presets, read_sweep, run_sweep

TOML = SWEEP.format(repetitions=2).replace("sixty short runs", "in little")


@pytest.fixture
def little(tmp_path):
    path = tmp_path / "little.toml"
    path.write_text(TOML)
    return path


def test_a_sweep_is_the_product_of_its_lists(little):
    found = read_sweep(little)
    assert found.title == "in little"
    assert [(e.num_graphs, e.reward_model) for e in found.grids[0].environments] == [
        (3, "linear"),
        (3, "gp_gntk"),
        (5, "linear"),
        (5, "gp_gntk"),
    ]
    assert len(found.repetitions()) == 4 * 2 * 2


def test_settings_multiply_agents(tmp_path):
    path = tmp_path / "tune.toml"
    path.write_text(
        'seeds = [7]\n[[grid]]\nagents = ["gnn-ts:width=8", "gnn-ucb"]\n'
        "[grid.settings]\nlearning_rate = [0.1, 0.01]\nstandardize = false\n"
    )
    assert read_sweep(path).grids[0].agents == (
        "gnn-ts:width=8,learning_rate=0.1,standardize=False",
        "gnn-ts:width=8,learning_rate=0.01,standardize=False",
        "gnn-ucb:learning_rate=0.1,standardize=False",
        "gnn-ucb:learning_rate=0.01,standardize=False",
    )
    assert read_sweep(path).seeds == (7,)


SIZES = {
    "paper-figure1": 6 * 6 * 10,
    "paper-figure2": 4 * 6 * 10,
    "paper-figure3": 8 * 10,
    "paper-rdpg": 48 * 6 * 10,
    "paper-table1": 192 * 6 * 10,
    "quick": 18 * 6 * 3,
    "tune": 2 * 3 * 64 * 10,
}


def test_the_presets_are_those_of_the_paper():
    assert set(list_presets()) == set(SIZES)


@pytest.mark.parametrize("fit", ["steps", "literal"])
@pytest.mark.parametrize("name", SIZES)
def test_a_preset_has_the_repetitions_that_the_paper_has(name, fit):
    repetitions = read_sweep(name, fit).repetitions()
    assert len(repetitions) == SIZES[name]
    assert {one.key.agent_settings["fit"] for one in repetitions} == {"epochs" if fit == "literal" else "steps"}
    assert {one.key.agent_settings["covariance"] for one in repetitions} == {"diagonal"}


ER = {"edge_prob": {0.2, 0.4, 0.6, 0.8}, "num_nodes": {10, 50, 100, 500}, "num_graphs": {10, 50, 100, 200}}
REWARDS = {"linear", "gp_gntk", "gp_representation"}
VALUES = {
    "paper-figure1": {"graph_model": {"er", "rdpg"}, "edge_prob": {0.4}, "num_nodes": {50}, "num_graphs": {100}},
    "paper-figure2": {"graph_model": {"rdpg"}, "num_nodes": {100}, "num_graphs": {10, 50, 100, 200}},
    "paper-figure3": {"graph_model": {"er"}, "edge_prob": {0.4}, "num_nodes": {50}, "num_graphs": {100}},
    "paper-rdpg": {**ER, "graph_model": {"rdpg"}, "edge_prob": {0.4}, "reward_model": REWARDS},
    "paper-table1": {**ER, "graph_model": {"er"}, "reward_model": REWARDS},
    "quick": {"edge_prob": {0.4}, "num_nodes": {10, 50}, "num_graphs": {10, 50, 100}, "reward_model": REWARDS},
    "tune": {"graph_model": {"er", "rdpg"}, "num_nodes": {50}, "num_graphs": {100}, "reward_model": {"gp_gntk"}},
}


@pytest.mark.parametrize("name", SIZES)
def test_a_preset_has_the_values_of_the_paper(name):
    repetitions = read_sweep(name).repetitions()
    environments = [one.key.environment for one in repetitions]
    horizon = {500} if name == "quick" else {1000}
    for setting, values in {**VALUES[name], "horizon": horizon, "noise_std": {0.01}, "feature_dim": {10}}.items():
        assert {environment[setting] for environment in environments} == values, setting
    agents = [one.key.agent_settings for one in repetitions]
    assert {agent["depth"] for agent in agents} == {2}
    assert {agent["width"] for agent in agents} == ({32, 128, 512, 2048} if name == "paper-figure3" else {512})
    if name == "tune":
        assert {agent["exploration_scale"] for agent in agents} == {0.01, 0.1, 1, 10}
        for setting in ("learning_rate", "regularization"):
            assert {agent[setting] for agent in agents} == {0.1, 0.01, 0.001, 0.0001}


def test_what_another_sweep_failed_is_not_this_sweeps(little, tmp_path):
    found, out = read_sweep(little), tmp_path / "out"
    one = found.repetitions()[0]
    other = RunKey("elsewhere", {}, one.key.environment)
    nothing = worker.failed("a traceback").result
    ResultStore(out).add(other, 1, "elsewhere", nothing, 0.0, "a traceback")
    tally = run_sweep(found, out, processes(1), 2, retry_failed=True, progress=False)
    assert (tally.played, tally.failed) == (16, 0)
    assert (load_results(out)["status"] == "failed").sum() == 1  # and its traceback is still there


def test_two_processes_store_what_one_stores(little, tmp_path):
    for workers in (1, 2):
        tally = run_sweep(read_sweep(little), tmp_path / str(workers), processes(workers), 4, progress=False)
        assert (tally.played, tally.reused, tally.failed) == (16, 0, 0)
    assert table(tmp_path / "1") == table(tmp_path / "2")


def test_a_sweep_goes_on_where_it_stopped_and_grows(little, tmp_path):
    found = read_sweep(little)
    run_sweep(found, tmp_path / "out", processes(1), 2, progress=False)
    again = run_sweep(found, tmp_path / "out", processes(1), 2, progress=False)
    assert (again.played, again.reused) == (0, 16)
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 3"))
    more = run_sweep(read_sweep(little), tmp_path / "out", processes(1), 2, progress=False)
    assert (more.played, more.reused) == (8, 16)


SCRIPT = """
import sys
from graph_bandit_lab.cli import main
if __name__ == "__main__":
    sys.exit(main(["sweep", sys.argv[1], "--out", sys.argv[2], "--workers", "2"]))
"""


def test_a_driver_that_is_killed_again_and_again_loses_nothing_and_repeats_nothing(tmp_path):
    """`python -m benchmarks.kill_sweep` kills fifty times."""
    assert survive(tmp_path, kills=2, repetitions=2) == 16


def test_a_repetition_that_raises_is_stored_with_its_traceback_and_can_be_tried_again(tmp_path, capsys, monkeypatch):
    path = tmp_path / "failing.toml"
    path.write_text(TOML)
    monkeypatch.setattr(sweep, "execute", with_a_failure)
    assert main(["sweep", str(path), "--out", str(tmp_path / "out"), "--workers", "1"]) == 1
    printed = capsys.readouterr().out
    assert "failed 1." in printed
    assert "--retry-failed" in printed
    failed = load_results(tmp_path / "out").query("status == 'failed'")
    assert "ZeroDivisionError" in failed["error"].iloc[0]
    assert np.isnan(failed["total_regret"].iloc[0])
    assert "ZeroDivisionError" in (tmp_path / "out" / "sweep.log").read_text()
    monkeypatch.undo()
    assert main(["sweep", str(path), "--out", str(tmp_path / "out"), "--workers", "1"]) == 1
    assert main(["sweep", str(path), "--out", str(tmp_path / "out"), "--workers", "1", "--retry-failed"]) == 0
    assert not (load_results(tmp_path / "out")["status"] == "failed").any()


def with_a_failure(repetitions, open_executor, in_flight, keep):
    """Play here, in this process; the first repetition divides by zero."""
    first, *others = repetitions
    monkey = pytest.MonkeyPatch()
    monkey.setattr(worker, "run_bandit", lambda *_, **__: 1 / 0)
    keep(first, worker.play(first))
    monkey.undo()
    for one in others:
        keep(one, worker.play(one))


def test_a_dry_run_tells_how_much_there_is_and_plays_nothing(little, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["sweep", str(little), "--out", str(out), "--dry-run"]) == 0
    assert "16 repetitions, 0 stored, 16 to play; none is timed yet" in capsys.readouterr().out
    assert not out.exists()
    run_sweep(read_sweep(little), out, processes(1), 2, progress=False)
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 4"))
    assert "32 repetitions, 16 stored, 16 to play; about 0 minutes" in describe_work(read_sweep(little), out, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("title", "titel"), "unknown key `titel`"),
        (("num_nodes", "nodes"), "unknown key `nodes`"),
        (("[grid.environment]", "[grid.world]"), "unknown key `world`"),
        (("repetitions = 2", "seeds = [1]\nseed = 2"), "either `seeds`, or `seed` and `repetitions`"),
        (('agents = ["gnn-ts:width=8,steps=2", "random"]', ""), "expected `agents`"),
        (('"random"', '"randon"'), "Did you mean `random`"),
        (("horizon = 8", "horizon = 0"), "`horizon`"),
        (("title =", "title"), "to be a TOML file"),
        (("repetitions = 2", "seeds = 7"), "`seeds` to be a list of integers >= 0. Got 7"),
        (("repetitions = 2", "seeds = [1, 1]"), "each of `seeds` once"),
        (("repetitions = 2", "repetitions = 0"), "`repetitions` >= 1. Got 0 and 0"),
        (("repetitions = 2", 'repetitions = "5"'), "Got 0 and '5'"),
        (("[[grid]]", "[grid]"), "under `[[grid]]`"),
        (('["gnn-ts:width=8,steps=2", "random"]', '"random"'), "a list of names"),
        (("num_graphs = [3, 5]", "num_graphs = []"), "at least one value of `num_graphs`"),
    ],
)
def test_refuses_a_file_with_a_mistake_before_anything_is_played(little, tmp_path, capsys, change, message):
    little.write_text(TOML.replace(*change))
    assert main(["sweep", str(little), "--out", str(tmp_path / "out"), "--workers", "1"]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_neither_file_nor_preset_comes_with_those_that_are(tmp_path, capsys):
    assert main(["sweep", "qick", "--out", str(tmp_path)]) == 1
    assert "paper-figure1, paper-figure2" in capsys.readouterr().err


def test_the_steps_preset_is_the_papers_but_for_the_number_of_steps():
    literal, steps = (registry.make_agent("gnn-ts", preset=name).settings for name in ("paper", "paper-steps"))
    assert steps.replace(fit="epochs", steps=literal.steps) == literal


def test_the_driver_stops_at_an_interrupt_and_says_how_to_go_on(little, tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(SCRIPT)
    little.write_text(TOML.replace("repetitions = 2", "repetitions = 60"))
    driver = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(script), str(little), str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    while count(tmp_path / "out") < 3 and driver.poll() is None:
        time.sleep(0.05)
    os.killpg(driver.pid, signal.SIGINT)  # as a terminal does, to driver and workers
    _, error = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert "Stopped. in little: 480 repetitions, " in error
    assert "Traceback" not in error
