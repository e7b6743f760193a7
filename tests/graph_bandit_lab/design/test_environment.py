import json
from dataclasses import fields

import numpy as np
import pytest

from graph_bandit_env import BanditArguments
from graph_bandit_env.graphs import GRAPH_MODELS
from graph_bandit_lab import EnvironmentSettings
from graph_bandit_lab.design.environment import READING
from graph_bandit_lab.design.keys import RunKey, with_later_defaults
from graph_bandit_lab.design.names import describe_environment, name_environments, name_setting
from graph_bandit_lab.design.own_graphs import to_arguments

OF_FILES = ["target", "minimize", "noise_column", "smiles", "skip_bad_rows"]
OF_FEEDBACK = ["batch", "delay", "random_rounds", "announced"]
TAKEN = [field.name for field in fields(EnvironmentSettings) if field.init]


def test_each_argument_of_the_environment_is_taken_or_left_out_with_a_reason():
    of_environment = {field.name: field.default for field in fields(BanditArguments)}
    assert [field.name for field in fields(EnvironmentSettings)] == [*of_environment, *OF_FILES, *OF_FEEDBACK]
    assert set(of_environment) - set(TAKEN) == {"observe", "render_mode"}
    for name in set(TAKEN) - {"reward_model", *OF_FILES, *OF_FEEDBACK}:
        assert getattr(EnvironmentSettings(), name) == of_environment[name]
    for name in set(of_environment) - set(TAKEN):
        with pytest.raises(TypeError, match=f"Expected no argument `{name}`: [a-z]"):
            EnvironmentSettings(**{name: None})


def test_results_keep_what_they_kept_before_the_arguments_had_one_home():
    assert EnvironmentSettings(graph_model="rdpg", edge_prob=1, actions_per_round=3, common_noise=True).to_dict() == {
        "graph_model": "rdpg",
        "num_graphs": 100,
        "num_nodes": 50,
        "feature_dim": 10,
        "edge_prob": 1.0,
        "reward_model": "linear",
        "reward_scale": "raw",
        "noise": "gaussian",
        "noise_std": 0.01,
        "horizon": 1000,
        "actions_per_round": 3,
        "common_noise": True,
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph_modle": "er"}, "Unknown argument `graph_modle`. Did you mean `graph_model`?"),
        ({"graphs": []}, "Expected `graphs` to be a file, .* Got list. .* `run_bandit` plays on graphs in memory"),
        ({"reward_model": np.zeros(100)}, "to be names.* Got ndarray and str"),
        ({"noise": lambda rng, mean: 0.0}, "to be names.* Got NoneType and function"),
    ],
)
def test_says_what_it_cannot_take(changes, message):
    with pytest.raises(TypeError, match=message):
        EnvironmentSettings(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_graphs": 0}, "`num_graphs`"),
        ({"horizon": 0}, "`horizon`"),
        ({"noise_std": -1.0}, "`noise_std`"),
        ({"replacement": 0, "horizon": 5}, "`replacement` to be True or False"),
        ({"num_graphs": (5, 40, 50)}, r"`num_graphs` to be an integer >= 1, or \(least, most\)"),
        ({"num_nodes": (9, 5)}, r"`num_nodes` to be an integer >= 1, or \(least, most\). Got \(9, 5\)"),
        ({"replacement": False, "num_graphs": (3, 8), "horizon": 4}, "Got 4 rounds of 3 to 8 graphs"),
        ({"batch": 0}, "`batch` to be an integer >= 1"),
        ({"random_rounds": -1}, "`random_rounds` to be an integer >= 0. Got -1"),
        ({"delay": (5, 2)}, r"`delay` to be an integer >= 0, or \(least, most\)"),
        ({"batch": 2, "resample_graphs": "round"}, "`batch=1` where each round offers graphs of its own. Got 2"),
        ({"batch": 2, "actions_per_round": 5}, "`batch=1` where each round offers graphs of its own"),
        ({"drift_rate": 0.5}, r"`drift` \(walk, jump\) with `drift_rate`. Got a rate of 0.5"),
        ({"drift": "walk", "resample_graphs": "round"}, "`drift` or `resample_graphs`"),
        ({"replacement": False, "num_graphs": 5, "horizon": 6}, "at most `num_graphs` .* Got 6 rounds of 5 graphs"),
    ],
)
def test_refuses_environments_that_cannot_be_made(changes, message):
    with pytest.raises(ValueError, match=message):
        EnvironmentSettings(**changes)


def test_equal_numbers_are_equal_settings():
    assert repr(EnvironmentSettings(noise_std=1)) == repr(EnvironmentSettings(noise_std=1.0))


def test_environments_of_earlier_results_keep_their_key():
    """The hash was computed before there was `replacement`, or `common_noise`."""
    environment = EnvironmentSettings(num_graphs=5, num_nodes=4, horizon=8)
    assert RunKey("random", {}, environment.to_dict()).settings_hash == "3fa516fd99f45405"
    once = EnvironmentSettings(num_graphs=8, num_nodes=4, horizon=8, replacement=False)
    assert once.to_dict()["replacement"] is False


@pytest.mark.parametrize(
    "later",
    [
        {},
        {"replacement": False},
        {"common_noise": True},
        {"resample_graphs": "round"},
        {"reward_seed": 3},
        {"batch": 4},
        {"delay": 3},
        {"random_rounds": 5},
        {"delay": 3, "announced": False},
        {"drift": "walk"},
        {"drift": "jump", "drift_rate": 0.5},
    ],
)
def test_what_is_left_out_of_an_environment_can_be_said_again(later):
    environment = EnvironmentSettings(num_graphs=8, horizon=8, **later)
    assert EnvironmentSettings(**environment.to_dict()) == environment
    said = with_later_defaults(environment.to_dict())
    given = {name: getattr(environment, name) for name in TAKEN if name not in READING}
    assert said == given | {"announced": environment.feedback.announces}


def test_agents_observe_graphs_where_they_change_and_indices_elsewhere():
    changing, same = EnvironmentSettings(resample_graphs="round"), EnvironmentSettings(resample_graphs=True)
    assert same.resample_graphs == "episode"
    assert (changing.observe, same.observe) == ("graphs", "indices")
    assert to_arguments(changing.to_dict())["observe"] == "graphs"
    assert to_arguments(same.to_dict())["observe"] == "indices"
    assert "resample_graphs" not in EnvironmentSettings().to_dict()


def test_sizes_that_vary_are_stored_as_json_and_read_back():
    environment = EnvironmentSettings(num_graphs=[5, np.int64(40)], num_nodes=(7, 7), resample_graphs="round")
    assert (environment.num_graphs, environment.num_nodes) == ((5, 40), 7)
    stored = json.loads(json.dumps(environment.to_dict()))
    assert stored == environment.to_dict()
    assert EnvironmentSettings(**stored) == environment
    assert "N = 7, K = 5 to 40" in describe_environment(stored)


def test_feedback_is_stored_read_back_and_named():
    environment = EnvironmentSettings(batch=10, delay=[2, 5], random_rounds=np.int64(3))
    stored = json.loads(json.dumps(environment.to_dict()))
    assert (stored["batch"], stored["delay"], stored["random_rounds"]) == (10, [2, 5], 3)
    assert EnvironmentSettings(**stored) == environment
    assert not {*OF_FEEDBACK} & to_arguments(stored).keys()
    assert describe_environment(stored).endswith(
        "T = 1000, batches of 10, rewards after 2 to 5 rounds, announced, first 3 rounds at random"
    )
    names = name_environments([EnvironmentSettings().to_dict(), EnvironmentSettings(delay=10).to_dict()])
    assert names == ["rewards at once", "rewards after 10 rounds, announced"]
    told = [EnvironmentSettings(delay=10, announced=announced).to_dict() for announced in (False, True)]
    assert describe_environment(told[0]).endswith("rewards after 10 rounds, not announced")
    assert name_environments(told) == ["not announced", "announced"]


def test_every_graph_model_and_reward_is_stored_read_back_and_described():
    described = set()
    for graph_model in GRAPH_MODELS:
        reward_model = "spanning_tree" if graph_model == "weighted" else "transitivity"
        environment = EnvironmentSettings(graph_model=graph_model, reward_model=reward_model)
        stored = json.loads(json.dumps(environment.to_dict()))
        assert EnvironmentSettings(**stored) == environment
        described.add(describe_environment(stored))
    assert len(described) == len(GRAPH_MODELS)


def test_a_drift_is_stored_read_back_and_named():
    environment = EnvironmentSettings(drift="jump", drift_rate=1, delay=2)
    stored = json.loads(json.dumps(environment.to_dict()))
    assert (stored["drift"], stored["drift_rate"]) == ("jump", 1.0)
    assert EnvironmentSettings(**stored) == environment
    assert "drift_rate" not in EnvironmentSettings(drift="walk").to_dict()
    assert {"drift", "drift_rate"} <= to_arguments(stored).keys()
    assert describe_environment(stored).endswith(
        "T = 1000, means that jump at rate 1.0, rewards after 2 rounds, announced"
    )
    rates = [EnvironmentSettings(drift="walk", drift_rate=rate).to_dict() for rate in (0.1, 0.2)]
    assert name_environments(rates) == ["at rate 0.1", "at rate 0.2"]
    names = name_environments([EnvironmentSettings().to_dict(), *rates])
    assert names == ["means that stay", "means that walk, at rate 0.1", "means that walk, at rate 0.2"]


@pytest.mark.parametrize("given", [np.True_, np.False_])
def test_a_flag_of_numpy_is_a_flag(given):
    environment = EnvironmentSettings(resample_graphs=given)
    assert environment == EnvironmentSettings(resample_graphs=bool(given))
    assert json.dumps(environment.to_dict())


def test_it_says_how_many_graphs_of_a_file_are_left_out(tmp_path):
    path = tmp_path / "hits.csv"
    path.write_text("smiles,affinity\nCCO,1\nCCN,\nCCC,2\n")
    assert EnvironmentSettings(graphs=str(path), target="affinity").note == (
        "hits.csv (affinity): left out graphs without a value (1)."
    )
    path.write_text("smiles,affinity\nCCO,1\nnonsense,3\nCCC,2\n(,4\n")
    told = EnvironmentSettings(graphs=str(path), target="affinity", skip_bad_rows=True).note
    assert told.startswith("hits.csv (affinity): left out rows that cannot be read (2; the first is 3: ")
    assert "'nonsense'" in told
    path.write_text("smiles,affinity\nCCO,1\nCCN,3\n")
    assert EnvironmentSettings(graphs=str(path), target="affinity").note == EnvironmentSettings().note == ""


@pytest.mark.parametrize("changes", [{}, {"reward_scale": "unit"}, {"target": None, "reward_model": "linear"}])
def test_the_noise_of_a_column_is_in_the_units_of_the_values(tmp_path, changes):
    path = tmp_path / "hits.csv"
    path.write_text("smiles,affinity,sd\nCCO,1,0.1\nCCN,3,0.2\nCCC,2,0.1\n")
    given = {"graphs": str(path), "target": "affinity", "noise_column": "sd", **changes}
    if not changes:
        assert EnvironmentSettings(**given).noise_column == "sd"
        return
    with pytest.raises(ValueError, match="Expected `noise_column` with the values of the file as they are"):
        EnvironmentSettings(**given)


@pytest.mark.parametrize(
    ("setting", "value", "name"),
    [
        ("batch", 1, "one at a time"),
        ("batch", 2, "batches of 2"),
        ("delay", 0, "rewards at once"),
        ("delay", 3, "rewards after 3 rounds"),
        ("announced", True, "announced"),
        ("announced", False, "not announced"),
        ("random_rounds", 0, "no rounds at random"),
        ("random_rounds", 4, "first 4 rounds at random"),
        ("replacement", True, "with replacement"),
        ("minimize", False, "maximized"),
        ("reward_seed", 0, "reward function 0"),
        ("num_graphs", 9, "K = 9"),
        ("graphs", "hits.csv", "hits.csv"),
    ],
)
def test_settings_have_short_names(setting, value, name):
    assert name_setting(setting, value) == name
