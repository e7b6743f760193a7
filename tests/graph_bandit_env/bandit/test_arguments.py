"""The arguments of the environment: declared once, and shown in signatures, docstrings and errors."""

import inspect
import pydoc
from dataclasses import fields
from pathlib import Path

import gymnasium as gym
import pytest
from mypy import api

from graph_bandit_env import BanditArguments, GraphActionBandit, GraphActionBanditVector
from graph_bandit_env.bandit import signatures

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


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("graph_modle", "Unknown argument `graph_modle`. Did you mean `graph_model`"),
        ("seed", "Give it to `reset`"),
        ("zzz", "Arguments: graph_model,"),
        (
            "frameskip",
            "unexpected keyword argument 'frameskip'",
        ),  # which TorchRL's GymEnv looks for
    ],
)
def test_an_unknown_argument_is_named_with_the_nearest(make, argument, message):
    with pytest.raises(TypeError, match=message):
        make("GraphActionBandit-v0", **{argument: 3})


@pytest.mark.parametrize("kind", [GraphActionBandit, GraphActionBanditVector, BanditArguments])
def test_so_it_is_where_a_class_is_called(kind):
    with pytest.raises(TypeError, match="Unknown argument `nois_std`. Did you mean `noise_std`"):
        kind(nois_std=0.1)


SMALL = """
from dataclasses import dataclass
from typing import Literal

from signatures import describes, name_nearest, takes

@name_nearest
@dataclass(frozen=True, kw_only=True, eq=False)
class Arguments:
    graph_model: Literal["er", "rdpg"] = "er"
    graphs: list[int] | None = None

@describes(Arguments)
class Environment:
    @takes(Arguments)
    def __init__(self, arguments: Arguments) -> None:
        self.model = arguments.graph_model
"""


def test_mypy_finds_a_typo_and_a_wrong_type(tmp_path):
    """On a copy of the decorators, for the environment itself takes mypy a minute."""
    calls = {
        'Environment(graph_model="rdpg", graphs=[3]).model.upper()': None,
        'Environment(graph_modle="er")': '"graph_modle" for "Environment"; did you mean "graph_model"?',
        'Environment(graph_model="err")': "incompatible type \"Literal['err']\"; expected \"Literal['er', 'rdpg']\"",
        'Environment("er")': 'Too many positional arguments for "Environment"',
    }
    (tmp_path / "signatures.py").write_text(Path(signatures.__file__).read_text())
    (tmp_path / "calls.py").write_text("\n".join([SMALL, *calls]))
    options = ["--config-file=", "--follow-imports=skip", f"--cache-dir={tmp_path}"]
    found, _, _ = api.run([*options, str(tmp_path / "signatures.py"), str(tmp_path / "calls.py")])
    errors = [line for line in found.splitlines() if "calls.py:" in line and " error: " in line]
    expected = [message for message in calls.values() if message]
    assert len(errors) == len(expected), found
    assert all(message in line for message, line in zip(expected, errors, strict=True)), found
