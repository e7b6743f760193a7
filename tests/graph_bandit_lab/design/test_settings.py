from pathlib import Path

import pytest

import registry
from graph_bandit_lab import RunSettings
from graph_bandit_lab.design.settings import AgentSpec


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


def test_an_environment_that_is_made_already_is_refused_with_advice():
    with pytest.raises(TypeError, match="Got GraphActionBandit. Write `environment=EnvironmentSettings"):
        RunSettings(out=Path("x"), environment=registry.make_environment(num_graphs=3).unwrapped)


def test_an_agent_of_a_file_is_named_by_module_and_factory():
    spec = AgentSpec.parse("mine_i:Mine:scale=3")
    assert (spec.name, spec.settings, spec.label) == ("mine_i:Mine", {"scale": 3}, "mine_i:Mine:scale=3")
    assert AgentSpec.parse("mine.i:make").name == "mine.i:make"


@pytest.mark.parametrize("text", ["random:fast", "gnn-ts:fast", "mine_i:Mine:scale"])
def test_what_follows_an_agent_without_a_value_is_no_file(text):
    with pytest.raises(ValueError, match="Expected an agent as"):
        AgentSpec.parse(text)


def test_what_a_file_has_not_declared_is_not_admitted():
    AgentSpec.admit(["gnn-ts:width=8", "random"])
    with pytest.raises(ValueError, match="json:loads"):
        AgentSpec.admit(["random", "json:loads"])
