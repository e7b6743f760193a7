import inspect
from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest
import torch

from agents.beliefs import Belief, Memoryless, compose
from agents.neural import NeuralSettings, gnn
from agents.process import KernelSettings, gntk
from graph_bandit_env.graphs import as_graph_set


@dataclass
class Lucky(Memoryless):
    """Play by luck."""

    luck: float = 0.5
    kind: Literal["good", "bad"] = "good"

    def __post_init__(self):
        if self.luck > 1:
            raise ValueError(f"Expected `luck` to be at most 1. Got {self.luck}.")

    def __call__(self, belief: Belief, action_mask, generator):
        return torch.rand(len(belief.mean), generator=generator) * self.luck


@dataclass(frozen=True, kw_only=True)
class LuckSettings:
    """Settings of agents that play by luck."""

    luck: float = 0.5
    """How lucky; at most 1."""
    kind: Literal["good", "bad"] = "good"
    """Which."""


@dataclass(frozen=True, kw_only=True)
class LuckyNetwork(LuckSettings, NeuralSettings):
    """Settings of `gnn-lucky`."""

    exploration_scale: float = 7.0
    presets: ClassVar = {name: {**values, "exploration_scale": 3.0} for name, values in NeuralSettings.presets.items()}


@dataclass(frozen=True, kw_only=True)
class LuckyKernel(LuckSettings, KernelSettings):
    """Settings of `gntk-lucky`."""


@pytest.mark.parametrize(("model", "settings"), [(gnn, LuckyNetwork), (gntk, LuckyKernel)])
def test_a_rule_is_set_by_the_settings_of_its_names_in_every_family(model, settings, graphs):
    agent = compose("some-lucky", model, settings, Lucky)(luck=0.25)
    agent.reset(None, graph_set=as_graph_set(graphs))
    for one in (agent.settings, agent.rule):
        assert (one.luck, one.kind) == (0.25, "good")


def test_what_the_settings_do_not_offer_keeps_the_default_of_the_rule(graphs):
    make = compose("gnn-lucky", gnn, NeuralSettings, Lucky)
    agent = make()
    agent.reset(None, graph_set=as_graph_set(graphs))
    assert agent.rule.kind == "good"
    with pytest.raises(ValueError, match="`kind`"):
        make(kind="bad")


def test_model_and_rule_cannot_have_a_setting_of_the_same_name():
    @dataclass
    class Wide(Memoryless):
        width: int = 3

    with pytest.raises(TypeError, match="`width`"):
        compose("gnn-wide", gnn, NeuralSettings, Wide)


@pytest.mark.parametrize("settings", [KernelSettings, LuckSettings, NeuralSettings(), dict])
def test_settings_are_those_of_the_model_or_extend_them(settings):
    with pytest.raises(TypeError, match="NeuralSettings"):
        compose("gnn-lucky", gnn, settings, Lucky)


def test_the_signature_shows_every_argument_with_its_default():
    parameters = inspect.signature(compose("gnn-lucky", gnn, LuckyNetwork, Lucky)).parameters
    assert {"preset", "network", "network_name", "width", "luck", "kind"} <= set(parameters)
    assert parameters["width"].default == 512
    assert parameters["luck"].annotation is float
    assert "preset" not in inspect.signature(compose("gntk-lucky", gntk, LuckyKernel, Lucky)).parameters


def test_help_describes_every_setting():
    described = compose("gnn-lucky", gnn, LuckyNetwork, Lucky).__doc__
    assert "    luck: How lucky; at most 1." in described
    assert "    width: m, hidden width" in described
    assert f"Model: {gnn.__doc__.splitlines()[0]}\n" in described
    assert "Rule: Play by luck.\n" in described
