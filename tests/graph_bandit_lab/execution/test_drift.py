"""The laboratory plays where mean rewards drift."""

import pytest

from graph_bandit_lab import EnvironmentSettings, RunSettings, load_results, run_experiment, write_report


@pytest.mark.parametrize("drift", ["walk", "jump"])
def test_results_are_stored_and_shown_with_the_name_of_the_drift(tmp_path, drift):
    environment = EnvironmentSettings(num_graphs=4, num_nodes=4, horizon=6, drift=drift, drift_rate=0.25)
    settings = RunSettings(agents=("random", "lin-ts"), environment=environment, out=tmp_path, repetitions=2)
    assert run_experiment(settings).played == 4
    assert run_experiment(settings).reused == 4
    results = load_results(tmp_path)
    assert {(each["drift"], each["drift_rate"]) for each in results["environment"]} == {(drift, 0.25)}
    assert results["final_simple_regret"].notna().all()
    assert f"T = 6, means that {drift} at rate 0.25" in write_report(tmp_path).read_text(encoding="utf-8")
