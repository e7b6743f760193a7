"""The laboratory plays where mean rewards drift."""

import numpy as np
import pytest

from graph_bandit_lab import (
    AgentSpec,
    EnvironmentSettings,
    Grid,
    Processes,
    RunSettings,
    load_results,
    run_experiment,
    write_report,
)
from graph_bandit_lab.design import derive_seeds
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution import InProcess
from graph_bandit_lab.execution.execute import execute

DRIFTING = EnvironmentSettings(
    num_graphs=8, num_nodes=5, horizon=25, reward_model="gp_gntk", drift="walk", drift_rate=0.1
)


def outcomes(workers, environment=DRIFTING):
    agents = tuple(map(AgentSpec.parse, ("gntk-ucb", "lin-ts", "random")))
    repetitions, found = plan([Grid((environment,), agents)], derive_seeds(0, 2)), {}
    execute(repetitions, workers, lambda one, outcome: found.update({(one.label, one.seed): outcome.result}))
    return found


def test_repetitions_are_the_same_in_every_kind_of_worker():
    here, there = outcomes(InProcess()), outcomes(Processes(2))
    assert here.keys() == there.keys()
    for key, result in here.items():
        assert result.status == "finished"
        for name in ("actions", "rewards", "regret", "simple_regret", "best_found", "top_share"):
            np.testing.assert_array_equal(getattr(result, name), getattr(there[key], name))


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
