"""The policy that is judged by a log: its probabilities in each round, and whether the log can tell of it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.contract import PlayForecaster
from graph_bandit_lab.logged.log import ROUNDING, Log

Policy: TypeAlias = ArrayLike | PlayForecaster
"""Probabilities `(K,)` or `(T, K)`, or an agent as it is now, which learns nothing more."""
NEGLIGIBLE = 1e-9  # a probability within the error of quadrature


def target_probabilities(policy: Policy, log: Log, draws: int = 10_000) -> NDArray[np.float64]:
    """Return with which probability a policy would have played each graph in each round of a log.

    Args:
        policy: `(K,)` probabilities, divided by their sum over the graphs on offer in each round; `(T, K)` of them, one
            row a round; or an agent on the graph set of the log, which is asked once for each mask.
        log: the log.
        draws: how many draws an agent makes for probabilities that it estimates.

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
        if isinstance(policy, str):
            raise ValueError(f"Expected probabilities, or an agent as `make_agent` makes one. Got the text {policy!r}.")
        given = np.asarray(policy, np.float64)
        if given.shape not in ((log.num_graphs,), log.masks.shape):
            shapes = f"`({log.num_graphs},)` or `{log.masks.shape}`"
            raise ValueError(f"Expected probabilities of shape {shapes}. Got `{given.shape}`.")
        target = given
        if given.ndim == 1:
            if not (given >= 0).all() or not abs(given.sum() - 1) < ROUNDING:
                raise ValueError(f"Expected probabilities from 0 on that sum to 1. Got {given}.")
            among = np.where(log.masks, given, 0.0)
            sums = among.sum(1, keepdims=True)
            if not (sums > 0).all():
                raise ValueError("Expected each round to offer a graph that the policy plays. Got a round with none.")
            target = among / sums
    if target.shape != log.masks.shape:
        raise ValueError(f"Expected a policy on {log.num_graphs} graphs. Got one on {target.shape[1]}.")
    if not (target >= 0).all() or (np.abs(target.sum(1) - 1) > ROUNDING).any() or target[~log.masks].any():
        raise ValueError("Expected probabilities of each round that sum to 1 over the graphs on offer. Got others.")
    return np.asarray(target, np.float64)


def check_support(target: NDArray[np.float64], log: Log) -> None:
    """Refuse a policy that plays what the log never could: no weight can tell what it would have paid.

    Args:
        target: pi_t, `(T, K)`.
        log: the log.

    Raises:
        ValueError: if it does so in a round.
    """
    rounds, graphs = np.nonzero((target > NEGLIGIBLE) & (log.probabilities == 0))
    if len(rounds):
        t, k = int(rounds[0]), int(graphs[0])
        raise ValueError(
            f"Expected a policy that plays only what the log could have played. In round {t + 1} it plays graph {k} "
            f"with probability {target[t, k]:.3g}, and the log never would; so in {len(set(rounds.tolist()))} of "
            f"{log.num_rounds} rounds. Log with a floor, such as `log_episode(env, agent, floor=0.1)`."
        )
