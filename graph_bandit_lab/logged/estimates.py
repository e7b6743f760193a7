"""Estimate the mean reward of another policy from a log, with intervals that state when they hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from agents.contract import Agent, BatchAgent, GraphSetLike, MeanPredictor, PlayForecaster
from graph_bandit_lab.logged.log import ROUNDING, Log

Floats = NDArray[np.float64]
Method: TypeAlias = Literal["ips", "snips", "dr", "weighted"]
METHODS: tuple[Method, ...] = get_args(Method)
Policy: TypeAlias = ArrayLike | PlayForecaster
"""Probabilities `(K,)` or `(T, K)`, or an agent in its current state, which does not learn further."""
NEGLIGIBLE = 1e-9  # a probability within the error of quadrature


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Estimate of the mean reward of a policy per round, averaged over the rounds of a log."""

    method: Method
    """Method of estimation (see `evaluate`)."""
    value: float
    """V, in reward units."""
    std_error: float
    """Standard error of V."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""
    effective_rounds: float
    """(sum w)^2 / sum w^2 of the weights w = pi / p: the number of equally informative rounds of the policy itself."""
    largest_weight: float
    """The largest w."""
    is_valid: bool
    """True if the interval holds for this log. With "weighted", it also holds if the agent of the log learned."""

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

    Intervals are Student's, with degrees of freedom from the effective number of weights. The first three hold if the
    policy of the log was fixed. The last is designed for logs of agents that learn: h_t equalises the variance of the
    rounds, so that a martingale central limit theorem holds.

    The predictions m_t never use the reward of their round. With a fixed policy, they come from the other folds
    [cross-fitting: Chernozhukov et al. 2018]. With an agent that learns, they come from earlier rounds only.

    Args:
        log: the log.
        policy: the policy to evaluate: probabilities, or an agent in its current state (see `target_probabilities`).
        method: "ips", "snips", "dr" or "weighted".
        agent: predictor for "dr" and "weighted" (a `MeanPredictor` or a `BatchAgent`), which is reset. None predicts
            the mean reward of each graph.
        graph_set: the graphs of the log, required with `agent`.
        level: coverage of the interval.
        folds: parts of the log from which the agent predicts.
        seed: seed of the folds and of the agent.

    Raises:
        TypeError: if the agent does not predict.
        ValueError: if an argument is out of range, the policy plays actions that the log never could, `graph_set` is
            missing or differs from that of the log, or the method is "weighted" and the rounds offer different graphs,
            since some rounds would then count more.
    """
    if method not in METHODS:
        raise ValueError(f"Expected `method` to be one of {', '.join(METHODS)}. Got {method!r}.")
    if not 0 < level < 1 or folds < 2:
        raise ValueError(f"Expected `level` between 0 and 1, and at least 2 `folds`. Got {level!r} and {folds!r}.")
    target = target_probabilities(policy, log)
    rounds, graphs = np.nonzero((target > NEGLIGIBLE) & (log.probabilities == 0))
    if len(rounds):
        raise ValueError(
            f"Expected a policy whose actions the log could have played. In round {rounds[0] + 1} it plays graph "
            f"{graphs[0]}, which the log never plays. Log with a floor, such as `log_episode(..., floor=0.1)`."
        )
    weights = target[np.arange(log.num_rounds), log.actions] / log.propensities
    steadying = np.ones(log.num_rounds)
    if method == "weighted":  # h_t, the inverse standard deviation of w_t under p_t
        if (log.masks != log.masks[0]).any():
            raise ValueError(
                'Expected rounds that offer the same graphs for "weighted", which otherwise weights rounds unequally. '
                'Use "dr". Its interval is not valid if the agent of the log learned.'
            )
        squares = np.divide(target**2, log.probabilities, out=np.zeros_like(target), where=log.probabilities > 0)
        steadying = squares.sum(1) ** -0.5
    by, values = steadying, weights * log.rewards
    if method == "snips":
        by, values = weights, log.rewards
    elif method != "ips":
        predicted = _predict(log, agent, graph_set, folds, seed)
        of_played = predicted[np.arange(log.num_rounds), log.actions]
        values = (target * predicted).sum(1) + weights * (log.rewards - of_played)
    if not by.sum() > 0:
        raise ValueError("Expected a log that contains some actions of the policy. Got one that contains none.")
    value, effective = float((by * values).sum() / by.sum()), _effective(by)
    error = float(np.sqrt(np.square(by * (values - value)).sum()) / by.sum())  # by the delta method
    error *= math.sqrt(effective / (effective - 1)) if effective > 1 else math.inf
    freedom = max(1.0, _effective(np.square(steadying * weights)) - 1)  # [Satterthwaite 1946]
    half = float(stats.t.ppf((1 + level) / 2, freedom)) * error
    return Estimate(
        method=method,
        value=value,
        std_error=error,
        low=value - half,
        high=value + half,
        effective_rounds=_effective(weights),
        largest_weight=float(weights.max()),
        is_valid=method == "weighted" or not log.learns,
    )


def target_probabilities(policy: Policy, log: Log, draws: int = 10_000) -> Floats:
    """Return the probability of each graph in each round of a log under a policy.

    Args:
        policy: `(K,)` probabilities, normalised over the graphs on offer in each round, `(T, K)` probabilities with one
            row per round, or an agent on the graph set of the log, which is queried once per mask.
        log: the log.
        draws: number of draws for probabilities that an agent estimates.

    Returns:
        pi_t, `(T, K)` float64.

    Raises:
        ValueError: if they do not sum to 1 over the graphs on offer, or one is negative.
    """
    if isinstance(policy, PlayForecaster):
        masks, which = np.unique(log.masks, axis=0, return_inverse=True)
        rows = [policy.action_probabilities(None, mask.astype(np.int8), draws).values for mask in masks]
        target = np.array(rows)[which.reshape(-1)]
    else:
        target = np.asarray(policy, np.float64)
        if target.shape == (log.num_graphs,):
            among = np.where(log.masks, target, 0.0)
            sums = among.sum(1, keepdims=True)
            is_policy = (target >= 0).all() and abs(target.sum() - 1) < ROUNDING and (sums > 0).all()
            target = among / sums if is_policy else among
    if target.shape != log.masks.shape:
        raise ValueError(f"Expected probabilities of shape `{log.masks.shape}`. Got `{target.shape}`.")
    if not (target >= 0).all() or (np.abs(target.sum(1) - 1) > ROUNDING).any() or target[~log.masks].any():
        raise ValueError("Expected probabilities of each round that sum to 1 over the graphs on offer. Got others.")
    return target


def _effective(weights: Floats) -> float:
    """Return (sum w)^2 / sum w^2, the number of rounds if all weights are equal, or 0 if all are 0."""
    largest = weights.max()
    shares = weights / largest if largest > 0 else weights  # whose squares do not underflow
    return float(shares.sum() ** 2 / max(np.square(shares).sum(), 1.0))


def _predict(log: Log, agent: Agent | None, graph_set: GraphSetLike | None, folds: int, seed: int) -> Floats:
    """Return m_t of each graph in each round, `(T, K)`."""
    count = log.num_rounds
    folds = count if log.learns and agent is None else folds
    fold = np.arange(count) * folds // count
    if not log.learns:
        fold = np.random.default_rng(seed).permutation(fold)
    predicted = np.zeros(log.masks.shape)
    for part in range(folds):
        given = fold < part if log.learns else fold != part
        actions, rewards = log.actions[given], log.rewards[given]
        if agent is None:  # the mean reward of each graph; of one without rewards, the mean of all
            counts, sums = np.bincount(actions, minlength=log.num_graphs), np.bincount(actions, rewards, log.num_graphs)
            overall = rewards.mean() if len(rewards) else 0.0
            predicted[fold == part] = np.where(counts > 0, sums / np.maximum(counts, 1), overall)
            continue
        agent.reset(None, seed, log.check_graphs(graph_set))
        if len(actions):
            agent.update(None, actions, rewards)
        if isinstance(agent, MeanPredictor):
            predicted[fold == part] = agent.predict_means()
        elif isinstance(agent, BatchAgent):
            predicted[fold == part] = agent.predict().mean
        else:
            raise TypeError(f"Expected an agent that predicts, such as `gntk-greedy`. Got {type(agent).__name__}.")
    return predicted
