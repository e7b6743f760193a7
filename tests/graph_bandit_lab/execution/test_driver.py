"""A run or a sweep plays what its folder lacks, stores it at once, and continues from files."""

import dataclasses
import re

import numpy as np
import pytest
import torch

import registry
from graph_bandit_lab import (
    AgentSpec,
    EnvironmentSettings,
    Grid,
    RunSettings,
    Sweep,
    describe_work,
    load_results,
    run_experiment,
    run_sweep,
    write_report,
)
from graph_bandit_lab.execution import worker
from graph_bandit_lab.execution.driver import LOG_NAME
from graph_bandit_lab.storage import FILE_NAME, export_results

AGENTS = ("gnn-ts:width=8,steps=2", "random")
SMALL = {"num_graphs": 5, "num_nodes": 4, "horizon": 8}


def run(out, environment=SMALL, **changes):
    settings = {"agents": AGENTS, "repetitions": 2, "progress": False, **changes}
    return run_experiment(RunSettings(out=out, environment=EnvironmentSettings(**SMALL | environment), **settings))


def rows(out):
    return {(row.label, row.seed): row for row in load_results(out).itertuples()}


def test_each_repetition_of_each_agent_is_stored_in_one_file_whatever_else_is_run(tmp_path):
    tally = run(tmp_path / "both")
    results = load_results(tmp_path / "both")
    assert (tally.played, tally.reused) == (4, 0)
    assert results["label"].tolist() == [*AGENTS, *AGENTS]
    assert results["seed"].nunique() == 2
    assert results["agent_settings"][0]["learning_rate"] == 0.1  # defaults are stored too
    assert {path.name for path in (tmp_path / "both").iterdir()} == {FILE_NAME, "driver.lock", LOG_NAME}
    run(tmp_path / "one", agents=AGENTS[:1], repetitions=1)
    ((key, row),) = rows(tmp_path / "one").items()
    assert np.array_equal(row.actions, rows(tmp_path / "both")[key].actions)


def test_finished_repetitions_are_reused_and_new_ones_added(tmp_path):
    run(tmp_path)
    before = rows(tmp_path)
    tally = run(tmp_path, repetitions=3, agents=(*AGENTS, "gnn-ts:width=4,steps=2"))
    after = rows(tmp_path)
    assert (tally.played, tally.reused) == (5, 4)
    assert all(after[key].wall_time == row.wall_time for key, row in before.items())
    tally = run(tmp_path, overwrite=True, repetitions=1)
    assert (tally.played, tally.reused, len(load_results(tmp_path))) == (2, 0, 2)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"agents": ("gnn-t",)}, "gnn-t"),
        ({"agents": ("gnn-ts:width=3",)}, "width"),
        ({"agents": ("gnn-ts", "gnn-ts:width=512")}, "same settings"),
        ({"agents": ("molecule-ucb",)}, "molecule-ucb"),
        ({"agents": ("ucb1",), "environment": {"resample_graphs": "round"}}, "ucb1"),
        ({"environment": {"batch": 2}, "diagnostics": True}, "diagnostics"),
    ],
)
def test_refuses_bad_settings_before_anything_is_played_or_thrown_away(tmp_path, changes, name):
    run(tmp_path, agents=("random",), environment=changes.get("environment", {}))
    with pytest.raises(ValueError, match=name):
        run(tmp_path, overwrite="environment" not in changes, **changes)
    assert len(load_results(tmp_path)) == 2


def test_a_run_refuses_a_folder_or_a_file_of_another_environment(tmp_path):
    run(tmp_path / "a", agents=("random",), environment={"num_nodes": 5})
    file = export_results(tmp_path / "a", tmp_path / "a.xz").path
    run(tmp_path / "b", agents=("random",))
    for changes in ({"environment": {"num_nodes": 5}}, {"continue_from": (file,), "overwrite": True}):
        with pytest.raises(ValueError, match="N = [45]"):
            run(tmp_path / "b", agents=("random",), **changes)
    assert len(load_results(tmp_path / "b")) == 2


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
        assert np.array_equal(row.rewards, rows(tmp_path)[key].rewards)


def test_a_diverged_repetition_is_stored_as_such_and_not_played_again(tmp_path):
    exploding = "gnn-ts:width=8,regularization=1000,penalty=constant,standardize=false,steps=300"
    run(tmp_path, agents=(exploding,))
    assert load_results(tmp_path)["status"].tolist() == ["diverged"] * 2
    assert run(tmp_path, agents=(exploding,)).played == 0


def test_plays_on_one_thread_and_restores_their_number(tmp_path, monkeypatch):
    seen, run_bandit = [], worker.run_bandit

    def look(*arguments, **keywords):
        seen.append(torch.get_num_threads())
        return run_bandit(*arguments, **keywords)

    monkeypatch.setattr(worker, "run_bandit", look)
    torch.set_num_threads(2)
    try:
        run(tmp_path)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert seen == [1] * 4


class Versioned:
    """Plays at random, with the five methods alone; its algorithm is what the test says it is."""

    algorithm = 1

    def __init__(self, colour="blue"):
        agent = registry.make_agent("random")
        for name in ("reset", "select_action", "update", "state_dict", "load_state_dict"):
            setattr(self, name, getattr(agent, name))


def test_another_version_of_an_agent_is_played_beside_the_earlier_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("versioned", Versioned)
    how = {"agents": ("versioned:colour=red", "random"), "progress": True}
    run(tmp_path, **how)
    assert load_results(tmp_path)["agent_settings"][0] == {"colour": "red"}
    assert run(tmp_path, **how).reused == 4
    assert "versioned: 2 stored repetitions are not played again" in capsys.readouterr().err
    monkeypatch.setattr(Versioned, "algorithm", 2)
    tally = run(tmp_path, **how)
    assert (tally.played, tally.reused) == (2, 2)
    results = load_results(tmp_path)
    assert results.groupby("agent")["algorithm"].agg(sorted).to_dict() == {"random": [1] * 2, "versioned": [1, 1, 2, 2]}
    old, new = (label for label in dict.fromkeys(results["label"]) if label != "random")
    page = write_report(tmp_path).read_text()
    assert f"Played by an earlier version of the agent's algorithm, and not continued: {old}.</p>" in page
    assert new in page


def test_a_repetition_that_raises_is_stored_as_failed_and_played_again_when_that_is_asked_for(
    tmp_path, monkeypatch, capsys
):
    run_bandit = worker.run_bandit
    monkeypatch.setattr(worker, "run_bandit", lambda *arguments, **_: 1 / 0)
    assert run(tmp_path).failed == 4
    assert set(load_results(tmp_path)["status"]) == {"failed"}
    assert capsys.readouterr().err.count("ZeroDivisionError") == 1
    assert (tmp_path / LOG_NAME).read_text().count("ZeroDivisionError") == 4
    monkeypatch.setattr(worker, "run_bandit", run_bandit)
    tally = run(tmp_path)
    assert (tally.played, tally.reused, tally.failed) == (0, 4, 4)
    tally = run(tmp_path, retry_failed=True)
    assert (tally.played, tally.reused, tally.failed) == (4, 0, 0)
    assert set(load_results(tmp_path)["status"]) == {"finished"}


PAIR = (AgentSpec.parse(AGENTS[0]), AgentSpec.parse("random"))
ENVIRONMENTS = tuple(EnvironmentSettings(**{**SMALL, "num_graphs": count}) for count in (3, 5))


def sweep(*seeds, agents=PAIR, environments=ENVIRONMENTS):
    return Sweep(title="in little", grids=(Grid(environments, agents),), seeds=seeds)


def play(plan, folder, **options):
    return run_sweep(plan, folder, **{"progress": False, "report": False, **options})


def test_a_sweep_grows_is_logged_and_reported(tmp_path, capsys):
    tally = run_sweep(sweep(1, 2), tmp_path)
    assert "2 environments, 2 agents, 8 repetitions" in tally.report.read_text()
    lines = capsys.readouterr().err.splitlines()  # without a terminal there is a line a repetition
    assert re.fullmatch(r"1 of 8: gnn-ts.* on K = 3, seed 1: regret .* in 8 rounds, .* s", lines[0])
    again, more = play(sweep(1, 2), tmp_path), play(sweep(1, 2, 3), tmp_path)
    assert (again.played, again.reused, again.report) == (0, 8, None)
    assert (more.played, more.reused) == (4, 8)
    logged = (tmp_path / LOG_NAME).read_text().splitlines()
    assert logged[0].endswith("INFO in little: 8 repetitions, 8 to play")
    assert len(logged) == 1 + 8 + 1 + 1 + 4


def test_diagnostics_and_labels_can_change_later(tmp_path):
    play(sweep(1), tmp_path)
    before = rows(tmp_path)
    tally = play(sweep(1), tmp_path, diagnostics=True)
    assert (tally.played, tally.reused) == (4, 0)
    for key, row in rows(tmp_path).items():
        assert np.array_equal(row.actions, before[key].actions)
        assert bool(row.diagnostics) == (row.agent == "gnn-ts")
    renamed = tuple(dataclasses.replace(spec, label=label) for spec, label in zip(PAIR, "ab", strict=True))
    assert play(sweep(1, agents=renamed), tmp_path, diagnostics=True).played == 0
    assert set(load_results(tmp_path)["label"]) == {"a", "b"}


def played(folder):
    """Everything that was played, without times."""
    columns = ("actions", "rewards", "regret", "simple_regret", "best_found", "top_recall")
    return sorted(
        (row["environment_key"], row["label"], row["seed"], *(np.array(row[name]).tobytes() for name in columns))
        for row in load_results(folder).to_dict("records")
    )


def test_only_what_files_lack_is_played_and_the_rest_is_taken(tmp_path):
    changes = ({}, {"batch": 3}, {"delay": 2}, {"drift": "walk"}, {"actions_per_round": 3})
    environments = tuple(EnvironmentSettings(**SMALL, **change) for change in changes)
    plan, part = sweep(1, 2, environments=environments), sweep(1, environments=environments)
    for name, what in {"whole": plan, "first": part, "second": dataclasses.replace(plan, seeds=(2, 9))}.items():
        play(what, tmp_path / name)
    play(sweep(1, environments=environments[:1]), tmp_path / "first", diagnostics=True)
    files = [export_results(tmp_path / name, tmp_path / f"{name}.xz").path for name in ("first", "second")]
    described = describe_work(dataclasses.replace(plan, seeds=(1, 2, 3)).plan(), tmp_path / "out", continue_from=files)
    assert described == "in little: 30 repetitions, 20 stored, 10 to play."
    tally = play(plan, tmp_path / "out", continue_from=files)
    assert (tally.taken, tally.reused, tally.played) == (30, 20, 0)
    assert {*played(tmp_path / "whole")} <= {*played(tmp_path / "out")}
    assert "10 repetitions of the files are not part of this plan" in (tmp_path / "out" / LOG_NAME).read_text()
    asked = sweep(1, environments=environments[:1])
    assert play(asked, tmp_path / "out", continue_from=files, diagnostics=True).played == 0


TABLE = "smiles,affinity\nCCO,1.5\nCCN,2.5\nc1ccccc1,0.5\nCC(=O)O,\nCCCC,4.0\n"


def of_file(path):
    return EnvironmentSettings(graphs=str(path), target="affinity", horizon=4, replacement=False, noise_std=0)


def test_graphs_of_ones_own_are_stored_continued_and_reported_under_the_name_of_their_file(tmp_path):
    files = [tmp_path / name / "hits.csv" for name in "ab"]
    for file, value in zip(files, ("1.5", "1.25"), strict=True):
        file.parent.mkdir()
        file.write_text(TABLE.replace("1.5", value))
    how = {"agents": ("lin-ts", "random"), "repetitions": 2, "progress": False, "out": tmp_path / "out"}
    assert run_experiment(RunSettings(environment=of_file(files[0]), **how)).played == 4
    moved = files[0].rename(tmp_path / "moved.csv")
    assert run_experiment(RunSettings(environment=of_file(moved), **how)).reused == 4
    with pytest.raises(ValueError, match="this environment alone"):
        run_experiment(RunSettings(environment=of_file(files[1]), **how))
    results = load_results(how["out"])
    assert {environment["graphs"] for environment in results["environment"]} == {"hits.csv (affinity)"}
    assert results["rewards"].map(sorted).tolist() == [[0.5, 1.5, 2.5, 4.0]] * 4
    assert "hits.csv (affinity)" in write_report(how["out"]).read_text(encoding="utf-8")
    play(sweep(1, agents=PAIR[1:], environments=(of_file(moved), of_file(files[1]))), tmp_path / "two")
    names = {environment["graphs"] for environment in load_results(tmp_path / "two")["environment"]}
    assert len(names) == 2  # files of one name are told apart


def test_what_agents_do_not_read_is_said_once_of_each_agent_and_environment(tmp_path, capsys):
    weighted = EnvironmentSettings(graph_model="weighted", num_graphs=4, num_nodes=4, horizon=2)
    agents = tuple(map(AgentSpec.parse, ("lin-ucb", "wl-ei", "random")))
    run_sweep(sweep(1, 2, agents=agents, environments=(weighted,)), tmp_path, report=False)
    said = [line for line in capsys.readouterr().err.splitlines() if "does not see all" in line]
    assert said
    assert [line.partition(":")[0] for line in said] == list(dict.fromkeys(line.partition(":")[0] for line in said))
    assert "lin-ucb" in said[0]
