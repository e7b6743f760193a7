import inspect
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pytest
import torch
from mypy import api
from support.molecules import some_molecules

import registry
from agents.beliefs import Belief, Memoryless, PhasedElimination, ThompsonSampling, compose, composition
from agents.kernel import KernelAgent, KernelSettings, gntk
from agents.molecule import MoleculeSettings, molecule
from agents.neural import NeuralSettings, gnn, nn
from graph_bandit_env import GraphSet


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


@dataclass(frozen=True, kw_only=True)
class LuckyMolecule(LuckSettings, MoleculeSettings):
    """Settings of `molecule-lucky`."""


MODELS = {"gnn": (gnn, LuckyNetwork), "nn": (nn, LuckyNetwork)}
MODELS |= {"gntk": (gntk, LuckyKernel), "molecule": (molecule, LuckyMolecule)}


@pytest.mark.parametrize("name", MODELS)
def test_a_rule_is_set_by_the_settings_of_its_names_in_every_family(name, graphs):
    model, settings = MODELS[name]
    agent = compose(f"{name}-lucky", model, settings, Lucky)(luck=0.25)
    assert (agent.settings.luck, agent.settings.kind) == (0.25, "good")
    agent.reset(None, graph_set=some_molecules() if name == "molecule" else GraphSet.from_pyg(graphs))
    assert (agent.rule.luck, agent.rule.kind) == (0.25, "good")


def test_settings_of_the_rule_are_checked_as_those_of_the_model_are():
    make = compose("gnn-lucky", gnn, LuckyNetwork, Lucky)
    with pytest.raises(ValueError, match="`luck` to be at most 1. Got 2"):
        make(luck=2)
    with pytest.raises(ValueError, match="`kind` to be one of good, bad. Got 'worse'"):
        make(kind="worse")
    with pytest.raises(ValueError, match="Did you mean `luck`?"):
        make(lucck=1)


def test_an_agent_has_defaults_and_presets_of_its_own():
    make = compose("gnn-lucky", gnn, LuckyNetwork, Lucky)
    assert make().settings.exploration_scale == 7.0
    assert make(preset="paper").settings.exploration_scale == 3.0
    assert make(preset="paper", exploration_scale=4).settings.exploration_scale == 4.0


def test_what_the_settings_do_not_offer_keeps_the_default_of_the_rule(graphs):
    make = compose("gnn-lucky", gnn, NeuralSettings, Lucky)
    agent = make()
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    assert agent.rule.kind == "good"
    with pytest.raises(ValueError, match="Unknown setting `kind`"):
        make(kind="bad")


def test_model_and_rule_cannot_have_a_setting_of_the_same_name():
    @dataclass
    class Wide(Memoryless):
        width: int = 3

    with pytest.raises(TypeError, match="gnn-wide has `width` twice"):
        compose("gnn-wide", gnn, NeuralSettings, Wide)


@pytest.mark.parametrize("settings", [KernelSettings, LuckSettings, NeuralSettings(), dict])
def test_settings_are_those_of_the_model_or_extend_them(settings):
    with pytest.raises(TypeError, match="extend NeuralSettings. Got|the dataclass of the settings. Got"):
        compose("gnn-lucky", gnn, settings, Lucky)


def test_the_signature_shows_every_argument_with_its_default():
    parameters = inspect.signature(compose("gnn-lucky", gnn, LuckyNetwork, Lucky)).parameters
    assert {"preset", "network", "network_name", "width", "luck", "kind"} <= set(parameters)
    assert parameters["width"].default == 512
    assert parameters["luck"].annotation is float
    assert "preset" not in inspect.signature(compose("gntk-lucky", gntk, LuckyKernel, Lucky)).parameters


SMALL = """
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from composition import compose

@dataclass(frozen=True, kw_only=True)
class Settings:
    width: int = 3
    kind: Literal["good", "bad"] = "good"

class Agent:
    settings: Settings

def model(settings: Settings) -> Agent:
    return Agent()

make = compose("agent", model, Settings)
"""


def test_mypy_finds_a_typo_and_a_wrong_type(tmp_path):
    """On a copy of the function, for the agents themselves take mypy a minute."""
    calls = {
        'make(width=5, kind="bad").settings.width.bit_count()': None,
        'make(preset="paper", width=5).settings': None,
        "make(widht=5)": "No overload variant",
        'make(kind="worse")': "No overload variant",
        "make(5)": "No overload variant",
        "make().setting": '"Agent" has no attribute "setting"',
    }
    (tmp_path / "composition.py").write_text(Path(composition.__file__).read_text())
    (tmp_path / "calls.py").write_text("\n".join([SMALL, *calls]))
    options = ["--config-file=", "--follow-imports=skip", f"--cache-dir={tmp_path}"]
    found, _, _ = api.run([*options, str(tmp_path / "composition.py"), str(tmp_path / "calls.py")])
    errors = [line for line in found.splitlines() if "calls.py:" in line and " error: " in line]
    expected = [message for message in calls.values() if message]
    assert len(errors) == len(expected), found
    assert all(message in line for message, line in zip(expected, errors, strict=True)), found


def test_each_reset_makes_a_rule_anew(graphs):
    agent = compose("gntk-pe", gntk, KernelSettings, ThompsonSampling)()
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    first = agent.rule
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    assert agent.rule is not first


@pytest.mark.parametrize(
    ("name", "settings", "algorithm"),
    [
        ("gnn-ts", {}, 1),
        ("gnn-ts", {"sampling": "joint"}, 2),
        ("gnn-ucb", {}, 1),
        ("gntk-ucb", {}, 4),
        ("lin-ucb", {}, 2),
        ("molecule-ts", {}, 6),
        ("molecule-ucb", {}, 6),
        ("gaussian-ts", {}, 1),
        ("random", {}, 1),
    ],
)
def test_the_algorithm_is_of_another_version_where_plays_have_changed(name, settings, algorithm):
    """Joint draws rest on the symmetric root since version 2, other processes on another prior of the scale since 4."""
    assert registry.make_agent(name, **settings).algorithm == algorithm


@pytest.mark.parametrize("name", ["gnn-ts", "gntk-pe", "ucb1", "gaussian-ts", "random"])
def test_agents_and_their_settings_can_be_pickled_before_and_after_a_reset(name, graphs):
    agent = registry.make_agent(name)
    assert pickle.loads(pickle.dumps(agent.settings)) == agent.settings
    assert pickle.loads(pickle.dumps(agent)).settings == agent.settings
    agent.reset(None, seed=1, graph_set=GraphSet.from_pyg(graphs))
    agent.update(None, [0, 1, 1], [0.1, 0.4, 0.2])
    twin = pickle.loads(pickle.dumps(agent))
    assert [twin.select_action(None) for _ in range(5)] == [agent.select_action(None) for _ in range(5)]


def test_a_rule_that_remembers_its_candidates_ranks_all_graphs_instead_of_a_short_list():
    agent, molecules = (
        compose("molecule-pe", molecule, MoleculeSettings, PhasedElimination)(short_list=2),
        some_molecules(),
    )
    agent.reset(None, graph_set=molecules)
    for action in range(12):
        agent.update(None, action, molecules.targets[action])
    chosen = agent.select_batch(None, 3, pending=[0])
    assert len({*chosen, 0}) == 4
    assert agent.rule.candidates.shape == (len(molecules),)
    assert len(set(agent.select_priced(None, 2, np.arange(1.0, len(molecules) + 1)))) == 2


def test_a_version_that_a_family_raises_is_not_lowered_by_joint_draws(monkeypatch):
    monkeypatch.setattr(KernelAgent, "algorithm", 9)
    assert registry.make_agent("gntk-ts").algorithm == 9


def test_help_describes_every_setting():
    described = compose("gnn-lucky", gnn, LuckyNetwork, Lucky).__doc__
    assert "    luck: How lucky; at most 1." in described
    assert "    width: m, hidden width" in described
    assert f"Model: {gnn.__doc__.splitlines()[0]}\n" in described
    assert "Rule: Play by luck.\n" in described
