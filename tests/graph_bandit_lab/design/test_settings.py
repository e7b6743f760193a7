import inspect
from dataclasses import asdict, fields
from pathlib import Path

import pytest

import registry
from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_lab import EnvironmentSettings, RunSettings
from graph_bandit_lab.design.keys import RunKey, with_later_defaults
from graph_bandit_lab.design.settings import AgentSpec


def test_environment_settings_are_those_of_the_environment_with_its_defaults():
    parameters = inspect.signature(BanditModel).parameters
    for field in fields(EnvironmentSettings):
        assert parameters[field.name].default == field.default
    left_out = set(parameters) - {field.name for field in fields(EnvironmentSettings)}
    assert left_out == {"graphs", "observe", "resample_graphs", "reward_seed"}


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("random", "random", {}),
        (
            "gnn-ts:width=8,exploration_scale=1e-1,covariance=diagonal,standardize=false",
            "gnn-ts",
            {"width": 8, "exploration_scale": 0.1, "covariance": "diagonal", "standardize": False},
        ),
        ("gnn-ts:standardize=True", "gnn-ts", {"standardize": True}),
    ],
)
def test_agents_are_read_as_they_are_written(text, name, settings):
    assert AgentSpec.parse(text) == AgentSpec(name, settings, text)


@pytest.mark.parametrize("text", ["gnn-ts:width", "gnn-ts:=3", "gnn-ts:width=", "gnn-ts:width=1,width=2", "gnn-ts:"])
def test_refuses_settings_without_value_or_given_twice(text):
    with pytest.raises(ValueError, match="Expected"):
        AgentSpec.parse(text)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agents": ()}, "at least one agent"),
        ({"agents": ("random", "random")}, "each agent once"),
        ({"repetitions": 0}, "`repetitions`"),
        ({"seed": -1}, "`seed`"),
    ],
)
def test_refuses_runs_that_make_no_sense(changes, message):
    with pytest.raises(ValueError, match=message):
        RunSettings(out=Path("x"), **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_graphs": 0}, "`num_graphs`"),
        ({"horizon": 0}, "`horizon`"),
        ({"noise_std": -1.0}, "`noise_std`"),
        ({"replacement": 0, "horizon": 5}, "`replacement` to be True or False"),
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


@pytest.mark.parametrize("later", [{}, {"replacement": False}, {"common_noise": True}])
def test_what_is_left_out_of_an_environment_can_be_said_again(later):
    environment = EnvironmentSettings(num_graphs=8, horizon=8, **later)
    assert EnvironmentSettings(**environment.to_dict()) == environment
    assert with_later_defaults(environment.to_dict()) == asdict(environment)


def test_an_environment_that_is_made_already_is_refused_with_advice():
    with pytest.raises(TypeError, match="Got GraphActionBandit. Write `environment=EnvironmentSettings"):
        RunSettings(out=Path("x"), environment=registry.make_environment(num_graphs=3).unwrapped)
