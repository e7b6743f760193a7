"""The arguments of the environment: declared once, and shown in signatures, docstrings and errors."""

import inspect
import pydoc
from dataclasses import fields

import pytest

from graph_bandit_env import BanditArguments, GraphActionBandit, GraphActionBanditVector

OF_MANY = {"num_envs", "autoreset_mode", "max_episode_steps"}


def test_both_environments_show_each_argument_with_its_type_and_default():
    single, many = (inspect.signature(kind).parameters for kind in (GraphActionBandit, GraphActionBanditVector))
    expected = [(field.name, field.type, field.default) for field in fields(BanditArguments)]
    assert [(each.name, each.annotation, each.default) for each in single.values()] == expected
    assert set(many) == set(single) | OF_MANY
    assert next(iter(many)) == "num_envs"
    for name in set(single) - {"render_mode"}:
        assert many[name] == single[name]


@pytest.mark.parametrize("kind", [GraphActionBandit, GraphActionBanditVector])
def test_help_describes_every_argument(kind):
    printed = pydoc.plain(pydoc.render_doc(kind))
    for name in inspect.signature(kind).parameters:
        assert len(printed.split(f"\n |      {name}: ")[1].split("\n |      ")[0]) > 10, name
    assert "graph_model: Literal['er', 'rdpg', 'mixed', 'weighted'] = 'er'" in printed
