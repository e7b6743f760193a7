import dataclasses
import json
import re

import networkx as nx
import numpy as np
import pytest
import torch
from support.runs import AGENTS, rows, run

import registry
from graph_bandit_lab import (
    AgentSpec,
    EnvironmentSettings,
    Grid,
    Sweep,
    load_results,
    run_experiment,
    run_sweep,
)
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.execution import LOG_NAME, worker
from graph_bandit_lab.storage import ResultStore
from graph_bandit_lab.storage.files import LOCK_NAME
from graph_bandit_lab.storage.results import FILE_NAME


def test_stores_each_repetition_of_each_agent(tmp_path):
    tally = run(tmp_path)
    results = load_results(tmp_path)
    assert (tally.played, tally.reused) == (4, 0)
    assert results["label"].tolist() == [*AGENTS, *AGENTS]
    assert results["seed"].nunique() == 2
    assert all(len(regret) == 8 for regret in results["regret"])
    assert results["agent_settings"][0]["learning_rate"] == 0.1  # defaults are stored too


def test_runs_are_bitwise_repeatable(tmp_path):
    for folder in ("a", "b"):
        run(tmp_path / folder)
    first, again = rows(tmp_path / "a"), rows(tmp_path / "b")
    assert first.keys() == again.keys()
    for key, row in first.items():
        assert np.array_equal(row.actions, again[key].actions)
        assert np.array_equal(row.rewards, again[key].rewards)


def test_a_repetition_does_not_depend_on_what_else_is_run(tmp_path):
    run(tmp_path / "both")
    run(tmp_path / "one", agents=AGENTS[:1], repetitions=1)
    ((key, row),) = rows(tmp_path / "one").items()
    assert np.array_equal(row.actions, rows(tmp_path / "both")[key].actions)


def test_finished_repetitions_are_reused_and_new_ones_added(tmp_path):
    run(tmp_path)
    before = rows(tmp_path)
    tally = run(tmp_path, repetitions=3, agents=(*AGENTS, "gnn-ts:width=4,steps=2"))
    after = rows(tmp_path)
    assert (tally.played, tally.reused) == (5, 4)
    assert all(
        after[key].created == row.created and after[key].wall_time == row.wall_time for key, row in before.items()
    )


def test_without_replacement_each_repetition_plays_each_graph_once(tmp_path):
    run(tmp_path, environment={"horizon": 5, "replacement": False})
    assert all(sorted(actions) == list(range(5)) for actions in load_results(tmp_path)["actions"])


def test_common_noise_gives_agents_the_same_rewards_where_they_play_the_same(tmp_path):
    run(
        tmp_path,
        environment={"num_graphs": 2, "horizon": 20, "noise_std": 1.0, "common_noise": True},
        agents=("random", "ucb1"),
        repetitions=1,
    )
    first, second = rows(tmp_path).values()
    same = first.actions == second.actions
    assert 0 < same.sum() < 20
    assert np.array_equal(first.rewards[same], second.rewards[same])


@pytest.mark.parametrize("first", [True, False])
def test_refuses_a_folder_that_was_played_with_the_other_replacement(tmp_path, first):
    run(tmp_path, environment={"horizon": 5, "replacement": first})
    with pytest.raises(ValueError, match=f"It holds one with replacement {first}"):
        run(tmp_path, environment={"horizon": 5, "replacement": not first})


def test_overwrite_plays_all_anew(tmp_path):
    run(tmp_path)
    tally = run(tmp_path, overwrite=True, repetitions=1)
    assert (tally.played, tally.reused) == (2, 0)
    assert len(load_results(tmp_path)) == 2


def test_refuses_a_folder_with_another_environment_and_says_what_differs(tmp_path):
    run(tmp_path)
    with pytest.raises(ValueError, match=r"It holds one with num_nodes 4\. Choose another folder with --out"):
        run(tmp_path, environment={"num_nodes": 6})
    assert len(load_results(tmp_path)) == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agents": ("gnn-t",)}, "Did you mean `gnn-ts`"),
        ({"agents": ("gnn-ts:width=3",)}, "even"),
        ({"agents": ("gnn-ts", "gnn-ts:width=512")}, "the same settings twice"),
        ({"agents": ("gnn-ts:exploration_scale=1", "gnn-ts:exploration_scale=1.0")}, "the same settings twice"),
    ],
)
def test_refuses_bad_settings_before_anything_is_made_or_thrown_away(tmp_path, changes, message):
    run(tmp_path)
    with pytest.raises(ValueError, match=message):
        run(tmp_path, overwrite=True, **changes)
    assert len(load_results(tmp_path)) == 4
    with pytest.raises(ValueError, match=message):
        run(tmp_path / "new", **changes)
    assert not (tmp_path / "new").exists()


def test_what_is_finished_survives_a_stop_in_the_middle_and_the_rest_is_played_later(tmp_path, monkeypatch):
    played = []

    def stop_at_the_third(env, agent, seed, **options):
        played.append(seed)
        if len(played) == 3:
            raise KeyboardInterrupt
        return run_bandit(env, agent, seed, **options)

    run_bandit = worker.run_bandit
    monkeypatch.setattr(worker, "run_bandit", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert len(load_results(tmp_path)) == 2
    monkeypatch.undo()
    assert run(tmp_path).reused == 2
    run(tmp_path / "whole")
    for key, row in rows(tmp_path / "whole").items():
        assert np.array_equal(row.actions, rows(tmp_path)[key].actions)


def test_a_diverged_repetition_is_stored_as_such_and_not_played_again(tmp_path):
    exploding = "gnn-ts:width=8,regularization=1000,penalty=constant,standardize=false,steps=300"
    run(tmp_path, agents=(exploding,))
    assert load_results(tmp_path)["status"].tolist() == ["diverged"] * 2
    assert load_results(tmp_path)["total_regret"].isna().all()
    assert run(tmp_path, agents=(exploding,)).played == 0


def test_plays_on_one_thread_and_restores_their_number(tmp_path, monkeypatch):
    seen = []

    def look(*arguments, **keywords):
        seen.append(torch.get_num_threads())
        return run_bandit(*arguments, **keywords)

    run_bandit = worker.run_bandit
    monkeypatch.setattr(worker, "run_bandit", look)
    torch.set_num_threads(2)
    try:
        run(tmp_path)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert seen == [1] * 4


def test_plays_an_agent_that_tells_no_settings(tmp_path, monkeypatch):
    """An agent of the five methods alone: its settings are those it was given."""

    class Bare:
        def __init__(self, agent):
            for name in ("reset", "select_action", "update", "state_dict", "load_state_dict"):
                setattr(self, name, getattr(agent, name))

    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("bare", lambda colour: Bare(registry.make_agent("random")))
    run(tmp_path, agents=("bare:colour=red",))
    assert load_results(tmp_path)["agent_settings"][0] == {"colour": "red"}


def test_everything_is_in_one_file(tmp_path):
    run(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {FILE_NAME, LOCK_NAME}


def test_a_repetition_that_raises_is_stored_as_failed_and_played_again_when_that_is_asked_for(
    tmp_path, monkeypatch, capsys
):
    run_bandit = worker.run_bandit
    monkeypatch.setattr(worker, "run_bandit", lambda *arguments, **_: 1 / 0)
    assert run(tmp_path).failed == 4
    assert set(load_results(tmp_path)["status"]) == {"failed"}
    assert "ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.setattr(worker, "run_bandit", run_bandit)
    tally = run(tmp_path)
    assert (tally.played, tally.reused, tally.failed) == (0, 4, 4)
    tally = run(tmp_path, retry_failed=True)
    assert (tally.played, tally.reused, tally.failed) == (4, 0, 0)
    assert set(load_results(tmp_path)["status"]) == {"finished"}


@pytest.mark.slow
def test_another_process_plays_what_this_process_plays(tmp_path):
    for workers in (None, 1):
        run(tmp_path / str(workers), workers=workers)
    alone, together = rows(tmp_path / "None"), rows(tmp_path / "1")
    assert alone.keys() == together.keys()
    for key, row in alone.items():
        assert np.array_equal(row.actions, together[key].actions)
        assert np.array_equal(row.rewards, together[key].rewards)


def test_without_a_terminal_there_is_a_line_a_repetition(tmp_path, capsys):
    run(tmp_path, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(
        r"1 of 4: gnn-ts:width=8,steps=2, seed \d+: BanditResult\(finished, 8 rounds, .*\), .* s", lines[0]
    )
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("arguments", "fields", "message"),
    [
        ((), {"environment": object()}, "Got environment=object. Write `run_experiment(RunSettings("),
        (("gnn-ts",), {}, "Expected settings. Got str"),
        ((), {}, "Expected settings. Got NoneType"),
    ],
)
def test_anything_but_settings_is_refused_and_told_what_to_write(arguments, fields, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        run_experiment(*arguments, **fields)


PLANNED = Sweep(
    title="in little",
    grids=(
        Grid(
            tuple(EnvironmentSettings(num_graphs=k, num_nodes=4, horizon=8) for k in (3, 5)),
            (AgentSpec.parse(AGENTS[0]), AgentSpec.parse("random")),
        ),
    ),
    seeds=(1, 2),
)


def test_what_another_sweep_failed_is_not_this_sweeps(tmp_path):
    found, out = PLANNED.plan(), tmp_path / "out"
    one = found.repetitions[0]
    other = RunKey("elsewhere", {}, one.key.environment)
    nothing = worker.failed("a traceback").result
    ResultStore(out).add(other, 1, "elsewhere", nothing, 0.0, "a traceback")
    tally = run_sweep(found, out, retry_failed=True, progress=False, report=False)
    assert (tally.played, tally.failed) == (8, 0)
    assert (load_results(out)["status"] == "failed").sum() == 1  # and its traceback is still there


def test_a_sweep_goes_on_where_it_stopped_and_grows(tmp_path):
    run_sweep(PLANNED.plan(), tmp_path / "out", progress=False, report=False)
    again = run_sweep(PLANNED, tmp_path / "out", progress=False, report=False)
    assert (again.played, again.reused) == (0, 8)
    more = run_sweep(
        dataclasses.replace(PLANNED, seeds=(1, 2, 3)).plan(), tmp_path / "out", progress=False, report=False
    )
    assert (more.played, more.reused) == (4, 8)


def test_a_sweep_can_be_asked_for_diagnostics_later(tmp_path):
    run_sweep(PLANNED.plan(), tmp_path, progress=False, report=False)
    before = rows(tmp_path)
    tally = run_sweep(PLANNED.plan(), tmp_path, diagnostics=True, progress=False, report=False)
    assert (tally.played, tally.reused) == (8, 0)
    for key, row in rows(tmp_path).items():
        assert np.array_equal(row.actions, before[key].actions)
        assert bool(row.diagnostics) == (row.agent == "gnn-ts")
    assert run_sweep(PLANNED.plan(), tmp_path, diagnostics=True, progress=False, report=False).played == 0


def test_what_is_called_otherwise_now_is_called_so_in_old_results_too(tmp_path):
    run_sweep(PLANNED.plan(), tmp_path / "out", progress=False, report=False)
    (grid,) = PLANNED.grids
    agents = tuple(
        AgentSpec.parse(spec.label, label) for spec, label in zip(grid.agents, ("mine", "other"), strict=True)
    )
    renamed = dataclasses.replace(PLANNED, grids=(Grid(grid.environments, agents),))
    again = run_sweep(renamed.plan(), tmp_path / "out", progress=False, report=False)
    assert (again.played, again.reused) == (0, 8)
    assert set(load_results(tmp_path / "out")["label"]) == {"mine", "other"}


def test_a_sweep_logs_a_line_a_repetition_and_leaves_the_file_closed(tmp_path):
    run_sweep(PLANNED.plan(), tmp_path, progress=False, report=False)
    lines = (tmp_path / LOG_NAME).read_text().splitlines()
    assert lines[0].endswith("INFO in little: 8 repetitions, 8 to play")
    assert re.search(r"INFO random on K = 3, seed 1: BanditResult\(finished, 8 rounds", "\n".join(lines))
    assert len(lines) == 9
    run_sweep(PLANNED.plan(), tmp_path, progress=False, report=False)
    assert len((tmp_path / LOG_NAME).read_text().splitlines()) == 10  # no line twice


def write_weighted_rings(path):
    """Write graphs that differ in features of edges alone."""
    lines = []
    for k in range(4):
        ring = nx.cycle_graph(4)
        nx.set_node_attributes(ring, {0: [0.0], 1: [1.0], 2: [2.0], 3: [3.0]}, "x")
        nx.set_edge_attributes(ring, {edge: [0.5 * k + edge[0]] for edge in ring.edges}, "edge_attr")
        lines.append(json.dumps(nx.node_link_data(ring, edges="edges")))
    path.write_text("\n".join(lines))
    return str(path)


def test_what_agents_do_not_read_is_said_once_of_each_agent_and_environment(tmp_path, capsys):
    environment = {"graphs": write_weighted_rings(tmp_path / "rings.jsonl"), "reward_model": "linear", "horizon": 2}
    agents = tuple(map(AgentSpec.parse, ("lin-ucb", "wl-ei", "random")))
    grid = Grid((EnvironmentSettings(**environment),), agents)
    run_sweep(Sweep(title="in little", grids=(grid,), seeds=(1, 2)), tmp_path, report=False)
    said = [line for line in capsys.readouterr().err.splitlines() if "does not see all" in line]
    assert [line.partition(":")[0] for line in said] == ["lin-ucb", "wl-ei"]
    assert "It does not read edge features, which differ here" in said[0]
    logged = [line for line in (tmp_path / LOG_NAME).read_text().splitlines() if "does not see all" in line]
    assert len(logged) == 2


def test_a_sweep_in_python_writes_its_report_too(tmp_path):
    tally = run_sweep(PLANNED, tmp_path, progress=False)
    assert tally.report == tmp_path / "report.html"
    assert "2 environments, 2 agents, 8 repetitions" in tally.report.read_text()
    assert (tmp_path / "regret.png").is_file()
    tally.report.unlink()
    assert run_sweep(PLANNED, tmp_path, progress=False, report=False).report is None
    assert not (tmp_path / "report.html").exists()
