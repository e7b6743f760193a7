"""Probabilities of the choices of rules, and of every registered agent, against the choices themselves."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from support.play import play

import registry
from agents.beliefs import Belief, Greedy, Memoryless, PhasedElimination, ThompsonSampling
from agents.beliefs.choices import choice_probabilities
from agents.beliefs.rules import EpsilonGreedy, InverseGapWeighting
from agents.contract import masked_argmax
from graph_bandit_lab.design import AgentSpec

MEAN, SPREAD = torch.tensor([0.2, 0.5, 0.5, -1.0]).double(), torch.tensor([0.6, 0.1, 0.3, 2.0]).double()
ROOT = torch.diag(SPREAD) @ torch.tensor([[1.0, 0, 0], [0.8, 0.6, 0], [0, 0.6, 0.8], [0, -1, 0]]).double()
BELIEF = Belief(MEAN, SPREAD, root=lambda: ROOT)
MASK = torch.tensor([True, True, False, True])
LABELS = [name for name in registry.list_agents() if registry.agent_needs(name) == "any"]
LABELS += ["gntk-ts:short_list=2", "wl-ucb:short_list=2", "gnn-ts:sampling=joint", "lin-ts:sampling=independent"]


@dataclass
class Perturbed(Memoryless):
    """A rule of somebody else that draws, and knows no probabilities."""

    def __call__(self, belief, action_mask, generator):
        return belief.mean + torch.rand(4, generator=generator, dtype=torch.float64)


def shares(rule, count=4_000):
    generator, played = torch.Generator().manual_seed(1), np.zeros(4)
    for _ in range(count):
        played[masked_argmax(copy.deepcopy(rule)(BELIEF, MASK, generator), MASK, generator)] += 1
    return played / count


@pytest.mark.parametrize(
    "rule",
    [ThompsonSampling(), ThompsonSampling("joint"), EpsilonGreedy(0.3), InverseGapWeighting(), Perturbed()],
    ids=repr,
)
def test_probabilities_are_the_shares_of_choices(rule):
    weighed = choice_probabilities(rule, BELIEF, MASK, torch.Generator().manual_seed(0), 10_000)
    assert weighed.values == pytest.approx(shares(rule), abs=0.03)
    assert weighed.values[2] == 0
    assert weighed.values.sum() == pytest.approx(1)


def test_only_what_is_estimated_from_draws_has_an_error():
    def errors(rule, draws):
        return choice_probabilities(rule, BELIEF, MASK, torch.Generator(), draws).errors

    for exact in (ThompsonSampling(), EpsilonGreedy(0.3), InverseGapWeighting(), Greedy()):
        assert not errors(exact, 100).any()
    for drawn in (ThompsonSampling("joint"), Perturbed()):
        few, many = errors(drawn, 100), errors(drawn, 10_000)
        assert many[MASK.numpy()].max() == pytest.approx(few.max() / 10, rel=0.2)
        assert many[2] == 0


def test_a_rule_that_draws_nothing_plays_one_graph_or_shares_among_those_that_tie():
    def of(mean, rule=None):
        belief = Belief(torch.tensor(mean).double(), SPREAD, root=lambda: ROOT)
        return choice_probabilities(rule or Greedy(), belief, MASK, torch.Generator(), 2).values.tolist()

    assert of([0.2, 0.5, 0.9, -1.0]) == [0, 1, 0, 0]
    assert of([0.5, 0.5, 0.9, 0.5 - 1e-14]) == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])
    assert of([0.2, 0.5, 0.5, -1.0], PhasedElimination()) == [
        0,
        0,
        0,
        1,
    ]  # the most uncertain that may be best


def make(label):
    spec = AgentSpec.parse(label)
    small = {"width": 16, "steps": 5} if spec.name.startswith(("gnn", "nn", "epsilon")) else {}
    return registry.make_agent(spec.name, **small, **spec.settings)


@pytest.mark.parametrize("label", ["gaussian-ts", "exp3"])
def test_an_agent_plays_as_often_as_it_says(label, small_env):
    env, agent = small_env(num_graphs=4), make(label)
    play(env, agent, 6, seed=1)
    mask = np.array([1, 0, 1, 1], np.int8)
    weighed = agent.action_probabilities(None, mask)
    played = np.bincount([agent.select_action(None, mask) for _ in range(1500)], minlength=4) / 1500
    assert played == pytest.approx(weighed.values, abs=4 * 0.5 / np.sqrt(1500))
