import pandas as pd
import pytest

from benchmarks.policies.curves import main, reach, summarize

HEAD = ["learner", "seed", "actions_per_round", "steps", "relative_regret", "seconds", "cpu_seconds"]


def curve(regrets, seed=0, learner="a-ppo"):
    rows = [(learner, seed, 20, 10 * k, regret, 3.0 * k, 2.0 * k) for k, regret in enumerate(regrets)]
    return pd.DataFrame(rows, columns=HEAD)


@pytest.mark.parametrize(
    ("regrets", "step"),
    [([0.9, 0.3, 0.1, 0.02], 20), ([0.9, 0.05, 0.2, 0.04, 0.03], 30), ([0.1, 0.1], 0), ([0.9, 0.0], 10)],
)
def test_a_tenth_is_reached_where_regret_stays_below_it(regrets, step):
    assert reach(curve(regrets))["steps"] == step


def test_a_curve_that_ends_above_a_tenth_is_refused():
    with pytest.raises(ValueError, match="Expected curves that end at a tenth of random's regret or less"):
        reach(curve([0.9, 0.05, 0.11]))


def test_the_table_has_the_slowest_seed_and_the_mean_end():
    tests = pd.concat([curve([0.9, 0.05, 0.01]), curve([0.9, 0.3, 0.03], seed=1), curve([0.8, 0.0], learner="b-ppo")])
    assert summarize(tests)[1:] == [
        ("a-ppo", "20", "4", "6", "20", "4", "2.00 [1.00, 3.00]", "2"),
        ("b-ppo", "10", "2", "3", "10", "2", "0.00 [0.00, 0.00]", "1"),
    ]


def test_files_become_a_table_and_a_picture(tmp_path, capsys):
    for name, learner in (("a.csv", "a-ppo"), ("b.csv", "b-ppo")):
        curve([0.9, 0.05], learner=learner).to_csv(tmp_path / name, index=False)
    main((tmp_path / "a.csv", tmp_path / "b.csv"), tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 10_000
    assert [line.split(" | ")[0] for line in capsys.readouterr().out.splitlines()[2:]] == ["| a-ppo", "| b-ppo"]
