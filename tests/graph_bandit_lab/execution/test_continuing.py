"""A sweep or a run that goes on from files plays only what they lack."""

import numpy as np
import pytest
from support.runs import run, settings

from graph_bandit_lab import (
    AgentSpec,
    EnvironmentSettings,
    Grid,
    Sweep,
    load_results,
    run_sweep,
    write_report,
)
from graph_bandit_lab.execution import describe_work
from graph_bandit_lab.storage import export_results, import_results

AGENTS = tuple(map(AgentSpec.parse, ("gnn-ts:width=8,steps=2", "random", "ucb1")))
ENVIRONMENTS = tuple(
    EnvironmentSettings(num_graphs=5, num_nodes=4, horizon=8, **changes)
    for changes in ({}, {"batch": 3}, {"delay": 2}, {"drift": "walk"}, {"actions_per_round": 3})
)


def sweep(*seeds, agents=AGENTS, environments=ENVIRONMENTS):
    return Sweep(title="in little", grids=(Grid(environments, agents),), seeds=seeds)


def play(folder, plan, **options):
    return run_sweep(plan, folder, progress=False, report=False, **options)


def played(folder):
    """Everything that was played, without times; pickled arrays are bytes."""
    columns = ("actions", "rewards", "regret", "simple_regret", "best_found", "top_share")
    return sorted(
        (row["environment_key"], row["label"], row["seed"], *(np.array(row[name]).tobytes() for name in columns))
        for row in load_results(folder).to_dict("records")
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Play two seeds without interruption. Tests only read it."""
    folder = tmp_path_factory.mktemp("whole")
    play(folder, sweep(1, 2))
    return folder


def test_only_what_is_missing_is_played(whole, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    play(first, sweep(1))
    play(second, sweep(2, agents=AGENTS[1:]))
    files = [export_results(folder, tmp_path / f"{folder.name}.xz").path for folder in (first, second)]
    described = describe_work(sweep(1, 2).plan(), tmp_path / "out", 1, continue_from=files)
    assert "30 repetitions, 25 stored, 5 to play; about" in described
    tally = play(tmp_path / "out", sweep(1, 2), continue_from=files)
    assert (tally.taken, tally.reused, tally.played) == (25, 25, 5)
    assert played(tmp_path / "out") == played(whole)
    assert (tmp_path / "out" / "sweep.log").read_text().count("Repetitions taken from files: 25.") == 1
    again = play(tmp_path / "out", sweep(1, 2), continue_from=files)
    assert (again.taken, again.reused, again.played) == (0, 30, 0)


def test_the_report_is_the_same(tmp_path):
    plan = sweep(1, 2, agents=AGENTS[1:], environments=ENVIRONMENTS[:2])
    play(tmp_path / "a", plan)
    file = export_results(tmp_path / "a", tmp_path / "a.xz").path
    assert play(tmp_path / "b", plan, continue_from=[file]).played == 0
    before, after = (write_report(tmp_path / name).read_bytes() for name in "ab")
    assert before == after


def test_repetitions_that_the_plan_lacks_are_taken_and_told(whole, tmp_path):
    file = export_results(whole, tmp_path / "whole.xz").path
    tally = play(tmp_path / "out", sweep(2, environments=ENVIRONMENTS[:1]), continue_from=[file])
    assert (tally.taken, tally.reused, tally.played) == (30, 3, 0)
    assert "27 repetitions of the files are not part of this plan" in (tmp_path / "out" / "sweep.log").read_text()


def test_diagnostics_travel_too(tmp_path):
    run(tmp_path / "a", diagnostics=True)
    file = export_results(tmp_path / "a", tmp_path / "a.xz").path
    assert run(tmp_path / "b", diagnostics=True, continue_from=(str(file),)).played == 0
    import_results(tmp_path / "c", [file])
    for folder in ("b", "c"):
        before, after = (load_results(tmp_path / name)["diagnostics"] for name in ("a", folder))
        for old, new in zip(before, after, strict=True):
            assert {k: v.tobytes() for k, v in old.items()} == {k: v.tobytes() for k, v in new.items()}


def test_of_two_files_the_repetition_with_diagnostics_counts_in_a_dry_run_too(tmp_path):
    plan = sweep(1, environments=ENVIRONMENTS[:1])
    files = []
    for diagnostics in (True, False):
        play(tmp_path / str(diagnostics), plan, diagnostics=diagnostics)
        files.append(export_results(tmp_path / str(diagnostics), tmp_path / f"{diagnostics}.xz").path)
    for order in (files, files[::-1]):
        described = describe_work(plan.plan(), tmp_path / "out", 1, diagnostics=True, continue_from=order)
        assert described == "in little: 3 repetitions, 3 stored, 0 to play."
    tally = play(tmp_path / "out", plan, diagnostics=True, continue_from=files)
    assert (tally.taken, tally.played) == (3, 0)


def test_a_run_refuses_a_file_of_another_environment_before_it_throws_anything_away(tmp_path):
    run(tmp_path / "a", environment={"num_nodes": 5})
    file = export_results(tmp_path / "a", tmp_path / "a.xz").path
    run(tmp_path / "b")
    with pytest.raises(ValueError, match=r"a.xz to hold this environment. It holds one with num_nodes 5"):
        run(tmp_path / "b", overwrite=True, continue_from=(file,))
    assert len(load_results(tmp_path / "b")) == 4
    assert settings(tmp_path / "b").continue_from == ()
