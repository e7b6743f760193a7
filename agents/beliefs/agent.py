"""Agents that hold a belief about every graph and play the graph that an acquisition rule ranks highest."""

from __future__ import annotations

import dataclasses
import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from agents.beliefs.batches import choose_batch
from agents.beliefs.belief import AcquisitionRule, Belief, Fantasize
from agents.beliefs.choices import choice_probabilities
from agents.beliefs.rewards.history import History
from agents.contract.abilities import DRAWS, ActionProbabilities
from agents.contract.base import BaseAgent
from agents.contract.inputs import masked_argmax, read_awaiting, read_mask, read_pending
from agents.contract.protocol import Prediction, State
from agents.contract.reading import BlindAgentWarning
from gntk import one_thread

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from torch_geometric.data import Batch

S = TypeVar("S", bound="DataclassInstance")


FIRST = 32  # rewards before forecasts count: with fewer, scale and noise are poorly estimated
WIDER = 3.0  # standard deviation of the residuals under the alternative, a wrong model
FARTHEST = 5.0  # larger residuals are clipped to this, so that no single one flags a model as wrong
ENOUGH = 20.0  # log likelihood ratio


class MisfitWarning(BlindAgentWarning):
    """The rewards differ from an agent's forecasts: its model is wrong."""


@dataclass
class Watch:
    """The standardised residuals z of consecutive forecasts.

    S_t = max(0, S_{t-1} + log N(z_t; 0, 3^2) - log N(z_t; 0, 1)),   the model is wrong if S_t >= 20
    [Page 1954]

    A model that can refit scale and noise does so first, and S_t restarts at 0.
    """

    count: int = 0
    """Number of residuals."""
    squares: float = 0.0
    """Sum of their squares."""
    evidence: float = 0.0
    """S_t."""
    is_wrong: bool = False
    """True once a misfit was reported."""
    mended_at: int = 0
    """Number of rewards at the last refit triggered by S_t, or 0 before the first."""

    def add(self, residual: float) -> bool:
        """Add a residual and return True if S_t reaches the threshold."""
        square = min(residual**2, FARTHEST**2)
        self.count, self.squares = self.count + 1, self.squares + square
        self.evidence = max(0.0, self.evidence + square * (1 - WIDER**-2) / 2 - math.log(WIDER))
        return self.evidence >= ENOUGH

    @property
    def misfit(self) -> float:
        """Return the root mean square of the residuals: 1 is expected, and `nan` if there are none."""
        return math.sqrt(self.squares / self.count) if self.count else math.nan


class BeliefAgent(BaseAgent[S]):
    """Form a belief, rank the graphs by a rule, and play the best. Model and rule share only the type `Belief`.

    Args:
        settings: settings of model and rule.
        make_rule: makes the rule, at each `reset`.

    Attributes:
        history: the rewards observed.
        watch: how far rewards lie from their forecasts.
        rule: ranks the graphs by the belief.
    """

    history: History
    rule: AcquisitionRule
    plays_new: bool = False
    """True if some graphs were played and none of them is on offer."""

    def __init__(self, settings: S, make_rule: Callable[[], AcquisitionRule]) -> None:
        super().__init__(settings)
        self._make_rule = make_rule
        self._ranked: tuple[Belief, Tensor] | None = None
        self.watch = Watch()

    @abstractmethod
    def belief(self) -> Belief:
        """Return the current belief about each graph.

        Raises:
            DivergedError: if the belief is not finite.
        """

    def exchange(self, kept: Tensor, added: int) -> None:
        """Keep the graphs of some slots and add new ones: the part of `meet` that all models share."""
        self.history.exchange(kept, added)
        self.rule.forget_graphs()
        self._ranked = None

    def begin(self, graphs: Batch, seed: int) -> None:
        """Start without observations."""
        self.history, self.rule, self.watch = History(graphs.num_graphs), self._make_rule(), Watch()
        self._ranked, self.plays_new = None, False

    @property
    def seen(self) -> Tensor:
        """The graphs with results, `(q,)` int64."""
        return self.history.seen

    def look_for_those_played(self, mask: Tensor) -> None:
        """Check if played graphs can be played again. Graph-specific effects are explored only in that case."""
        seen = self.seen
        among = mask[seen] if self.offered is None else torch.isin(self.offered, seen) & mask
        self.plays_new = len(seen) > 0 and not bool(among.any())

    def choose(self, mask: Tensor) -> int:
        """Return the graph that the rule ranks highest."""
        self.look_for_those_played(mask)
        belief = self.belief()
        index = self.rule(belief, mask, self.generator)
        self._ranked = belief, index
        return masked_argmax(index, mask, self.generator)

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Add the rewards to the history, and compare a single one with its forecast.

        Warns:
            MisfitWarning: the first time that the rewards show a wrong model.
        """
        residual = None
        if len(slots) == 1 and len(self.history) >= FIRST:
            residual = self.residual(int(slots), float(rewards))
        self.history.add(slots, rewards)
        self._ranked = None
        if residual is not None and self.watch.add(residual) and not self.watch.is_wrong and not self.learns_again():
            self.watch.is_wrong = True
            warnings.warn(self.remark, MisfitWarning, stacklevel=4)

    def residual(self, slot: int, reward: float) -> float | None:
        """Return the standardised forecast error of a reward, or None without a forecast."""
        return None

    def learns_again(self) -> bool:
        """Refit a model whose forecasts were wrong, and return True if it was refitted."""
        return False

    @property
    def remark(self) -> str:
        """Return a sentence about the fit of the model, or an empty string."""
        if not self.watch.is_wrong:
            return ""
        other = "ucb1" if self.name.startswith("gp-") else "gp-ucb"
        return (
            f"The rewards are not what `{self.name or type(self).__name__}` forecasts: its errors were "
            f"{self.watch.misfit:.1f} times as large as it expects. Its model is wrong here. Try `{other}`."
        )

    def state(self) -> State:
        """Return the history and the state of the rule."""
        return {
            "history": self.history.state_dict(),
            "rule": self.rule.state_dict(),
            "watch": dataclasses.asdict(self.watch),
        }

    def restore(self, state: State) -> None:
        """Replace the history and the state of the rule."""
        self.history.load_state_dict(state["history"])
        self.rule.load_state_dict(state["rule"])
        self.watch = Watch(**state["watch"])
        self._ranked = None

    def weigh_choices(self, mask: Tensor, draws: int) -> ActionProbabilities:
        """Return the probability that `choose` returns each graph, without side effects."""
        self.look_for_those_played(mask)
        return choice_probabilities(self.rule, self.belief(), mask, self.generator, draws)

    @final
    @one_thread()
    def action_probabilities(
        self, observation: object, action_mask: ArrayLike | None = None, draws: int = DRAWS
    ) -> ActionProbabilities:
        """Return the probability of playing each graph (see `agents.contract.PlayForecaster`)."""
        self.look_at(observation)
        return self.weigh_choices(read_mask(action_mask, self.num_graphs), draws)

    @property
    def ranked(self) -> tuple[Belief, Tensor]:
        """Return the belief and the index of the last choice.

        Raises:
            RuntimeError: if no graph was chosen since the last `reset` or `update`.
        """
        if self._ranked is None:
            raise RuntimeError("Expected `insight` between `select_action` and `update`. Nothing has been chosen yet.")
        return self._ranked

    def best_seen(self, mean: Tensor) -> float | None:
        """Return the largest entry of `mean` `(K,)` among the graphs played.

        Return None before the first play, or if the graphs change, because earlier graphs may no longer be available.
        """
        played = self.offered is None and len(self.history.seen)
        return mean[self.history.seen].max().item() if played else None


class BatchBeliefAgent(BeliefAgent[S]):
    """An agent that can fantasize rewards to choose batches, and can predict mean rewards.

    Args:
        settings: settings of model and rule.
        make_rule: makes the rule, at each `reset`.
    """

    def __init__(self, settings: S, make_rule: Callable[[], AcquisitionRule]) -> None:
        super().__init__(settings, make_rule)
        self.algorithm = max(getattr(make_rule(), "algorithm", 1), type(self).algorithm)

    @abstractmethod
    def fantasize(self) -> Fantasize:
        """Return a function that takes a few actions at a time and returns the belief after all actions so far.

        The reward of each action is fantasized as its mean under the belief. The agent's own belief does not change.
        """

    @abstractmethod
    def expect(self) -> Prediction:
        """Return the current prediction of the mean reward of each graph."""

    def expect_means(self) -> Tensor:
        """Return the means of `expect`, `(K,)` float64. A subclass may compute them without the rest."""
        return torch.from_numpy(self.expect().mean)

    def choose_batch(self, mask: Tensor, count: int, pending: Sequence[int]) -> list[int]:
        """Choose `count` different graphs that `mask` allows, one after the other."""
        self.look_for_those_played(mask)
        return choose_batch(self.rule, self.belief(), mask, count, self.generator, self.fantasize(), pending)

    @final
    @one_thread()
    def select_batch(
        self, observation: object, count: int, action_mask: ArrayLike | None = None, pending: Sequence[int] = ()
    ) -> list[int]:
        """Return several graphs to play (see `agents.contract.BatchAgent`)."""
        self.look_at(observation)
        mask = read_mask(action_mask, self.num_graphs)
        return self.choose_batch(mask, count, read_pending(pending, self.num_graphs))

    def choose_awaiting(self, mask: Tensor, count: int, awaiting: Sequence[int]) -> list[int]:
        """Choose `count` different graphs that `mask` allows while rewards of earlier ones are pending."""
        self._ranked = None
        self.look_for_those_played(mask)
        return choose_batch(self.rule, self.belief(), mask, count, self.generator, self.fantasize(), awaiting=awaiting)

    @final
    @one_thread()
    def select_awaiting(
        self, observation: object, count: int, awaiting: Sequence[int], action_mask: ArrayLike | None = None
    ) -> list[int]:
        """Return graphs to play while rewards are pending (see `agents.contract.LateLearner`)."""
        self.look_at(observation)
        mask = read_mask(action_mask, self.num_graphs)
        return self.choose_awaiting(mask, count, read_awaiting(awaiting, self.num_graphs))

    @final
    @one_thread()
    def predict(self) -> Prediction:
        """Return the prediction of the mean reward of each graph (see `agents.contract.BatchAgent`)."""
        self.check_reset()
        return self.expect()

    @final
    @one_thread()
    def predict_means(self) -> NDArray[np.float64]:
        """Return the predicted mean reward of each graph (see `agents.contract.MeanPredictor`)."""
        self.check_reset()
        return self.expect_means().numpy()
