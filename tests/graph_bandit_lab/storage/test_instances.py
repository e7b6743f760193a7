"""The instance of a stored repetition is made again, and played again with equal results."""

import numpy as np
import pytest

import registry
from graph_bandit_lab import (
    EnvironmentSettings,
    RunSettings,
    environment_of,
    load_results,
    run_bandit,
    run_experiment,
)
from graph_bandit_lab.episodes import Feedback

TABLE = "id,smiles,affinity\na,CCO,1.5\nb,CCN,2.5\nc,c1ccccc1,0.5\nd,CCCC,4.0\n"


def play(folder, **environment):
    """Play a repetition and return its row."""
    sizes = {} if "graphs" in environment else {"num_graphs": 5, "num_nodes": 4}
    settings = EnvironmentSettings(horizon=6, noise_std=0.5, **sizes, **environment)
    run_experiment(RunSettings(out=folder, environment=settings, agents=("lin-ts",), repetitions=1, progress=False))
    return load_results(folder).iloc[0]


@pytest.mark.parametrize(
    "environment", [{}, {"resample_graphs": "round"}, {"drift": "walk"}, {"delay": (1, 3), "actions_per_round": 3}]
)
def test_a_stored_repetition_is_played_again_bit_for_bit(tmp_path, environment):
    row = play(tmp_path, **environment)
    agent = registry.make_agent(row["agent"], **row["agent_settings"])
    told = {name: row["environment"][name] for name in ("batch", "delay", "random_rounds", "announced")}
    again = run_bandit(environment_of(row), agent, row["seed"], feedback=Feedback(**told))
    for name in ("actions", "rewards", "regret"):
        assert np.array_equal(getattr(again, name), row[name])


def test_the_environment_shows_the_instance_at_once(tmp_path):
    row = play(tmp_path)
    means = environment_of(row).unwrapped.mean_rewards
    assert np.allclose(means.max() - means[row["actions"]], row["regret"])


def test_own_graphs_are_read_from_their_file(tmp_path):
    file = tmp_path / "hits.csv"
    file.write_text(TABLE)
    row = play(tmp_path / "out", graphs=str(file), target="affinity")
    env = environment_of(row, str(file), target="affinity")
    assert env.unwrapped.mean_rewards.tolist() == [1.5, 2.5, 0.5, 4.0]
    with pytest.raises(ValueError, match=r"Expected `graphs`, the file .* played: hits.csv \(affinity\)"):
        environment_of(row)
    file.write_text(TABLE.replace("1.5", "1.25"))
    with pytest.raises(ValueError, match="Its graphs, values or noise are others"):
        environment_of(row, str(file), target="affinity")


def test_random_graphs_have_no_file(tmp_path):
    with pytest.raises(ValueError, match="Expected no file, for random graphs were played. Got hits.csv"):
        environment_of(play(tmp_path), "hits.csv")
