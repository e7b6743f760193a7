"""Flag results that may be typing errors. The model uses them nevertheless."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median, quantiles

from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import listed, short

LEAST = 5  # molecules; with fewer, values are not checked
FAR = 6.0  # robust standard deviations (1.48 MAD) from the median
APART = 2.0  # such deviations between the results of a molecule; two results are 1.4 apart (root mean square)
WIDE = 3.0  # ratio of the quartiles above which positive values are compared by their logarithms


def flag_results(state: CampaignState) -> Iterator[str]:
    """Yield sentences about results that are far from all others, or from other results of their molecule."""
    for name in [goal.name for goal in state.goals] or [""]:
        of_goal, values = f" of {name}" * bool(name), dict[str, list[float]]()
        for result in state.measured:
            if result.goal == name and not result.bound:
                values.setdefault(result.id, []).append(result.value)
        differ = f"results{of_goal} that differ as much as those of different molecules"
        for flagged, problem in zip(flag_values(values), (f"far from all other results{of_goal}", differ), strict=True):
            if flagged:
                texts = [f"{key} ({' and '.join(map(short, values[key]))})" for key in flagged]
                yield f"Check {listed(texts)}: {problem}."


def flag_values(values: Mapping[str, Sequence[float]]) -> tuple[list[str], list[str]]:
    """Return the molecules that are far from all others, and those whose results are far from each other.

    A mean is far from the others if it is more than `FAR` deviations from the median, and farther from the others than
    the others are from each other. Positive values over decades are compared by their logarithms.

    Args:
        values: all results of each molecule, by its id.
    """
    if len(values) < LEAST:
        return [], []
    every = [value for given in values.values() for value in given]
    first, _, third = quantiles(every, n=4, method="inclusive")
    scale = math.log if min(every) > 0 and third > WIDE * first else float
    scaled = {name: [scale(value) for value in given] for name, given in values.items()}
    means = {name: fmean(given) for name, given in scaled.items()}
    middle = median(means.values())
    spread = 1.48 * median(abs(mean - middle) for mean in means.values())
    if not spread:  # more than half of them are equal
        return [], []
    far = [name for name, mean in means.items() if abs(mean - middle) > FAR * spread]
    others = [mean for mean in means.values() if abs(mean - middle) <= FAR * spread]
    low, high = min(others), max(others)
    far = [name for name in far if max(means[name] - high, low - means[name]) > high - low]
    return far, [name for name, given in scaled.items() if max(given) - min(given) > APART * spread]
