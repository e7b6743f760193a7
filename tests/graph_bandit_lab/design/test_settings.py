from pathlib import Path

import pytest

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
