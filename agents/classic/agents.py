"""Baselines without structure and features: random play, EXP3, and agents that estimate each graph independently."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.beliefs.agent import BeliefAgent
from agents.beliefs.belief import Belief
from agents.beliefs.rewards.history import RELATIVE_ROUNDING
from agents.contract.abilities import DRAWS, ActionProbabilities
from agents.contract.base import BaseAgent
from agents.contract.inputs import masked_argmax, read_mask
from agents.contract.protocol import State
from agents.contract.settings import POSITIVE, REAL, Must, check_fields
from gntk import one_thread

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")
SHARE = Must(lambda value: 0 < value <= 1, "above 0 and at most 1")
REMEMBERED = ("gains", "inverses", "chances", "rounds", "range", "origin")


class DrawingAgent(BaseAgent[S]):
    """Draw each graph with the probability that `probabilities` returns.

    Args:
        settings: settings of the agent.
    """

    @abstractmethod
    def probabilities(self, mask: Tensor) -> Tensor:
        """Return the probability `(K,)` float64 of playing each graph that `mask` allows."""

    def choose(self, mask: Tensor) -> int:
        """Draw a graph."""
        return int(torch.multinomial(self.probabilities(mask), 1, generator=self.generator))

    @one_thread()
    def action_probabilities(
        self, observation: object, action_mask: ArrayLike | None = None, draws: int = DRAWS
    ) -> ActionProbabilities:
        """Return the exact probability of each graph (see `agents.contract.PlayForecaster`)."""
        self.look_at(observation)
        values = self.probabilities(read_mask(action_mask, self.num_graphs)).numpy()
        return ActionProbabilities(values, np.zeros(len(values)))


@dataclass(frozen=True)
class RandomSettings:
    """Settings of random play, of which there are none."""


class RandomAgent(DrawingAgent[RandomSettings]):
    """Play uniformly at random, without learning.

    Args:
        settings: no settings.
    """

    settings: RandomSettings
    reads = frozenset[str]()
    learns = False

    def begin(self, graphs: Batch, seed: int) -> None:
        """Do nothing."""

    def probabilities(self, mask: Tensor) -> Tensor:
        """Return the same probability for each allowed graph."""
        return mask / mask.sum(dtype=torch.float64)

    def choose(self, mask: Tensor) -> int:
        """Return a random graph that `mask` allows."""
        return masked_argmax(torch.zeros(len(mask)), mask, self.generator)

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Do nothing."""

    def meet(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Do nothing: random play is the same on all graphs."""


@dataclass(frozen=True, kw_only=True)
class ExponentialSettings:
    """Settings of exponential weights."""

    exploration_share: Annotated[float | None, SHARE] = None
    """gamma, the share of uniform play. None: min(1, sqrt(K log K / ((e - 1) t))) in round t, the best known rate."""
    lowest_reward: Annotated[float | None, REAL] = None
    """Reward that is mapped to 0. None: the smallest so far. Smaller rewards are clipped."""
    highest_reward: Annotated[float | None, REAL] = None
    """Reward that is mapped to 1. None: the largest so far. Larger rewards are clipped."""

    def __post_init__(self) -> None:
        check_fields(self)
        low, high = self.lowest_reward, self.highest_reward
        if low is not None and high is not None and low >= high:
            raise ValueError(f"Expected `lowest_reward` to be below `highest_reward`. Got {low} and {high}.")


class ExponentialAgent(DrawingAgent[ExponentialSettings]):
    """Play each graph with a probability that grows exponentially with its cumulative reward    [EXP3].

        p_a = (1 - gamma) w_a / sum_b w_b + gamma / K,   w_a = exp(gamma S_a / K),   S_a = sum_s x_s / p_s
        [Auer, Cesa-Bianchi, Freund & Schapire 2002, Figure 1]

    The sum is over the rounds s in which graph a was played, with reward x_s in [0, 1]. Rewards need not be drawn from
    a distribution, so the guarantee holds against an adversary. Other agents learn faster on stochastic rewards.

    The analysis assumes a known range of rewards, given by `lowest_reward` and `highest_reward`. Without a range,
    rewards are mapped to [0, 1] by the smallest and largest so far, and earlier rewards are mapped again when the range
    grows: w always equals the weights computed with the current range from the start. A reward of a graph that was not
    chosen, such as an old measurement, counts as if it had been chosen with probability 1 / K.

    Args:
        settings: settings of exploration and range.
    """

    settings: ExponentialSettings
    reads = frozenset[str]()

    def begin(self, graphs: Batch, seed: int) -> None:
        """Start with equal weights."""
        count = graphs.num_graphs
        self.gains = torch.zeros(count, dtype=torch.float64)  # sum of (reward - the first one) / p
        self.inverses = torch.zeros(count, dtype=torch.float64)  # sum of 1 / p
        self.chances = torch.full((count,), 1 / count, dtype=torch.float64)  # probability of each at its last choice
        self.rounds, self.range = 0, (0.0, 0.0)  # relative to the first reward
        self.origin = 0.0

    def probabilities(self, mask: Tensor) -> Tensor:
        """Return the probability `(K,)` float64 of playing each graph that `mask` allows."""
        count = int(mask.sum())
        gamma = self.settings.exploration_share
        if gamma is None:
            gamma = min(1.0, math.sqrt(count * math.log(count) / ((math.e - 1) * (self.rounds + 1))))
        low, high = self.settings.lowest_reward, self.settings.highest_reward
        low = self.range[0] if low is None else low - self.origin  # the rewards mapped to 0 and 1,
        high = self.range[1] if high is None else high - self.origin  # relative to the first one
        known = high - low > RELATIVE_ROUNDING * max(abs(low), abs(high), abs(self.origin))
        earned = (self.gains - low * self.inverses) / (high - low) if known else torch.zeros_like(self.gains)
        weights = torch.softmax((gamma / count * earned).masked_fill(~mask, -torch.inf), dim=0)
        return torch.where(mask, (1 - gamma) * weights + gamma / count, 0.0)

    def choose(self, mask: Tensor) -> int:
        """Return a graph drawn from the probabilities."""
        action = super().choose(mask)
        self.chances[action] = self.probabilities(mask)[action]
        return action

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Add each reward, divided by the probability of choosing its graph."""
        given = self.settings.lowest_reward, self.settings.highest_reward
        rewards = rewards.clamp(*given) if given != (None, None) else rewards
        if not self.rounds:
            self.origin = float(rewards[0])
        relative, inverses = rewards - self.origin, 1 / self.chances[slots]
        self.range = min(self.range[0], float(relative.min())), max(self.range[1], float(relative.max()))
        self.gains.index_add_(0, slots, relative * inverses)
        self.inverses.index_add_(0, slots, inverses)
        self.rounds += len(slots)

    def state(self) -> State:
        """Return the cumulative reward of each graph, its probability at its last choice, and the range."""
        return {name: copy.deepcopy(getattr(self, name)) for name in REMEMBERED}

    def restore(self, state: State) -> None:
        """Continue from a state."""
        for name in REMEMBERED:
            setattr(self, name, copy.deepcopy(state[name]))


SQUARABLE = Must(lambda value: value >= 1e-100, "at least 1e-100")  # its square is not 0


@dataclass(frozen=True, kw_only=True)
class IndependentSettings:
    """Settings of agents that estimate each graph from its own rewards alone."""

    exploration_scale: Annotated[float, POSITIVE, SQUARABLE] = 0.3
    """nu, standard deviation of the noise of a reward, in standard deviations of the rewards over the graphs."""

    def __post_init__(self) -> None:
        check_fields(self)


class IndependentAgent(BeliefAgent[IndependentSettings]):
    """Estimate each graph from its own rewards alone, with a Gaussian prior.

        mu(G) ~ N(0, 1 / a) and y ~ N(mu(G), nu^2)   give   spread^2 = 1 / (a + n / nu^2), mean = spread^2 n ybar / nu^2

    Rewards are standardised over the graphs seen (`History.location_and_scale`).

    Args:
        settings: holds nu.
        make_rule: makes the acquisition rule.
    """

    settings: IndependentSettings
    reads = frozenset[str]()
    prior_precision = 1.0
    """a: 1 for standardised rewards, 0 for no prior."""

    def belief(self) -> Belief:
        """Return mean and standard deviation of each graph, in standardised units."""
        location, unit = self.history.location_and_scale()
        weights = self.history.counts.double() / self.settings.exploration_scale**2
        precision = self.prior_precision + weights
        mean = weights * (self.history.means - location) / unit / precision.where(precision > 0, 1.0)
        return Belief(mean, precision.rsqrt(), best=self.best_seen(mean))


class CountingAgent(IndependentAgent):
    """Estimate each graph from its own rewards alone, without a prior."""

    prior_precision = 0.0
