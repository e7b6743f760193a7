"""Agents that take each graph for itself: what the structure of the graphs is worth shows against them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.beliefs.acquisition import AcquisitionRule, Belief, ThompsonSampling
from agents.beliefs.history import History
from agents.contract.inputs import check_reset, derive_streams, masked_argmax, read_feedback, read_graphs, read_mask
from agents.contract.settings import check_fields, read_settings
from agents.contract.state import check_identity, make_identity


@dataclass(frozen=True, kw_only=True)
class IndependentSettings:
    """Settings of agents that take each graph for itself."""

    exploration_scale: float = 0.3
    """nu, standard deviation of a reward around its mean; in standard deviations of the rewards over the graphs."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.exploration_scale == 0:
            raise ValueError("Expected `exploration_scale` to be positive. Got 0.")


class CountBonus:
    """Be optimistic by the logarithm of the round: mean + sqrt(2 log t) spread      [UCB1 of Auer et al. 2002]."""

    def __init__(self) -> None:
        self.rounds = 0

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the upper bound of each graph, infinite where there is no reward yet."""
        self.rounds += 1
        return belief.mean + math.sqrt(2 * math.log(self.rounds + 1)) * belief.spread

    def state_dict(self) -> dict[str, Any]:
        """Return the number of rounds."""
        return {"rounds": self.rounds}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace the number of rounds."""
        self.rounds = state["rounds"]


class IndependentAgent:
    """Believe nothing of a graph but what its own rewards say.

        mu(G) ~ N(0, 1 / a) and y ~ N(mu(G), nu^2)   give   spread^2 = 1 / (a + n / nu^2), mean = spread^2 n ybar / nu^2

    in rewards standardised over the graphs seen (`History.location_and_scale`).

    Args:
        settings: nu.
        rule: makes the rule that turns belief into play.
        prior_precision: a; 1 for standardised rewards, 0 to know nothing of a graph without reward.
    """

    def __init__(
        self, settings: IndependentSettings, rule: Callable[[], AcquisitionRule], prior_precision: float
    ) -> None:
        self.settings, self._make_rule, self._prior_precision = settings, rule, prior_precision

    def reset(self, observation: Any, seed: int = 0, graph_set: Any = None) -> None:
        """Count the graphs and forget all rewards."""
        _, self.generator = derive_streams(seed)
        self.history = History(read_graphs(observation, graph_set).num_graphs)
        self.rule = self._make_rule()

    def select_action(self, observation: Any, action_mask: ArrayLike | None = None) -> int:
        """Play the graph that the rule ranks highest."""
        check_reset(self, "history")
        mask = read_mask(action_mask, len(self.history.counts))
        return masked_argmax(self.rule(self.belief(), mask, self.generator), mask, self.generator)

    def update(self, observation: Any, action: ArrayLike, reward: ArrayLike) -> None:
        """Count the rewards."""
        check_reset(self, "history")
        self.history.add(*read_feedback(action, reward, len(self.history.counts)))

    def belief(self) -> Belief:
        """Return mean and standard deviation of each graph, in standardised units."""
        location, unit = self.history.location_and_scale()
        weights = self.history.counts.double() / self.settings.exploration_scale**2
        precision = self._prior_precision + weights
        mean = weights * (self.history.means - location) / unit / precision.where(precision > 0, 1.0)
        spread = precision.rsqrt()
        return Belief(mean, spread, root=lambda: torch.diag(spread))

    def state_dict(self) -> dict[str, Any]:
        """Return the history, and the states of rule and generator."""
        return {
            "identity": self._identity(),
            "history": self.history.state_dict(),
            "rule": self.rule.state_dict(),
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state` was taken; `reset` on the same graphs must come first.

        Raises:
            ValueError: if the state is of other settings or another number of graphs; nothing is changed then.
        """
        check_identity(state, self._identity(), ("history", "rule", "generator"))
        self.history.load_state_dict(state["history"])
        self.rule.load_state_dict(state["rule"])
        self.generator.set_state(state["generator"])

    def _identity(self) -> dict[str, Any]:
        check_reset(self, "history")
        return make_identity(self.settings, [torch.tensor(len(self.history.counts))])


def ucb1(**settings: Any) -> IndependentAgent:
    """Make UCB1 [Auer et al. 2002]: each graph once, then mean + nu sqrt(2 log t / n)."""
    return IndependentAgent(read_settings(IndependentSettings, settings), CountBonus, prior_precision=0.0)


def gaussian_ts(**settings: Any) -> IndependentAgent:
    """Make Thompson sampling on independent Gaussian graphs."""
    return IndependentAgent(read_settings(IndependentSettings, settings), ThompsonSampling, prior_precision=1.0)
