"""Learn from candidates that failed how likely others are to fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from agents.contract import BatchAgent
from agents.molecule import Descriptors, MoleculeAgent, Rater
from graph_bandit_campaign.model.learner import Learner
from graph_bandit_campaign.state import CampaignState, are_enough
from graph_bandit_campaign.text import percent

LIKELY = 0.25  # of the way from the share that failed so far to 1: with a larger probability a candidate is left out
MOST_LEARNT = 1000  # results; evenly spaced ones stand for more of them
DIGITS = 6  # of a probability, so that rounding errors decide no comparison

Floats = NDArray[np.float64]


FailureRater = Callable[[Descriptors, Floats | None, Sequence[str]], Floats]
"""Rates molecules that are not in memory, as a `Rater` does: the probability of n molecules to fail, `(n,)`."""


@dataclass(frozen=True, eq=False)
class FailureForecast:
    """The probability of each of K graphs to fail."""

    probability: Floats
    """`(K,)`. Probability to fail, of graphs that were measured or failed too; 0 before there are enough failures."""
    failed: int = 0
    """Number of candidates that failed."""
    tried: int = 0
    """Number of candidates that failed or were measured; 0 before there are enough failures."""
    agent: BatchAgent | None = None
    """The Gaussian process, given the failures; None before there are enough."""

    @property
    def teaches(self) -> bool:
        """Return whether there are enough failures: five candidates or more failed, and five or more were measured."""
        return self.tried > 0

    @property
    def bound(self) -> float:
        """Return above which probability a graph is likely to fail: clearly more than the share so far."""
        share = self.failed / max(1, self.tried)
        return share + LIKELY * (1 - share)

    @property
    def likely(self) -> NDArray[np.bool_]:
        """Return which graphs are likely to fail, `(K,)`: with a probability above `bound`."""
        return self.probability > self.bound

    @property
    def rater(self) -> FailureRater | None:
        """Return what rates molecules that are not in memory, which can be pickled; None if nothing does."""
        agent = self.agent
        return partial(_rate, agent.rater(), self.failed / self.tried) if isinstance(agent, MoleculeAgent) else None

    def sentence(self) -> str:
        """Say what is likely to fail; an empty text before there are enough failures."""
        so_far = f"{self.failed} of {self.tried} have failed so far."
        text = (
            f"Candidates that fail with more than {percent(self.bound)} probability are likely to fail, and suggested"
        )
        return f"{text} only if there are no others. {so_far}" * self.teaches


class FailureLearner:
    """Learn from candidates that failed how likely others are to fail, by regression on both classes.

        P(G fails) = s - f(G),   f ~ GP(0, k) with values s for those measured, and s - 1 for those that failed

    s is the share that failed, so it is the probability of a candidate of which nothing is known. Weights and noise of
    the process are learnt: if failures have no cause that its kernel shows, f stays near 0.

    Args:
        count: K, number of graphs in memory.
        ignores: True: nothing is learnt.
    """

    def __init__(self, count: int, ignores: bool = False) -> None:
        self._count, self._ignores = count, ignores
        self._learnt: tuple[object, FailureForecast] | None = None

    def learn(self, state: CampaignState, index_of: Mapping[str, int], learner: Learner) -> FailureForecast:
        """Return the probability of each graph to fail.

        Args:
            state: state of the campaign.
            index_of: index of each graph, by its id; others are left out.
            learner: makes the Gaussian process.
        """
        failed = sorted(index_of[key] for key in state.failed if key in index_of)
        succeeded = {result.id for result in state.measured}.difference(state.failed)
        measured = sorted(index_of[key] for key in succeeded if key in index_of)
        if self._ignores or not are_enough(len(failed), len(measured)):
            return FailureForecast(np.zeros(self._count))
        if self._learnt is None or self._learnt[0] != (failed, measured):
            index, share = np.array([*failed, *measured]), len(failed) / (len(failed) + len(measured))
            values = np.where(np.arange(len(index)) < len(failed), share - 1, share)
            some = np.unique(np.linspace(0, len(index) - 1, MOST_LEARNT).round().astype(np.int64))
            agent = learner.process()
            agent.update(None, index[some], values[some])
            probability = _probability(share, agent.predict().mean)
            self._learnt = (failed, measured), FailureForecast(probability, len(failed), len(index), agent)
        return self._learnt[1]


def _rate(
    rater: Rater, share: float, descriptors: Descriptors, columns: Floats | None, smiles: Sequence[str]
) -> Floats:
    return _probability(share, rater(descriptors, columns, smiles).prediction.mean)


def _probability(share: float, mean: Floats) -> Floats:
    return np.asarray(np.round(np.clip(share - mean, 0, 1), DIGITS), np.float64)
