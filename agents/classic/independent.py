"""Agents that judge each graph by its own rewards alone: the baseline that shows what graph structure is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agents.beliefs.agent import BeliefAgent
from agents.beliefs.belief import Belief
from agents.contract.settings import POSITIVE, Must, check_fields

SQUARABLE = Must(lambda value: value >= 1e-100, "at least 1e-100")  # its square is not 0


@dataclass(frozen=True, kw_only=True)
class IndependentSettings:
    """Settings of agents that judge each graph by its own rewards alone."""

    exploration_scale: Annotated[float, POSITIVE, SQUARABLE] = 0.3
    """nu, standard deviation of the noise of a reward; in standard deviations of the rewards over the graphs."""

    def __post_init__(self) -> None:
        check_fields(self)


class IndependentAgent(BeliefAgent[IndependentSettings]):
    """Judge each graph by its own rewards alone, with a Gaussian prior.

        mu(G) ~ N(0, 1 / a) and y ~ N(mu(G), nu^2)   give   spread^2 = 1 / (a + n / nu^2), mean = spread^2 n ybar / nu^2

    Rewards are standardised over the graphs seen (`History.location_and_scale`).

    Args:
        settings: holds nu.
        make_rule: makes the acquisition rule.
    """

    settings: IndependentSettings
    reads = frozenset[str]()
    prior_precision = 1.0
    """a; 1 for standardised rewards, 0 for no prior."""

    def belief(self) -> Belief:
        """Return mean and standard deviation of each graph, in standardised units."""
        location, unit = self.history.location_and_scale()
        weights = self.history.counts.double() / self.settings.exploration_scale**2
        precision = self.prior_precision + weights
        mean = weights * (self.history.means - location) / unit / precision.where(precision > 0, 1.0)
        return Belief(mean, precision.rsqrt(), best=self.best_seen(mean))


class CountingAgent(IndependentAgent):
    """Judge each graph by its own rewards alone, without a prior."""

    prior_precision = 0.0
