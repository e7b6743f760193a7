"""Write numbers and durations the same way in tables, pages and messages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph_bandit_lab.analysis.scores import Comparison
    from graph_bandit_lab.analysis.statistics import AgentSummary

MISSING = "–"


def format_number(value: float, digits: int = 1) -> str:
    """Write a number, or a dash for `nan`."""
    return MISSING if math.isnan(value) else f"{value:.{digits}f}"


def format_ratio(ratio: float) -> str:
    """Write a ratio, or a dash for `nan`."""
    return format_number(ratio, 3)


def format_share(share: float) -> str:
    """Write a share in percent."""
    return f"{100 * share:.1f} %"


def format_spread(mean: float, deviation: float) -> str:
    """Write a mean and its standard deviation."""
    return f"{mean:.3f} ({deviation:.3f})"


def format_interval(summary: AgentSummary, digits: int = 1) -> str:
    """Write a mean with its 95 % interval; without one, where it is not known."""
    if summary.finished == 0:
        return "none finished"
    if summary.one_trajectory:
        return f"{summary.mean:,.{digits}f} (one trajectory, played {summary.finished} times)"
    if math.isnan(summary.low):
        return f"{summary.mean:,.{digits}f}"
    return f"{summary.mean:,.{digits}f} [{summary.low:,.{digits}f}, {summary.high:,.{digits}f}]"


def format_relative(summary: AgentSummary) -> str:
    """Write a mean relative to the largest, with its paired 95 % interval where that is known."""
    ratio, low, high = map(format_ratio, (summary.relative, summary.relative_low, summary.relative_high))
    return ratio if math.isnan(summary.relative_low) else f"{ratio} [{low}, {high}]"


def format_difference(comparison: Comparison) -> str:
    """Write a difference with its 95 % interval."""
    return f"{comparison.difference:.3f} [{comparison.low:.3f}, {comparison.high:.3f}]"


def format_estimate(value: float, low: float, high: float, digits: int = 1) -> str:
    """Write a number with its 95 % interval, or alone where that is not known; a dash for `nan`."""
    if math.isnan(value) or math.isnan(low):
        return format_number(value, digits)
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def format_count(summary: AgentSummary) -> str:
    """Write how many repetitions finished, and how many diverged or failed."""
    others = {"diverged": summary.diverged, "failed": summary.failed}
    return str(summary.finished) + "".join(f" (+{count} {status})" for status, count in others.items() if count)


def format_duration(seconds: float) -> str:
    """Write a time in seconds, minutes or hours, as its size suggests."""
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
