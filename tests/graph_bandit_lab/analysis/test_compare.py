import numpy as np
import pytest

from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult
from graph_bandit_lab.analysis.compare import Change, compare_folders
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


def test_where_there_was_no_regret_the_change_is_in_units_of_regret(tmp_path):
    """The seeds are those without a remainder, so that there is none; afterwards R_T is 2 and 20."""
    before, after = (fill(tmp_path / name, seeds=(0, 3), x=level) for name, level in (("a", 0.0), ("b", 2.0)))
    (change,) = compare_folders(before, after)
    assert (change.before, change.after, change.difference) == pytest.approx((0.0, 11.0, 11.0))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.3, -0.1, "better"),
        (0.1, 0.3, "worse"),
        (-0.5, 0.5, "no difference seen"),
        (0.0, 0.0, "no difference seen"),
        (0.0, 0.5, "no difference seen"),
        (-0.5, 0.0, "no difference seen"),
    ],
)
def test_only_an_interval_without_zero_shows_a_difference(low, high, verdict):
    assert Change("a", 3, 1.0, 1.0, 0.0, low, high).verdict == verdict


def test_only_equal_trials_are_compared(tmp_path):
    before, after = fill(tmp_path / "a", x=2.0, old=1.0), fill(tmp_path / "b", seeds=range(6, 12), x=1.0, new=1.0)
    (change,) = compare_folders(before, after)
    assert (change.label, change.trials) == ("x", 4)  # two seeds on two environments


def test_folders_that_share_nothing_are_refused(tmp_path):
    with pytest.raises(ValueError, match="No agent, environment and seed is in both"):
        compare_folders(fill(tmp_path / "a", x=1.0), fill(tmp_path / "b", y=1.0))


def test_the_command_prints_a_line_an_agent(tmp_path, capsys):
    before, after = fill(tmp_path / "a", x=2.0), fill(tmp_path / "b", x=1.0)
    assert main(["compare", str(before), str(after)]) == 0
    assert "better" in capsys.readouterr().out
    assert main(["compare", str(before), str(tmp_path / "nothing")]) == 1
    assert "Expected results in" in capsys.readouterr().err
