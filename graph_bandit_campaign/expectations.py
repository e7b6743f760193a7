"""What an agent expects of some graphs, in the words of a campaign."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from agents.contract import Agent, BatchAgent
from graph_bandit_campaign.state import CampaignState, Suggestion


def expect(agent: Agent, places: Sequence[int], ids: Sequence[str], state: CampaignState) -> tuple[Suggestion, ...]:
    """Say what an agent expects of some graphs.

        P(beats the best) = Phi(+-(mean - best) / std)

    Nothing but their names, if it does not predict, or before two values differ: nobody knows their unit then.

    Args:
        agent: which was told rewards, the values or (where small ones are wanted) their negatives.
        places: indices of the graphs.
        ids: names of all graphs.
        state: of the campaign.
    """
    values = state.means().values()
    if not isinstance(agent, BatchAgent) or len(set(values)) < 2:
        return tuple(Suggestion(ids[k]) for k in places)
    found, sign = agent.predict(), 1.0 if state.maximize else -1.0
    best = max(sign * value for value in values)
    expected = []
    for k in places:
        reward, std = float(found.mean[k]), float(found.std[k])
        beats = NormalDist().cdf((reward - best) / max(std, 1e-300))
        expected.append(Suggestion(ids[k], sign * reward, std, found.noise_std, beats))
    return tuple(expected)


def check_value(identifier: str, value: float) -> float:
    """Return a value as a float.

    Raises:
        ValueError: if it is no finite number.
    """
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not math.isfinite(value):
        raise ValueError(f"Expected a finite number for `{identifier}`. Got {value!r}.")
    return float(value)
