import json

import numpy as np
import pytest

from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult
from graph_bandit_lab.analysis.tuning import choose_settings
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.design.grids import read_tuned
from graph_bandit_lab.storage import ResultStore, load_results

# R_T by graph model, reward model and nu; None diverges. Summed as they are, nu = 1 would win on er: 100 + 1 < 101 + 4.
TOTALS = {
    ("er", "gp_representation"): {0.1: 101.0, 1.0: 100.0, 10.0: None},
    ("er", "linear"): {0.1: 1.0, 1.0: 4.0, 10.0: 0.5},
    ("rdpg", "linear"): {0.1: 9.0, 1.0: 2.0, 10.0: 3.0},
}


@pytest.fixture
def folder(tmp_path):
    for (model, reward), totals in TOTALS.items():
        environment = EnvironmentSettings(
            graph_model=model, reward_model=reward, num_graphs=4, num_nodes=3, horizon=10
        ).to_dict()
        for nu, total in totals.items():
            regret = np.full(10, (total or 0.0) / 10)
            result = BanditResult(np.zeros(10, np.int64), regret, regret, "diverged" if total is None else "finished")
            key = RunKey("gnn-ts", {"exploration_scale": nu, "width": 8}, environment)
            ResultStore(tmp_path).add(key, 1, f"gnn-ts:exploration_scale={nu}", result, 1.0)
    return tmp_path


def test_the_best_cell_has_the_lowest_relative_regret_on_each_graph_model(folder):
    (er, rdpg), undecided = choose_settings(load_results(folder))
    assert undecided == []
    assert (er.graph_model, dict(er.settings)) == ("er", {"exploration_scale": 0.1})
    assert er.relative == pytest.approx((101 / 101 + 1 / 4) / 2)
    assert (rdpg.graph_model, dict(rdpg.settings)) == ("rdpg", {"exploration_scale": 1.0})
    assert rdpg.relative == pytest.approx(2 / 9)


def test_what_is_written_is_read_and_an_nn_agent_takes_that_of_its_twin(folder, tmp_path):
    assert main(["best-settings", str(folder), "--out", str(tmp_path / "tuned.json")]) == 0
    found = read_tuned(tmp_path / "tuned.json", "steps")
    assert found.settings_of("gnn-ts", "er") == found.settings_of("nn-ts", "er") == "exploration_scale=0.1"
    written = json.loads((tmp_path / "tuned.json").read_text())
    assert written["chosen_from"][1].startswith("gnn-ts on rdpg: best of 3 cells on the same 1 trials; 0 others")
    assert written["horizons"] == [10]
