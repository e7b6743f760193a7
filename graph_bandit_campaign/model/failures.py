"""Predict failures of candidates from earlier failures."""

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

LIKELY = 0.25  # of the way from the share of failures so far to 1; candidates with a larger probability are avoided
MOST_LEARNT = 1000  # results; if there are more, evenly spaced ones are used
DIGITS = 6  # of a probability, so that rounding errors do not affect comparisons

Floats = NDArray[np.float64]


FailureRater = Callable[[Descriptors, Floats | None, Sequence[str]], Floats]
"""Predicts failures of molecules that are not in memory, like a `Rater`: probabilities of n molecules, `(n,)`."""


@dataclass(frozen=True, eq=False)
class FailureForecast:
    """The probability that each of K graphs fails."""

    probability: Floats
    """`(K,)`. Probability of failure, also for measured or failed graphs. 0 before there are enough failures."""
    failed: int = 0
    """Number of candidates that failed."""
    tried: int = 0
    """Number of candidates that failed or were measured. 0 before there are enough failures."""
    agent: BatchAgent | None = None
    """The Gaussian process, trained on the failures. None before there are enough."""

    @property
    def teaches(self) -> bool:
        """Return True if there are enough failures: at least five candidates failed, and five were measured."""
        return self.tried > 0

    @property
    def bound(self) -> float:
        """Return the threshold for likely failures: clearly above the share of failures so far."""
        share = self.failed / max(1, self.tried)
        return share + LIKELY * (1 - share)

    @property
    def likely(self) -> NDArray[np.bool_]:
        """Return a mask of the graphs that are likely to fail, `(K,)`: with a probability above `bound`."""
        return self.probability > self.bound

    @property
    def rater(self) -> FailureRater | None:
        """Return a picklable predictor of failures for molecules that are not in memory, or None."""
        agent = self.agent
        return partial(_rate, agent.rater(), self.failed / self.tried) if isinstance(agent, MoleculeAgent) else None

    def sentence(self) -> str:
        """Describe the candidates that are likely to fail. Empty before there are enough failures."""
        so_far = f"{self.failed} of {self.tried} have failed so far."
        text = (
            f"Candidates that fail with more than {percent(self.bound)} probability are likely to fail, and suggested"
        )
        return f"{text} only if there are no others. {so_far}" * self.teaches


class FailureLearner:
    """Predict failures of candidates from earlier failures, by regression on both classes.

        P(G fails) = s - f(G),   f ~ GP(0, k) with values s for measured graphs, and s - 1 for failed graphs

    s is the share of failures, and thus the probability for a candidate about which nothing is known. Weights and noise
    of the process are learned. If failures do not depend on the features in its kernel, f stays near 0.

    Args:
        count: K, number of graphs in memory.
        ignores: True if failures are ignored.
    """

    def __init__(self, count: int, ignores: bool = False) -> None:
        self._count, self._ignores = count, ignores
        self._learnt: tuple[object, FailureForecast] | None = None

    def learn(self, state: CampaignState, index_of: Mapping[str, int], learner: Learner) -> FailureForecast:
        """Return the probability that each graph fails.

        Args:
            state: state of the campaign.
            index_of: index of each graph, by its id. Other graphs are left out.
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
