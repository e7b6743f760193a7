import inspect
import pickle
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import pytest
import torch
from support.molecules import some_molecules

import registry
from agents.beliefs import Belief, Greedy, Memoryless, PhasedElimination, ThompsonSampling, compose
from agents.contract import describe_fields
from agents.kernel import KernelAgent, gntk
from agents.molecule import molecule
from agents.neural import gnn, nn
from graph_bandit_env import GraphSet


@dataclass
class Lucky(Memoryless):
    """Play by luck."""

    luck: float = 0.5
    """How lucky; at most 1."""
    kind: Literal["good", "bad"] = "good"
    """Which."""

    def __post_init__(self):
        if self.luck > 1:
            raise ValueError(f"Expected `luck` to be at most 1. Got {self.luck}.")

    def __call__(self, belief: Belief, action_mask, generator):
        return torch.rand(len(belief.mean), generator=generator) * self.luck


MODELS = {"gnn": gnn, "nn": nn, "gntk": gntk, "molecule": molecule}


@pytest.mark.parametrize("model", MODELS)
def test_a_rule_brings_its_settings_to_every_model(model):
    agent = compose(f"{model}-lucky", MODELS[model], Lucky)(luck=0.25)
    settings = asdict(agent.settings)
    assert (settings["luck"], settings["kind"]) == (0.25, "good")
    assert settings.keys() - {"luck", "kind"} == asdict(compose("plain", MODELS[model], Greedy)().settings).keys()


def test_settings_are_given_by_name():
    settings = type(compose("gnn-named", gnn, Lucky)().settings)
    assert settings(luck=0.25).luck == 0.25
    with pytest.raises(TypeError):
        settings(0.25)


def test_settings_of_the_rule_are_checked_as_those_of_the_model_are():
    make = compose("gnn-lucky", gnn, Lucky)
    with pytest.raises(ValueError, match="`luck` to be at most 1. Got 2"):
        make(luck=2)
    with pytest.raises(ValueError, match="`kind` to be one of good, bad. Got 'worse'"):
        make(kind="worse")
    with pytest.raises(ValueError, match="Did you mean `luck`?"):
        make(lucck=1)


def test_a_pair_has_defaults_of_its_own():
    make = compose("gnn-lucky", gnn, Lucky, defaults={"luck": 0.125, "exploration_scale": 7.0})
    assert (make().settings.luck, make().settings.exploration_scale) == (0.125, 7.0)
    assert make(preset="paper").settings.exploration_scale == 0.01
    changed = compose("gnn-lucky", gnn, Lucky, preset_changes={"exploration_scale": 3.0})
    assert changed(preset="paper").settings.exploration_scale == 3.0
    assert changed(preset="paper", exploration_scale=4).settings.exploration_scale == 4.0


def test_a_setting_that_is_fixed_is_no_setting(graphs):
    make = compose("gnn-lucky", gnn, Lucky, fixed={"kind": "bad"})
    assert "kind" not in asdict(make().settings)
    agent = make()
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    assert agent.rule.kind == "bad"


def test_model_and_rule_cannot_have_a_setting_of_the_same_name():
    @dataclass
    class Wide(Memoryless):
        width: int = 3

    with pytest.raises(TypeError, match="gnn-wide has `width` twice"):
        compose("gnn-wide", gnn, Wide)


def test_the_signature_shows_every_argument_with_its_default():
    parameters = inspect.signature(compose("gnn-lucky", gnn, Lucky)).parameters
    assert {"preset", "network", "network_name", "width", "luck", "kind"} <= set(parameters)
    assert parameters["width"].default == 512
    assert parameters["luck"].annotation is float
    assert "preset" not in inspect.signature(compose("gntk-lucky", gntk, Lucky)).parameters


def test_every_setting_is_described():
    texts = describe_fields(type(compose("gnn-lucky", gnn, Lucky)().settings))
    assert texts["luck"] == "How lucky; at most 1."
    assert texts["width"].startswith("m, hidden width")


def test_each_reset_makes_a_rule_anew(graphs):
    agent = compose("gntk-pe", gntk, ThompsonSampling)()
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


@pytest.mark.parametrize("mapping", ["defaults", "preset_changes", "fixed"])
def test_a_setting_that_there_is_not_cannot_be_changed(mapping):
    with pytest.raises(ValueError, match="Did you mean `luck`"):
        compose("gnn-lucky", gnn, Lucky, **{mapping: {"lukc": 0.1}})
    with pytest.raises(TypeError, match="Expected a rule for plain"):
        compose("plain", gnn, **{mapping: {"width": 8}})


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
    agent, molecules = compose("molecule-pe", molecule, PhasedElimination)(short_list=2), some_molecules()
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
    described = compose("gnn-lucky", gnn, Lucky).__doc__
    assert "    luck: How lucky; at most 1." in described
    assert "    width: m, hidden width" in described
    assert f"Model: {gnn.__doc__.splitlines()[0]}\n" in described
    assert "Rule: Play by luck.\n" in described
