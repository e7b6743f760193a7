"""Figures of a campaign: its progress, and predictions against results. No torch."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from graph_bandit_campaign.state import CampaignState, Measurement, Suggestion
from graph_bandit_lab.reports import COLORS, STYLE

SHAPE = (7.2, 4.4)  # inches


def compared(state: CampaignState) -> list[tuple[Suggestion, Measurement]]:
    """Pair each result of a suggested graph with the last prediction before the result came in."""
    pairs = []
    for result in state.measured:
        earlier = (each for suggested in state.rounds[: result.round] for each in suggested if each.id == result.id)
        predicted = [suggestion for suggestion in earlier if suggestion.result_std]
        pairs += [(predicted[-1], result)] if predicted else []
    return pairs


def progress_figure(state: CampaignState, target: str) -> Figure:
    """Draw every measurement by round, and the best value so far."""
    rounds = np.array([measurement.round for measurement in state.measured])
    values = np.array([measurement.value for measurement in state.measured])
    best = np.maximum if state.maximize else np.minimum
    known = [values[rounds <= number] for number in range(rounds.max() + 1)]
    so_far = [best.reduce(by_then) if len(by_then) else np.nan for by_then in known]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SHAPE, layout="constrained")
        axes = figure.subplots()
        shift = np.random.default_rng(0).uniform(-0.14, 0.14, len(values))
        axes.scatter(rounds + shift, values, s=22, color=COLORS[5], alpha=0.7, lw=0, label="measured")
        axes.plot(range(len(so_far)), so_far, "o-", color=COLORS[0], lw=2, label="best so far")
        axes.set(title="Progress", xlabel="rounds suggested so far", ylabel=_plain(target))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.set_xlim(-0.5, max(len(so_far) - 0.5, 0.5))
        axes.legend(loc="lower right" if state.maximize else "upper right")
    return figure


def calibration_figure(pairs: Sequence[tuple[Suggestion, Measurement]], target: str) -> Figure:
    """Draw results against predictions, with two standard deviations of prediction and noise together."""
    name = _plain(target)
    mean = np.array([suggestion.mean for suggestion, _ in pairs], np.float64)
    spread = np.array([suggestion.result_std for suggestion, _ in pairs], np.float64)
    values = np.array([result.value for _, result in pairs])
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SHAPE, layout="constrained")
        axes = figure.subplots()
        axes.errorbar(mean, values, xerr=2 * spread, fmt="o", color=COLORS[0], ecolor="#B9CFE4", ms=5, lw=1.5)
        low, high = min(mean.min(), values.min()), max(mean.max(), values.max())
        axes.axline((low, low), (high, high) if high > low else (low + 1, low + 1), color="#7A7A7A", ls="--", lw=1.2)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set(title="Predictions and results", xlabel=f"predicted {name} (±2 sd)", ylabel=f"measured {name}")
    return figure


def share_within(pairs: Sequence[tuple[Suggestion, Measurement]], deviations: float) -> float:
    """Return the share of results within a number of standard deviations of their predictions."""
    inside = [
        abs(result.value - (suggestion.mean or 0.0)) <= deviations * (suggestion.result_std or 0.0)
        for suggestion, result in pairs
    ]
    return float(np.mean(inside))


def _plain(text: str) -> str:
    """Escape dollar signs, which matplotlib would read as mathematics."""
    return text.replace("$", r"\$")
