"""Figures of a backtest show what its summary says."""

import numpy as np
import pytest

from graph_bandit_campaign.backtest.pages.figures import forecasts_figure
from graph_bandit_campaign.backtest.summary import Bin


def test_forecasts_are_drawn_against_what_came():
    bins = [Bin(0, 0.02, 50, 0.5, 1), Bin(0.2, 0.4, 10, 3.0, 6)]
    axes = forecasts_figure({"one": bins}, {"one": ("#123456", "-")}).axes[0]
    (line,) = (line for line in axes.lines if line.get_label() == "one")
    assert line.get_color() == "#123456"
    np.testing.assert_allclose(line.get_xydata(), [[0.01, 0.02], [0.3, 0.6]])
    assert axes.get_xlim() == axes.get_ylim() == pytest.approx((0, 1.08 * 0.6))
