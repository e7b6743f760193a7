"""Average over simple rules by which molecules fail, each weighted by how well it explains the failures so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, logsumexp

EVENT = 0.5  # Jeffreys' prior: so many failures, and so many successes, before any result
AT_RANDOM = 0.5  # prior of failing without any rule
LENGTHS = (0.25, 0.125, 0.0625, 0.0625)  # priors of rules with one feature, two, and so on
BEAM = 30  # rules of each length that are made longer
MOST_SCORED = 1000  # rules of each length
MOST_RULES, ENOUGH = 50, 0.95  # the likeliest rules with this share of the weight of all rules stand for all

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]


class Case(NamedTuple):
    """A case of a rule: molecules that have a feature, or that lack it."""

    feature: int
    """Index of the feature."""
    present: bool
    """Whether they have it."""


@dataclass(frozen=True, eq=False)
class Rule:
    """A list of cases. A molecule is of the first case that applies to it."""

    cases: tuple[Case, ...]
    """The cases, in order."""
    rates: tuple[float, ...]
    """Probability to fail in each case, then where none applies."""
    weight: float
    """Probability of the rule given the results."""

    def rate(self, has: Masks, column_of: dict[int, int]) -> Floats:
        """Return the probability of each molecule to fail under this rule, `(K,)`.

        Args:
            has: `(K, f)`. Which molecules have some features.
            column_of: the column of each feature.
        """
        total = np.full(len(has), self.rates[-1])
        for case, rate in zip(reversed(self.cases), reversed(self.rates[:-1]), strict=True):
            total[has[:, column_of[case.feature]] == case.present] = rate
        return total


@dataclass(frozen=True, eq=False)
class Rules:
    """What may explain the failures."""

    rules: Sequence[Rule]
    """The likeliest rules, the likeliest one first. The rest of the weight is that of failing at random."""
    base: float
    """Probability to fail at random."""

    @property
    def at_random(self) -> float:
        """Return the weight of failing at random."""
        return max(0.0, 1 - sum(rule.weight for rule in self.rules))

    @property
    def features(self) -> list[int]:
        """Return the features of the rules, each once."""
        return sorted({case.feature for rule in self.rules for case in rule.cases})

    def probability(self, has: Masks) -> Floats:
        """Return the probability of each molecule to fail, `(K,)`.

        Args:
            has: `(K, f)`. Which molecules have the f features of `features`.
        """
        column_of = {feature: column for column, feature in enumerate(self.features)}
        total = np.full(len(has), self.at_random * self.base)
        for rule in self.rules:
            total += rule.weight * rule.rate(has, column_of)
        return total


def learn_rules(has: Masks, failed: Masks, log_prior: Floats) -> Rules:
    """Weigh rules of one to four features by Bayes' theorem.

        P(rule | results) ~ P(rule) prod_c B(f_c + 1/2, n_c - f_c + 1/2) / B(1/2, 1/2)

    Each case c of a rule has its own probability to fail, with Jeffreys' prior; f_c of its n_c molecules failed. So a
    rule pays for each case, and few or random failures leave the weight on no rule. All rules of one feature are
    weighed. The best ones are made longer: another feature splits the molecules to which no case applies.

    Args:
        has: `(n, F)`. Which of n molecules has which feature; each feature is there for some, but not for all.
        failed: `(n,)`. Which of them failed.
        log_prior: `(F,)`. Logarithms of the prior of each feature.
    """
    there, events = has.astype(np.float64), failed.astype(np.float64)
    count, total = float(len(events)), float(events.sum())
    scored: list[tuple[float, tuple[Case, ...]]] = []
    beginnings = [_Beginning(0.0, (), np.full(len(events), True))]
    for prior in LENGTHS:
        ended = [_end(begin, there, events, log_prior) for begin in beginnings]
        every = np.concatenate([scores.scores for scores in ended])
        order = np.argsort(-every, kind="stable")[:MOST_SCORED]
        chosen = [(float(every[k]), *divmod(k, has.shape[1])) for k in order[np.isfinite(every[order])].tolist()]
        scored += [(math.log(prior) + score, (*ended[at].cases, Case(feature, True))) for score, at, feature in chosen]
        beginnings = _lengthen(chosen, ended, has, events)
        if not beginnings:
            break
    if not scored:
        return Rules((), _rate(total, count))
    logs = np.array([score for score, _ in scored])
    whole = logsumexp([*logs, math.log(AT_RANDOM) + float(_evidence(total, count))])
    weights = np.exp(logs - whole)
    order = np.argsort(-weights, kind="stable")[:MOST_RULES]
    order = order[: int(np.searchsorted(np.cumsum(weights[order]), ENOUGH * weights.sum())) + 1]
    weights *= weights.sum() / weights[order].sum()
    rules = [Rule(scored[k][1], _rates(scored[k][1], has, events), float(weights[k])) for k in order.tolist()]
    return Rules(rules, _rate(total, count))


class _Beginning(NamedTuple):
    """A rule that can get another case."""

    score: float
    """Logarithm of its prior and of the evidence of its cases."""
    cases: tuple[Case, ...]
    """The cases."""
    left: Masks
    """`(n,)`. The molecules to which no case applies."""


class _Scores(NamedTuple):
    """A beginning with each feature as its last case."""

    scores: Floats
    """`(F,)`. Logarithm of prior and evidence; -inf where the feature does not split the molecules that are left."""
    cases: tuple[Case, ...]
    """The cases before."""
    left: Masks
    """`(n,)`. The molecules to which none of these applies."""


def _end(begin: _Beginning, there: Floats, events: Floats, log_prior: Floats) -> _Scores:
    rest, remaining = there[begin.left], events[begin.left]
    size, hits = rest.sum(0), remaining @ rest
    others, misses = len(rest) - size, remaining.sum() - hits
    scores = begin.score + log_prior + _evidence(hits, size) + _evidence(misses, others)
    return _Scores(np.where((size > 0) & (others > 0), scores, -np.inf), begin.cases, begin.left)


def _lengthen(
    chosen: Sequence[tuple[float, int, int]], ended: Sequence[_Scores], has: Masks, events: Floats
) -> list[_Beginning]:
    """Return the best rules as beginnings of longer ones: once with the last feature as a case, once with its lack.

    Of features that tell the molecules left apart in the same way, only the first is taken.
    """
    beginnings: list[_Beginning] = []
    seen: set[bytes] = set()
    for score, at, feature in chosen:
        there = ended[at].left & has[:, feature]
        key = np.packbits(np.stack([there, ended[at].left])).tobytes()
        if key in seen:
            continue
        seen.add(key)
        for present in (True, False):
            left = ended[at].left & (has[:, feature] != present)
            open_score = score - math.log(2) - float(_evidence(float(events[left].sum()), float(left.sum())))
            beginnings.append(_Beginning(open_score, (*ended[at].cases, Case(feature, present)), left))
        if len(seen) == BEAM:
            break
    return beginnings


def _rates(cases: tuple[Case, ...], has: Masks, events: Floats) -> tuple[float, ...]:
    left, rates = np.full(len(events), True), []
    for case in cases:
        fires = left & (has[:, case.feature] == case.present)
        rates.append(float(_rate(events[fires].sum(), fires.sum())))
        left &= ~fires
    return (*rates, float(_rate(events[left].sum(), left.sum())))


def _evidence(hits: Floats | float, size: Floats | float) -> Floats:
    """Return log B(f + 1/2, n - f + 1/2) - log B(1/2, 1/2)."""
    return np.asarray(betaln(hits + EVENT, size - hits + EVENT) - betaln(EVENT, EVENT), np.float64)


def _rate(hits: float, size: float) -> float:
    return (hits + EVENT) / (size + 2 * EVENT)
