"""Settings are columns of results, by which they can be grouped."""

import numpy as np

from graph_bandit_lab import BanditResult, EnvironmentSettings, load_results
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.storage import ResultStore

RESULT = BanditResult(np.array([0, 1]), np.array([1.0, 2.0]), np.array([0.5, 0.25]))


def store(folder, agent_settings=({"width": 8},), **environments):
    """Store a repetition of each agent on each environment, all of whose settings vary together."""
    for values in zip(*environments.values(), strict=True):
        settings = dict(zip(environments, values, strict=True))
        environment = EnvironmentSettings(num_graphs=4, num_nodes=3, horizon=2, **settings).to_dict()
        for k, settings_of_agent in enumerate(agent_settings):
            ResultStore(folder).add(RunKey(f"a{k}", settings_of_agent, environment), 1, f"a{k}", RESULT, 1.0)
    return load_results(folder)


def test_results_are_grouped_by_a_setting_that_some_have_at_its_later_default(tmp_path):
    results = store(tmp_path, delay=(0, 10, (2, 20)))
    assert results["delay"].tolist() == [0, 10, "2 to 20"]
    assert results.groupby("delay")["total_regret"].count().to_dict() == {0: 1, 10: 1, "2 to 20": 1}
    assert [environment["delay"] for environment in results["environment"]] == [0, 10, [2, 20]]


def test_a_pivot_table_over_drift_keeps_means_that_stay(tmp_path):
    table = store(tmp_path, drift=(None, "walk")).pivot_table("total_regret", index="drift", columns="label")
    assert table["a0"].to_dict() == {"none": 0.75, "walk": 0.75}


def test_a_setting_of_one_agent_is_unknown_of_others_and_a_later_default_is_known_of_its_own(tmp_path):
    environment = EnvironmentSettings(num_graphs=4, num_nodes=3, horizon=2).to_dict()
    for label, agent, settings in (("f", "lin-ucb", {"forget": 50}), ("p", "lin-ucb", {}), ("r", "random", {})):
        ResultStore(tmp_path).add(RunKey(agent, settings, environment), 1, label, RESULT, 1.0)
    results = load_results(tmp_path).set_index("label")
    assert results.loc[["f", "p"], "forget"].tolist() == [50, "none"]
    assert np.isnan(results.loc["r", "forget"])


def test_a_setting_of_an_agent_with_the_name_of_another_column_has_a_longer_one(tmp_path):
    results = store(tmp_path, agent_settings=({"horizon": 7, "seed": 3},), delay=(0,))
    assert results[["horizon", "seed"]].iloc[0].tolist() == [2, 1]
    assert results[["agent_settings.horizon", "agent_settings.seed"]].iloc[0].tolist() == [7, 3]


def test_equal_plays_on_one_instance_have_the_seed_of_the_first(tmp_path):
    pool = EnvironmentSettings(num_graphs=4, num_nodes=3, horizon=2).to_dict() | {
        "graphs": "digest",
        "graph_model": "own",
        "reward_model": "target",
    }
    for environment in (pool, {**pool, "resample_graphs": "episode"}):
        for seed, regret in ((5, [50.0, 50.0]), (6, [50.0, 51.0]), (7, [50.0, 80.0])):
            result = BanditResult(RESULT.actions, RESULT.rewards, np.array(regret))
            ResultStore(tmp_path).add(RunKey("a", {}, environment), seed, "a", result, 1.0)
    assert load_results(tmp_path)["trajectory"].tolist() == [5, 5, 7, 5, 6, 7]  # other graphs in each episode


def test_an_environment_has_the_name_of_what_sets_it_apart(tmp_path):
    results = store(tmp_path, delay=(0, 10))
    assert results["environment_name"].tolist() == ["rewards at once", "rewards after 10 rounds, announced"]
    assert results["task"].tolist() == ["", ""]


def test_columns_keep_what_a_table_knows_besides(tmp_path):
    results = store(tmp_path, delay=(0,))
    assert results.attrs["damaged"] == ()
    assert results.attrs["tasks"] == []
