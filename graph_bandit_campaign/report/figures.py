"""Figures of a campaign: its progress, and the front. No torch."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.state import CampaignState
from graph_bandit_lab.reports import COLORS, STYLE

SHAPE = (7.2, 4.4)  # inches


def progress_figure(state: CampaignState, target: str) -> Figure:
    """Draw every measurement by round, and the best value so far."""
    rounds = np.array([measurement.round for measurement in state.measured])
    values = [measurement.value for measurement in state.measured]
    so_far = [np.nan if (best := state.best(number)) is None else best for number in range(rounds.max() + 1)]
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


def front_figure(state: CampaignState, first: Goal, second: Goal, front: Sequence[str]) -> Figure:
    """Draw the results of two goals against each other, with the numbers of the molecules on the front.

    Args:
        state: state of the campaign.
        first: goal on the horizontal axis.
        second: goal on the vertical axis.
        front: ids on the front, in the order of their numbers.
    """
    x, y = (state.of(goal).means() for goal in (first, second))
    others = [key for key in x if key in y and key not in front]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SHAPE, layout="constrained")
        axes = figure.subplots()
        axes.scatter([x[k] for k in others], [y[k] for k in others], s=22, color=COLORS[5], alpha=0.7, lw=0)
        axes.scatter([x[k] for k in front], [y[k] for k in front], s=40, color=COLORS[0], lw=0, label="on the front")
        for number, key in enumerate(front, start=1):
            axes.annotate(str(number), (x[key], y[key]), xytext=(5, 5), textcoords="offset points", color=COLORS[0])
        axes.set(title="Front", xlabel=_plain(first.text), ylabel=_plain(second.text))
        axes.legend(loc="best")
    return figure


def _plain(text: str) -> str:
    """Escape dollar signs, which matplotlib would read as mathematics."""
    return text.replace("$", r"\$")
