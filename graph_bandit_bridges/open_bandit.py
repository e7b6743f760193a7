"""Open Bandit Pipeline: logs to and from its `bandit_feedback`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from graph_bandit_env import GraphSet
from graph_bandit_lab.logged import Log


def to_open_bandit(log: Log, graph_set: GraphSet | None = None) -> dict[str, object]:
    """Convert a log to the `bandit_feedback` of Open Bandit Pipeline, for its estimators.

    That package assumes independent rounds for its intervals. They do not hold for learning agents (`Log.learns`).

    Args:
        log: the log.
        graph_set: the graphs, whose mean node features become `action_context`. If None, one-hot rows.

    Returns:
        T rounds on K graphs, by the keys of that package. `context` `(T, K)` is 1 for each graph offered in the round,
        the only difference between rounds. `action_context` `(K, d)` describes the graphs. `pi_b` `(T, K, 1)` has the
        probabilities of all graphs and `pscore` `(T,)` those of the played ones. `expected_reward` is unknown.

    Raises:
        ValueError: if the graphs are not those of the log.
    """
    graphs = None if graph_set is None else log.check_graphs(graph_set)
    if isinstance(graphs, GraphSet):
        action_context = np.stack([np.asarray(graph.nodes, np.float64).mean(0) for graph in graphs])
    else:
        action_context = np.eye(log.num_graphs)
    return {
        "n_rounds": log.num_rounds,
        "n_actions": log.num_graphs,
        "context": log.masks.astype(np.float64),
        "action_context": action_context,
        "action": log.actions.copy(),
        "position": np.zeros(log.num_rounds, np.int64),
        "reward": log.rewards.copy(),
        "expected_reward": None,
        "pscore": log.propensities,
        "pi_b": log.probabilities[:, :, None].copy(),
    }


def from_open_bandit(feedback: Mapping[str, object], learns: bool, masks: ArrayLike | None = None) -> Log:
    """Convert a `bandit_feedback` of Open Bandit Pipeline to a log. The actions need not be graphs.

    Args:
        feedback: a mapping with `action`, `reward`, `pscore` and `pi_b`.
        learns: True if the policy of the log depended on earlier rewards.
        masks: `(T, K)` bool. The available actions. If None, all.

    Raises:
        ValueError: if a key is missing, a round has several actions, `pscore` differs from `pi_b`, or the rest is not
            a valid log.
    """
    missing = [key for key in ("action", "reward", "pscore", "pi_b") if feedback.get(key) is None]
    if missing:
        raise ValueError(f"Expected `action`, `reward`, `pscore` and `pi_b`. Got no {', '.join(missing)}.")
    probabilities = np.asarray(feedback["pi_b"], np.float64)
    if probabilities.ndim != 3 or probabilities.shape[2] != 1:
        raise ValueError(f"Expected `pi_b` of shape `(T, K, 1)`, one action a round. Got `{probabilities.shape}`.")
    log = Log(
        actions=np.asarray(feedback["action"]),
        rewards=np.asarray(feedback["reward"]),
        probabilities=probabilities[:, :, 0],
        masks=np.ones(probabilities.shape[:2], np.bool_) if masks is None else np.asarray(masks),
        learns=learns,
    )
    if not np.allclose(np.asarray(feedback["pscore"], np.float64), log.propensities, rtol=1e-6, atol=0):
        raise ValueError("Expected `pscore` to be the entries of `pi_b` of the actions played. Got other numbers.")
    return log
