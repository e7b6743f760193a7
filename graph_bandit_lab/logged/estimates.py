"""Estimate from a log what another policy would have been paid, with intervals that say when they hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from agents.contract import Agent, BatchAgent, GraphSetLike, MeanPredictor
from graph_bandit_lab.logged.log import Log
from graph_bandit_lab.logged.targets import Policy, check_support, target_probabilities

Floats = NDArray[np.float64]
Method: TypeAlias = Literal["ips", "snips", "dr", "weighted"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The mean reward of a policy in a round, averaged over the rounds of a log, as one method estimates it."""

    method: Method
    """How it was estimated; see `evaluate`."""
    value: float
    """V, in reward units."""
    std_error: float
    """Standard error of V."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""
    level: float
    """How often such intervals are meant to hold the truth."""
    effective_rounds: float
    """(sum w)^2 / sum w^2 of the weights w = pi / p: how many rounds by the policy itself would tell as much."""
    largest_weight: float
    """The largest w."""
    valid_under_adaptivity: bool
    """Whether the interval holds for logs of agents that learn, too: False unless `method` is "weighted"."""
    is_valid: bool
    """Whether the interval holds for this log. Where it is False, read the value and no interval."""

    def __str__(self) -> str:
        interval = f"[{self.low:.4g}, {self.high:.4g}]"
        doubt = "" if self.is_valid else ", not a valid interval: the log is of an agent that learned"
        return f"{self.method}: {self.value:.4g} {interval}{doubt}"


def evaluate(
    log: Log,
    policy: Policy,
    method: Method = "weighted",
    agent: Agent | None = None,
    graph_set: GraphSetLike | None = None,
    level: float = 0.95,
    folds: int = 5,
    seed: int = 0,
) -> Estimate:
    """Estimate the mean reward of a policy from a log of another one.

        V = (1/T) sum_t sum_G pi_t(G) mu(G),   w_t = pi_t(G_t) / p_t(G_t)
        ips       (1/T) sum_t w_t y_t                                              [Horvitz & Thompson 1952]
        snips     sum_t w_t y_t / sum_t w_t                                        [Swaminathan & Joachims 2015]
        dr        (1/T) sum_t g_t,   g_t = sum_G pi_t(G) m_t(G) + w_t (y_t - m_t(G_t))   [Dudik et al. 2011]
        weighted  sum_t h_t g_t / sum_t h_t,   h_t^-2 = sum_G pi_t(G)^2 / p_t(G)   [Hadad et al. 2021; Zhan et al. 2021]

    Intervals are Student's, with as many degrees of freedom as the weights leave. Those of the first three hold where
    the policy of the log was fixed. The last is made for logs of agents that learn: h_t evens out how much the rounds
    vary, so that a central limit theorem for martingales holds.

    The predictions m_t never see the reward of their round. With a fixed policy, they are made from the other folds
    [cross-fitting: Chernozhukov et al. 2018]; of an agent that learns, from earlier rounds alone.

    Args:
        log: the log.
        policy: what is judged: probabilities, or an agent as it is now (see `target_probabilities`).
        method: "ips", "snips", "dr" or "weighted".
        agent: predicts for "dr" and "weighted" (a `MeanPredictor` or a `BatchAgent`), and is reset. None: the mean
            reward of each graph predicts.
        graph_set: the graphs of the log; needed with `agent`.
        level: how often intervals shall hold the truth.
        folds: parts of the log from which the agent predicts.
        seed: of the folds, and of the agent.

    Raises:
        TypeError: if the agent does not predict.
        ValueError: if an argument is out of its range, the policy plays what the log never could, or `graph_set` is
            missing or another one than that of the log; or if the method is "weighted" and the rounds offer different
            graphs, since some rounds would then count more.
    """
    if method not in METHODS:
        raise ValueError(f"Expected `method` to be one of {', '.join(METHODS)}. Got {method!r}.")
    if not 0 < level < 1 or folds < 2:
        raise ValueError(f"Expected `level` between 0 and 1, and at least 2 `folds`. Got {level!r} and {folds!r}.")
    target = target_probabilities(policy, log)
    check_support(target, log)
    weights = target[np.arange(log.num_rounds), log.actions] / log.propensities
    steadying = _steadying(log, target) if method == "weighted" else np.ones(log.num_rounds)
    if method == "ips":
        value, error = _mean(weights * log.rewards)
    elif method == "snips":
        value, error = _ratio(weights, log.rewards)
    else:
        predicted = _predict(log, agent, graph_set, folds, seed)
        scores = doubly_robust_scores(log, target, weights, predicted)
        value, error = _mean(scores) if method == "dr" else _ratio(steadying, scores)
    half = float(stats.t.ppf((1 + level) / 2, degrees_of_freedom(steadying * weights))) * error
    return Estimate(
        method=method,
        value=value,
        std_error=error,
        low=value - half,
        high=value + half,
        level=level,
        effective_rounds=_effective(weights),
        largest_weight=float(weights.max()),
        valid_under_adaptivity=method == "weighted",
        is_valid=method == "weighted" or not log.learns,
    )


def doubly_robust_scores(log: Log, target: Floats, weights: Floats, predicted: Floats) -> Floats:
    """Compute g_t = sum_G pi_t(G) m_t(G) + w_t (y_t - m_t(G_t)), `(T,)`.

    Args:
        log: the log.
        target: pi_t, `(T, K)`.
        weights: w_t, `(T,)`.
        predicted: m_t, `(T, K)`, made without the reward of round t.
    """
    of_played = predicted[np.arange(log.num_rounds), log.actions]
    scores: Floats = (target * predicted).sum(1) + weights * (log.rewards - of_played)
    return scores


def degrees_of_freedom(weights: Floats) -> float:
    """Compute how many squares of equal size tell as much of a variance as those of weighted numbers.

        (sum w^2)^2 / sum w^4 - 1, at least 1      [Satterthwaite 1946]

    Args:
        weights: `(T,)`. w, how much each round counts.
    """
    return max(1.0, _effective(np.square(weights)) - 1)


def _effective(weights: Floats) -> float:
    """Return (sum w)^2 / sum w^2, the number of rounds if all weights are equal; 0 if all are 0."""
    largest = weights.max()
    shares = weights / largest if largest > 0 else weights  # whose squares do not underflow
    return float(shares.sum() ** 2 / max(np.square(shares).sum(), 1.0))


def _mean(terms: Floats) -> tuple[float, float]:
    """Return a mean and its standard error."""
    return float(terms.mean()), float(terms.std(ddof=1) / math.sqrt(len(terms))) if len(terms) > 1 else math.inf


def _ratio(weights: Floats, values: Floats) -> tuple[float, float]:
    """Return a weighted mean and its standard error, by the delta method; those of `_mean` if weights are equal."""
    total = weights.sum()
    if not total > 0:
        raise ValueError("Expected a log that plays what the policy plays at least once. Got one that never does.")
    value = (weights * values).sum() / total
    effective = _effective(weights)
    error = np.sqrt(np.square(weights * (values - value)).sum()) / total
    return float(value), float(error * math.sqrt(effective / (effective - 1))) if effective > 1 else math.inf


def _steadying(log: Log, target: Floats) -> Floats:
    """Compute h_t, `(T,)`: the inverse standard deviation of w_t under p_t."""
    if (log.masks != log.masks[0]).any():
        raise ValueError(
            'Expected rounds that offer the same graphs for "weighted", which would else count some rounds more than '
            'others. Use "dr"; its interval is not valid if the agent of the log learned.'
        )
    squares = np.divide(target**2, log.probabilities, out=np.zeros_like(target), where=log.probabilities > 0)
    return np.asarray(squares.sum(1) ** -0.5)


def _predict(log: Log, agent: Agent | None, graph_set: GraphSetLike | None, folds: int, seed: int) -> Floats:
    """Return m_t of each graph in each round, `(T, K)`."""
    count = log.num_rounds
    if log.learns and agent is None:
        return _earlier_means(log)
    fold = np.arange(count) * folds // count
    if not log.learns:
        fold = np.random.default_rng(seed).permutation(fold)
    predicted = np.zeros(log.masks.shape)
    for part in range(folds):
        given = fold < part if log.learns else fold != part
        actions, rewards = log.actions[given], log.rewards[given]
        if agent is None:
            predicted[fold == part] = _means(actions, rewards, log.num_graphs)
        else:
            predicted[fold == part] = _agents_means(agent, log.check_graphs(graph_set), actions, rewards, seed)
    return predicted


def _means(actions: NDArray[np.int64], rewards: Floats, num_graphs: int) -> Floats:
    """Return the mean reward of each graph; of one without rewards, the mean of all."""
    counts, sums = np.bincount(actions, minlength=num_graphs), np.bincount(actions, rewards, num_graphs)
    overall = rewards.mean() if len(rewards) else 0.0
    return np.where(counts > 0, sums / np.maximum(counts, 1), overall)


def _earlier_means(log: Log) -> Floats:
    """Return for each round the mean reward of each graph in earlier rounds; of a new graph, that of all."""
    played = np.zeros(log.masks.shape)
    played[np.arange(log.num_rounds), log.actions] = 1
    counts = played.cumsum(0) - played
    sums = (played * log.rewards[:, None]).cumsum(0) - played * log.rewards[:, None]
    overall = (log.rewards.cumsum() - log.rewards) / np.maximum(np.arange(log.num_rounds), 1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), overall[:, None])


def _agents_means(
    agent: Agent, graph_set: GraphSetLike, actions: NDArray[np.int64], rewards: Floats, seed: int
) -> Floats:
    agent.reset(None, seed, graph_set)
    if len(actions):
        agent.update(None, actions, rewards)
    if isinstance(agent, MeanPredictor):
        return agent.predict_means()
    if isinstance(agent, BatchAgent):
        return agent.predict().mean
    raise TypeError(f"Expected an agent that predicts, such as `gntk-greedy`. Got {type(agent).__name__}.")
