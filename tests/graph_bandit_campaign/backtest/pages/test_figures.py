"""Figures of a backtest show what its summary says."""

import numpy as np
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign.backtest.pages.figures import colors_of, forecasts_figure, progress_figure
from graph_bandit_campaign.backtest.plays import Play, Task, random_order
from graph_bandit_campaign.backtest.summary import Bin, summarize
from graph_bandit_campaign.backtest.table import Table

TABLE = Table(some_molecules(40), np.arange(40.0), maximize=True, start=4, budget=20)


def compare(*players):
    """Players that measure the best first, each from six starts."""
    plays = {}
    for start in range(6):
        first = random_order(40, 0, start)[:4].tolist()
        order = np.array([*first, *(k for k in range(39, -1, -1) if k not in first)])[:20]
        plays |= {Task(player, 4, start): Play(order, np.full(20, np.nan)) for player in players}
    return summarize(TABLE, 0, 6, plays, [Task(player, 4, 0) for player in players], [])


@pytest.mark.parametrize(("panel", "curves"), [(0, "best"), (1, "top_found")])
def test_curves_are_means_over_starts_from_the_last_random_measurement(panel, curves):
    summary = compare("one")
    axes = progress_figure(summary, "y").axes[panel]
    for line, player in zip(axes.lines, (*summary.advisors, *summary.others), strict=True):
        assert (line.get_label(), line.get_color()) == (player.label, colors_of(summary)[player.label])
        assert line.get_xdata().tolist() == list(range(4, 21))
        np.testing.assert_allclose(line.get_ydata(), getattr(player, curves)[:, 3:].mean(axis=0))
    low, high = summary.bootstrap.band(getattr(summary.best, curves)[:, 3:])
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((low.min(), high.max()))


def test_forecasts_are_drawn_against_what_came():
    bins = [Bin(0, 0.02, 50, 0.5, 1), Bin(0.2, 0.4, 10, 3.0, 6)]
    axes = forecasts_figure({"one": bins}, {"one": "#123456"}).axes[0]
    (line,) = (line for line in axes.lines if line.get_label() == "one")
    assert line.get_color() == "#123456"
    np.testing.assert_allclose(line.get_xydata(), [[0.01, 0.02], [0.3, 0.6]])
    assert axes.get_xlim() == axes.get_ylim() == pytest.approx((0, 1.08 * 0.6))
    assert axes.get_legend() is None
    assert forecasts_figure({"one": bins, "two": bins[:1]}, {"one": "red", "two": "blue"}).axes[0].get_legend()
