"""Repetitions on graphs of one's own are played, stored, continued and reported."""

import dataclasses

import pytest

from graph_bandit_env.graphs import GraphSet
from graph_bandit_lab import (
    AgentSpec,
    EnvironmentSettings,
    Grid,
    RunSettings,
    Sweep,
    load_results,
    run_experiment,
    run_sweep,
    write_report,
)
from graph_bandit_lab.design import own_graphs

TABLE = "smiles,affinity\nCCO,1.5\nCCN,2.5\nc1ccccc1,0.5\nCC(=O)O,\nCCCC,4.0\n"


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "hits.csv").write_text(TABLE)
    environment = EnvironmentSettings(
        graphs=str(tmp_path / "hits.csv"), target="affinity", horizon=4, replacement=False, noise_std=0
    )
    return RunSettings(
        out=tmp_path / "out", environment=environment, agents=("lin-ts", "random"), repetitions=2, progress=False
    )


def test_a_run_is_stored_continued_and_reported_under_the_name_of_the_file(settings):
    assert run_experiment(settings).played == 4
    assert run_experiment(settings).reused == 4
    results = load_results(settings.out)
    assert {environment["graphs"] for environment in results["environment"]} == {"hits.csv (affinity)"}
    assert "graphs" not in results["versions"][0]
    assert (results["regret"].map(lambda regret: regret[-1]) == 0).all()  # the last graph that is left is the best
    assert results["rewards"].map(sorted).tolist() == [[0.5, 1.5, 2.5, 4.0]] * 4
    page = write_report(settings.out).read_text(encoding="utf-8")
    assert "hits.csv (affinity)" in page


def test_a_file_that_has_moved_is_known_again(settings, tmp_path):
    run_experiment(settings)
    (tmp_path / "hits.csv").rename(tmp_path / "moved.csv")
    moved = EnvironmentSettings(
        graphs=str(tmp_path / "moved.csv"), target="affinity", horizon=4, replacement=False, noise_std=0
    )
    again = RunSettings(out=settings.out, environment=moved, agents=settings.agents, repetitions=2, progress=False)
    assert run_experiment(again).played == 0


def test_other_values_are_another_environment(settings, tmp_path):
    run_experiment(settings)
    (tmp_path / "hits.csv").write_text(TABLE.replace("1.5", "1.25"))
    changed = EnvironmentSettings(
        graphs=str(tmp_path / "hits.csv"), target="affinity", horizon=4, replacement=False, noise_std=0
    )
    with pytest.raises(ValueError, match="to hold this environment. It holds one with other graphs or values"):
        run_experiment(RunSettings(out=settings.out, environment=changed, agents=settings.agents, progress=False))


def test_a_process_reads_a_pool_once(settings, monkeypatch):
    own_graphs._read.cache_clear()
    read, count = own_graphs.read_pool, []
    monkeypatch.setattr(own_graphs, "read_pool", lambda *given, **named: count.append(1) or read(*given, **named))
    run_experiment(settings)
    assert len(count) == 1
    assert isinstance(own_graphs.read_own_graphs(settings.environment.pool).graphs, GraphSet)


def test_a_sweep_says_which_file_has_changed_since_it_was_played(settings, tmp_path, capsys):
    def sweep():
        grid = Grid((dataclasses.replace(settings.environment),), (AgentSpec.parse("random"),))
        return run_sweep(Sweep(title="one", grids=(grid,), seeds=(1,)), tmp_path / "swept")

    assert sweep().played == 1
    assert sweep().reused == 1
    assert "with other graphs, values or noise" not in capsys.readouterr().err
    (tmp_path / "hits.csv").write_text(TABLE.replace("1.5", "1.25"))
    assert sweep().played == 1
    expected = "hits.csv (affinity): stored repetitions were played with other graphs, values or noise. They stay"
    assert expected in capsys.readouterr().err.replace("\n", " ")


def test_files_of_one_name_are_told_apart(tmp_path, capsys):
    environments = []
    for folder, value in (("a", "1.5"), ("b", "1.25")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "hits.csv").write_text(TABLE.replace("1.5", value))
        environments.append(
            EnvironmentSettings(graphs=str(tmp_path / folder / "hits.csv"), target="affinity", horizon=3)
        )
    grid = Grid(tuple(environments), (AgentSpec.parse("random"),))
    run_sweep(Sweep(title="two", grids=(grid,), seeds=(1,)), tmp_path / "out")
    run_sweep(Sweep(title="two", grids=(grid,), seeds=(1, 2)), tmp_path / "out")
    assert "with other graphs, values or noise" not in capsys.readouterr().err
    names = {environment["graphs"] for environment in load_results(tmp_path / "out")["environment"]}
    assert len(names) == 2
    assert all(name.startswith("hits.csv (affinity) [") for name in names)


def test_diagnostics_of_batches_are_refused_before_anything_is_played(tmp_path):
    settings = RunSettings(
        out=tmp_path, environment=EnvironmentSettings(batch=2, horizon=4), diagnostics=True, progress=False
    )
    with pytest.raises(ValueError, match="diagnostics without batches"):
        run_experiment(settings)
