"""Format numbers and durations consistently in tables, pages and messages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph_bandit_lab.analysis.statistics import AgentSummary

MISSING = "–"


def format_number(value: float, digits: int = 1) -> str:
    """Write a number, or a dash for `nan`."""
    return MISSING if math.isnan(value) else f"{value:.{digits}f}"


def format_share(share: float) -> str:
    """Write a share in percent."""
    return f"{100 * share:.1f} %"


def format_interval(summary: AgentSummary, digits: int = 1) -> str:
    """Write a mean with its 95 % interval."""
    if summary.finished == 0:
        return "none finished"
    if summary.one_trajectory:
        return f"{summary.mean:,.{digits}f} (one trajectory, played {summary.finished} times)"
    return format_estimate(summary.mean, summary.low, summary.high, digits)


def format_relative(summary: AgentSummary) -> str:
    """Write a mean relative to the largest, with its paired 95 % interval if known."""
    known = summary.relative, summary.relative_low, summary.relative_high
    return format_number(summary.relative, 3) if math.isnan(summary.relative_low) else format_estimate(*known, 3)


def format_estimate(value: float, low: float, high: float, digits: int = 1, sign: str = "") -> str:
    """Write a number with its 95 % interval (`[–]` if unknown), or a dash for `nan`.

    With the sign "+", positive numbers also have a sign.
    """
    if math.isnan(value):
        return MISSING
    ends = [] if math.isnan(low) else [low, high]
    estimate, *written = (f"{number:{sign},.{digits}f}" for number in (value, *ends))
    return f"{estimate} [{', '.join(written) or MISSING}]"


def format_count(summary: AgentSummary) -> str:
    """Write the number of repetitions that finished, diverged or failed."""
    others = {"diverged": summary.diverged, "failed": summary.failed}
    return str(summary.finished) + "".join(f" (+{count} {status})" for status, count in others.items() if count)


def format_duration(seconds: float) -> str:
    """Write a time in seconds, minutes or hours, depending on its size."""
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
