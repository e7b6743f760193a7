"""Define each agent by a model, a rule, and the defaults of the pair, without importing torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.contract.protocol import Agent

MODELS = {
    "gnn": "agents.neural.models:gnn",
    "nn": "agents.neural.models:nn",
    "gntk": "agents.kernel.models:gntk",
    "wl": "agents.kernel.models:wl",
    "gp": "agents.process.graphs:gp",
    "linear": "agents.kernel.models:linear",
    "molecule": "agents.molecule.agent:molecule",
    "counted": "agents.classic.independent:counted",
    "independent": "agents.classic.independent:independent",
    "uniform": "agents.classic.random_agent:uniform",
    "policy-gradient": "agents.policy_gradient.agent:policy_gradient",
}
RULES = {
    "ts": "agents.beliefs.rules:ThompsonSampling",
    "ucb": "agents.beliefs.rules:UpperConfidenceBound",
    "pe": "agents.beliefs.rules:PhasedElimination",
    "greedy": "agents.beliefs.rules:Greedy",
    "ei": "agents.beliefs.rules:ExpectedImprovement",
    "epsilon": "agents.beliefs.rules:EpsilonGreedy",
    "count-bonus": "agents.beliefs.rules:CountBonus",
}


@dataclass(frozen=True)
class Recipe:
    """The model and the rule of an agent, and the settings that differ for this pair."""

    model: str
    """A key of `MODELS`."""
    rule: str | None = None
    """A key of `RULES`; None for an agent without a rule."""
    defaults: Mapping[str, object] = field(default_factory=dict)
    """Defaults of settings that differ for this pair."""
    preset_changes: Mapping[str, object] = field(default_factory=dict)
    """Settings that this pair changes in every preset of its model."""
    fixed: Mapping[str, object] = field(default_factory=dict)
    """Settings of the rule that this pair fixes and does not offer."""
    needs: str = "any"
    """Graph sets on which the agent can play: "any", or "molecules"."""


JOINT = {"sampling": "joint"}
OPTIMISTIC = {"exploration_scale": 1.0}
# The best cell for UCB of those tried in the paper's grid for nu, eta and lambda (docs/evidence/zoo.md).
PAPER_UCB = {"exploration_scale": 0.1, "learning_rate": 0.001, "regularization": 0.001}

RECIPES: Mapping[str, Recipe] = {
    "gnn-ts": Recipe("gnn", "ts"),
    "gnn-ucb": Recipe("gnn", "ucb", OPTIMISTIC, PAPER_UCB),
    "gnn-pe": Recipe("gnn", "pe"),
    "gnn-ei": Recipe("gnn", "ei", OPTIMISTIC, OPTIMISTIC),
    "gnn-greedy": Recipe("gnn", "greedy"),
    "epsilon-greedy": Recipe("gnn", "epsilon"),
    "nn-ts": Recipe("nn", "ts"),
    "nn-ucb": Recipe("nn", "ucb", OPTIMISTIC, PAPER_UCB),
    "nn-pe": Recipe("nn", "pe"),
    "nn-ei": Recipe("nn", "ei", OPTIMISTIC, OPTIMISTIC),
    "nn-greedy": Recipe("nn", "greedy"),
    "gntk-ts": Recipe("gntk", "ts", JOINT),
    "gntk-ucb": Recipe("gntk", "ucb", {"exploration_scale": 2.0}),
    "gntk-pe": Recipe("gntk", "pe", {"exploration_scale": 2.0}),
    "gntk-ei": Recipe("gntk", "ei"),
    "gntk-greedy": Recipe("gntk", "greedy"),
    "gp-ts": Recipe("gp", "ts", {**JOINT, "exploration_scale": 1.0}),
    "gp-ucb": Recipe("gp", "ucb"),
    "gp-ei": Recipe("gp", "ei", OPTIMISTIC),
    "gp-greedy": Recipe("gp", "greedy"),
    "lin-ts": Recipe("linear", "ts", JOINT),
    "lin-ucb": Recipe("linear", "ucb", {"exploration_scale": 2.0}),
    "wl-ts": Recipe("wl", "ts", JOINT),
    "wl-ucb": Recipe("wl", "ucb", {"exploration_scale": 2.0}),
    "wl-ei": Recipe("wl", "ei"),
    "molecule-ts": Recipe("molecule", "ts", {**JOINT, "exploration_scale": 0.5}, needs="molecules"),
    "molecule-ucb": Recipe("molecule", "ucb", needs="molecules"),
    "molecule-ei": Recipe("molecule", "ei", needs="molecules"),
    "molecule-greedy": Recipe("molecule", "greedy", needs="molecules"),
    "ucb1": Recipe("counted", "count-bonus"),
    "gaussian-ts": Recipe("independent", "ts", fixed={"sampling": "independent"}),
    "sb3-ppo": Recipe("policy-gradient"),
    "random": Recipe("uniform"),
}


@cache
def find_factory(name: str) -> Callable[..., Agent]:
    """Return the function that makes an agent of `RECIPES` from keyword settings.

    Raises:
        KeyError: if there is no agent of this name.
    """
    from agents.beliefs.composition import compose

    recipe = RECIPES[name]
    rule = None if recipe.rule is None else _load(RULES[recipe.rule])
    return compose(name, _load(MODELS[recipe.model]), rule, recipe.defaults, recipe.preset_changes, recipe.fixed)


def _load(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
