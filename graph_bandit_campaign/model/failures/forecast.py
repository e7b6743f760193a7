"""Learn from molecules that failed which others are likely to fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.contract import MoleculeSetLike
from graph_bandit_campaign.model.failures.features import Feature, describe, log_prior, look_up, name_of
from graph_bandit_campaign.model.failures.rules import Rules, learn_rules
from graph_bandit_campaign.pool.index import PoolLike
from graph_bandit_campaign.pool.parsing import molecule_of
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import percent

LEAST = 5  # molecules that failed, and that were measured, before failures teach
LIKELY = 0.5  # a molecule that fails with a larger probability is left out
ALGORITHM = 1  # to be raised when equal results give another forecast
CLEARLY = 0.1  # if that is so much more than the share that failed so far
MOST_TAUGHT = 1000  # molecules; evenly spaced ones stand for more of them


@dataclass(frozen=True, eq=False)
class FailureJudge:
    """What failures have taught, as a function of structures."""

    rules: Rules
    """What may explain the failures."""
    features: Sequence[Feature]
    """The features of the rules."""

    def probability(self, smiles: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability of n molecules to fail, `(n,)`, by their SMILES."""
        return self.rules.probability(look_up(self.features, smiles, len(smiles)))


@dataclass(frozen=True, eq=False)
class FailureForecast:
    """The probability of each of K graphs to fail."""

    probability: NDArray[np.float64]
    """`(K,)`. Probability to fail, of graphs that were measured or failed too; 0 if failures do not teach."""
    cause: str = ""
    """What goes with failing, in words; empty if failures do not teach."""
    share: float = 0.0
    """How many of those tried failed, as a share."""
    judge: FailureJudge | None = None
    """Gives the probability of other molecules; None if failures do not teach."""

    @property
    def teaches(self) -> bool:
        """Return whether failures teach: five molecules or more failed, and five or more were measured."""
        return bool(self.cause)

    @property
    def odds(self) -> NDArray[np.float64]:
        """Return the probability of each graph not to fail, `(K,)`, as a factor on what it may gain."""
        return 1 - self.probability

    @property
    def bound(self) -> float:
        """Return above which probability a graph is likely to fail: a half, or clearly more than the share so far."""
        return max(LIKELY, self.share + CLEARLY)

    @property
    def likely(self) -> NDArray[np.bool_]:
        """Return which graphs are likely to fail, `(K,)`: with a probability above `bound`."""
        return self.probability > self.bound

    def sentence(self, mask: NDArray[np.bool_] | None) -> str:
        """Say how many molecules on offer are likely to fail, and why; an empty text if failures do not teach.

        Args:
            mask: `(K,)`. The molecules on offer; None: nobody knows all of them.
        """
        if mask is None:
            limit = percent(self.bound)
            alone = (
                f"Molecules that are likely to fail (with more than {limit}) are suggested only if there are no others."
            )
            return f"{alone} {self.cause}" if self.teaches else ""
        number = int((mask & self.likely).sum())
        counted = "1 molecule is" if number == 1 else f"{number:,} molecules are" if number else "No molecule is"
        more = f" (with more than {percent(self.bound)})" if number else ""
        return f"{counted} likely to fail{more}. {self.cause}" if self.teaches else ""


def are_enough(failed: int, measured: int) -> bool:
    """Return whether failures teach, by how many molecules failed and how many were measured."""
    return min(failed, measured) >= LEAST


def have_failed(state: CampaignState) -> bool:
    """Return whether the failures of a campaign are enough to teach."""
    return are_enough(len(state.failed), len({result.id for result in state.measured}.difference(state.failed)))


class FailureLearner:
    """Learn from molecules that failed which others are likely to fail. Other graphs teach nothing.

    Args:
        graph_set: the pool.
        ignores: True: failures teach nothing.
    """

    def __init__(self, graph_set: PoolLike, ignores: bool = False) -> None:
        self._count = len(graph_set)
        self._smiles = tuple(graph_set.smiles) if isinstance(graph_set, MoleculeSetLike) and not ignores else ()
        self._learnt: tuple[object, FailureForecast] | None = None

    def algorithm(self, state: CampaignState) -> int:
        """Return the version of what failures teach in a campaign; that which it has, if they teach nothing."""
        return ALGORITHM if self._smiles and have_failed(state) else state.failures_algorithm

    def learn(self, state: CampaignState, index_of: Mapping[str, int]) -> FailureForecast:
        """Return what the failures teach.

        With several goals, a molecule with a result for one of them did not fail, unless it is said to have failed.

        Args:
            state: state of the campaign.
            index_of: index of each graph, by its id.
        """
        failed = sorted(index_of[key] for key in state.failed if key in index_of)
        succeeded = {result.id for result in state.measured}.difference(state.failed)
        measured = sorted(index_of[key] for key in succeeded if key in index_of)
        if not self._smiles or not are_enough(len(failed), len(measured)):
            return FailureForecast(np.zeros(self._count))
        if self._learnt is None or self._learnt[0] != (failed, measured):
            self._learnt = (failed, measured), self._forecast(failed, measured)
        return self._learnt[1]

    def _forecast(self, failed: Sequence[int], measured: Sequence[int]) -> FailureForecast:
        index, fails = np.array([*failed, *measured]), np.arange(len(failed) + len(measured)) < len(failed)
        if len(index) > MOST_TAUGHT:
            some = np.linspace(0, len(index) - 1, MOST_TAUGHT).round().astype(np.int64)
            index, fails = index[some], fails[some]
        molecules = [molecule_of(self._smiles[k]) for k in index]
        features, has = describe(molecules)
        rules = learn_rules(has, fails, log_prior(features))
        judge = FailureJudge(rules, [features[k] for k in rules.features])
        probability = judge.probability(self._smiles)
        share = float(fails.mean())
        if rules.at_random > LIKELY or not rules.rules:
            random = percent(rules.at_random)
            cause = f"No cause was found: they fail at random with a probability of {random}."
            return FailureForecast(probability, cause, share, judge)
        left, texts = np.full(len(fails), True), []
        for case in rules.rules[0].cases:
            caught = left & (has[:, case.feature] == case.present)
            name = name_of(features[case.feature], molecules)
            texts.append(f"{_of(fails[caught])} {'with' if case.present else 'without'} {name}")
            left &= ~caught
        return FailureForecast(
            probability, f"Failed so far: {', '.join(texts)}, {_of(fails[left])} others.", share, judge
        )


def _of(fails: NDArray[np.bool_]) -> str:
    return f"{int(fails.sum())} of {len(fails)}"
