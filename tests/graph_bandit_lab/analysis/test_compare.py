import numpy as np
import pytest

from graph_bandit_lab import BanditResult
from graph_bandit_lab.analysis.compare import compare_folders
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.storage import ResultStore

ENVIRONMENTS = [EnvironmentSettings(num_graphs=4, num_nodes=nodes, horizon=10).to_dict() for nodes in (3, 5)]


def fill(folder, seeds=range(8), **levels):
    """Store R_T of about these levels, ten times as large on the second environment."""
    for label, level in levels.items():
        for factor, environment in zip((1, 10), ENVIRONMENTS, strict=True):
            for seed in seeds:
                regret = np.full(10, factor * (level + 0.01 * (seed % 3)) / 10)
                result = BanditResult(np.zeros(10, np.int64), regret, regret)
                ResultStore(folder).add(RunKey(label, {"note": label}, environment), seed, label, result, 1.0)
    return folder


def test_a_change_is_measured_in_units_of_what_was(tmp_path):
    before, after = fill(tmp_path / "a", x=2.0, y=1.0, z=1.0), fill(tmp_path / "b", x=1.0, y=1.0, z=1.5)
    changes = {change.label: change for change in compare_folders(before, after)}
    assert changes["x"].difference == pytest.approx(-0.5, rel=0.01)
    assert changes["x"].before == pytest.approx((2.0 + 20.0) / 2, rel=0.01)
    assert {label: change.verdict for label, change in changes.items()} == {
        "x": "better",
        "y": "no difference seen",
        "z": "worse",
    }


def test_only_equal_trials_are_compared(tmp_path):
    before, after = fill(tmp_path / "a", x=2.0, old=1.0), fill(tmp_path / "b", seeds=range(6, 12), x=1.0, new=1.0)
    (change,) = compare_folders(before, after)
    assert (change.label, change.trials) == ("x", 4)  # two seeds on two environments


def test_folders_that_share_nothing_are_refused(tmp_path):
    with pytest.raises(ValueError, match="No agent, environment and seed is in both"):
        compare_folders(fill(tmp_path / "a", x=1.0), fill(tmp_path / "b", y=1.0))
