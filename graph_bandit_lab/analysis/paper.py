"""The results of Wu & Amini (2024), which reports show next to ours. No torch: reports import this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class PublishedScore:
    """A row of Table 1: 192 Erdős–Rényi environments, T = 1000, ten repetitions."""

    relative: float
    """Relative regret."""
    top_rate: float
    """Share of trials among the two lowest R_T."""


TABLE_1: Mapping[str, PublishedScore] = {
    "gnn-ts": PublishedScore(0.595, 0.984),
    "gnn-pe": PublishedScore(0.690, 0.906),
    "gnn-ucb": PublishedScore(0.762, 0.094),
    "nn-pe": PublishedScore(0.891, 0.016),
    "nn-ts": PublishedScore(0.943, 0.0),
    "nn-ucb": PublishedScore(0.994, 0.0),
}
_ALGORITHM = {  # with `_RULES` for the rule of each agent; the fit may be the paper's or a number of steps
    "network": "paper",
    "node_count": "largest",
    "covariance": "diagonal",
    "gradient": "all",
    "gradients_at": "current",
    "penalty": "constant",
    "penalty_center": "zero",
    "start": "initial",
    "standardize": False,
}
_RULES = {"sampling": "independent", "elimination": "running"}


def agents_of_the_paper(results: pd.DataFrame) -> dict[str, str]:
    """Find the six agents of the paper among results.

    Args:
        results: of `load_results`.

    Returns:
        Their names by label, if each of the six was played by the paper's algorithm under one label only; else an
        empty dict.
    """
    firsts = results.drop_duplicates("label")
    rows = zip(firsts["label"], firsts["agent"], firsts["agent_settings"], strict=True)
    names = {str(label): str(agent) for label, agent, settings in rows if _plays_as_the_paper(str(agent), settings)}
    return names if sorted(names.values()) == sorted(TABLE_1) else {}


def _plays_as_the_paper(agent: str, settings: Mapping[str, object]) -> bool:
    return (
        agent in TABLE_1
        and all(settings.get(name) == value for name, value in _ALGORITHM.items())
        and all(settings.get(name, value) == value for name, value in _RULES.items())
    )
