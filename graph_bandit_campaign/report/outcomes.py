"""Compare the results of suggested graphs with what was predicted of them. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph_bandit_campaign.state import CUT, CampaignState


@dataclass(frozen=True)
class Outcome:
    """A result of a graph that was suggested with a prediction."""

    mean: float
    """Predicted value, as last suggested before the result came in."""
    interval: tuple[float, float]
    """Bounds of the 90 % interval of the result."""
    probability: float | None
    """Predicted probability that its result beats the best value measured by then; None: it was not predicted."""
    value: float
    """The result."""
    beats: bool
    """Whether the result is better than that best value."""


def find_outcomes(state: CampaignState) -> list[Outcome]:
    """Pair each result of a suggested graph with the last prediction before the result came in.

    Results of which only a bound is known are left out: nobody knows whether they lie in their intervals. A result of a
    class has none, and beats what was there if it is a hit.

    Args:
        state: state of the campaign.
    """

    def graph(identifier: str) -> str:
        return state.structures.get(identifier, identifier)  # a molecule may have another id by now

    best_by_then = [state.best(number) for number in range(len(state.rounds))]
    outcomes = []
    for result in (result for result in state.counted() if not result.bound):
        last = None
        for suggested, best in zip(state.rounds[: result.round], best_by_then, strict=False):
            for suggestion in suggested:
                mean, interval = suggestion.mean, suggestion.interval
                if state.is_class and mean is not None:
                    interval, best = (mean, mean), CUT
                if graph(suggestion.id) == graph(result.id) and mean is not None and interval is not None:
                    beats = best is not None and (result.value > best if state.maximize else result.value < best)
                    last = Outcome(mean, interval, suggestion.probability, result.value, beats)
        outcomes += [last] if last else []
    return outcomes


def sum_up(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Count the outcomes of a campaign, at least one.

    Returns:
        How many there are; the share inside their 90 % intervals; how many were expected to beat the best value, which
        is the sum of the probabilities; and how many of those with a probability did.
    """
    inside = [outcome.interval[0] <= outcome.value <= outcome.interval[1] for outcome in outcomes]
    return {
        "count": len(outcomes),
        "inside": sum(inside) / len(inside),
        "expected": sum(outcome.probability or 0.0 for outcome in outcomes),
        "beaten": sum(outcome.beats for outcome in outcomes if outcome.probability is not None),
    }
