"""Draw what came on one half of each pool against what the backtest of the other half promised."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.pools.halves.tables import SCORES, fit_line, pairs_of
from graph_bandit_lab.reports import COLORS, STYLE

GREY = "#7A7A7A"


def draw_halves(starts: pd.DataFrame, path: Path) -> None:
    """Draw a panel for each score, with 95 % intervals over starts, the diagonal and the least-squares line.

    Args:
        starts: the table of `plays.play_halves`.
        path: PNG or SVG file to write.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.2 * len(SCORES), 5.2), layout="constrained")
        for axes, (score, name) in zip(figure.subplots(1, len(SCORES)), SCORES.items(), strict=True):
            pairs = pairs_of(starts, score)
            line = fit_line(pairs)
            x, y = (pairs[half].to_numpy(np.float64) for half in ("promised", "came"))
            bounds = {half: (pairs[f"{half}_low"], pairs[f"{half}_high"]) for half in ("promised", "came")}
            axes.hlines(y, *bounds["promised"], color=COLORS[0], linewidth=1, alpha=0.35)
            axes.vlines(x, *bounds["came"], color=COLORS[0], linewidth=1, alpha=0.35)
            axes.plot(x, y, "o", color=COLORS[0], label="a pool, split in two")
            ends = np.array([min(0.0, x.min()), x.max()])
            axes.plot(ends, ends, color=GREY, linewidth=1, label="as promised")
            label = f"least squares: slope {line.slope:.2f} [{line.low:.2f}, {line.high:.2f}]"
            axes.plot(ends, line.intercept + line.slope * ends, "--", color=COLORS[1], linewidth=2, label=label)
            axes.set(title=name, xlabel="promised by one half: more than random choice")
            axes.set_ylabel("came on the other half")
            axes.legend(loc="upper left")
        figure.savefig(path, dpi=110)
