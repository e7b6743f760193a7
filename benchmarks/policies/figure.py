"""Draw learning curves: python -m benchmarks.policies.figure FILE.csv ... --out FIGURE.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import tyro
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from benchmarks.policies.learners import LEARNERS
from graph_bandit_lab.reports import COLORS, DASHES, STYLE

LEAST = 1e-3  # per cent; rows hold five digits of the relative regret


def draw_curves(tests: pd.DataFrame, path: Path) -> None:
    """Draw regret on unseen graph sets against rounds of learning, with mean and range over seeds.

    What is below 0.001 % of random play is drawn there.

    Args:
        tests: rows of `train.COLUMNS`.
        path: PNG or SVG file to write.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 4.8), layout="constrained")
        axes = figure.subplots()
        online = set(tests["learner"]) - LEARNERS.keys()
        tested = tests.loc[tests["steps"] > 0, "steps"]
        first = max(1, tested.min() // 2) if online else 500  # the left end: no policy there learns before round 2048
        groups = tests.groupby(["learner", "actions_per_round"], sort=False)
        for index, ((learner, offered), rows) in enumerate(groups):
            table = 100 * rows.pivot_table(index="steps", columns="seed", values="relative_regret", aggfunc="last")
            table = table.dropna().clip(lower=LEAST)
            color, steps = COLORS[index % len(COLORS)], np.maximum(table.index.to_numpy(), first)
            label = learner if offered == tests["actions_per_round"].max() else f"{learner}, {offered} of 20 on offer"
            axes.plot(steps, table.mean(axis=1), DASHES[index % len(DASHES)], color=color, label=label, linewidth=2)
            axes.fill_between(steps, table.min(axis=1), table.max(axis=1), color=color, alpha=0.18, linewidth=0)
        axes.axhline(100, color="#7A7A7A", linewidth=1)
        right = axes.get_yaxis_transform()
        axes.text(0.995, 100, "random play", color="#5A5A5A", ha="right", va="bottom", transform=right)
        axes.set(xscale="log", yscale="log", xlabel="rounds of learning", xlim=(first, None))
        axes.set_ylabel("regret on unseen sets, % of random")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        if tests["steps"].max() < 100 * first:  # a single power of ten would be all that the axis tells
            axes.xaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
            axes.xaxis.set_minor_formatter(axes.xaxis.get_major_formatter())
        figure.legend(loc="outside lower center", ncols=4)
        figure.savefig(path, dpi=110)


def main(files: tyro.conf.Positional[tuple[Path, ...]], out: Path) -> None:
    """Draw the trainings of some files into one figure.

    Args:
        files: files written by `python -m benchmarks.policies --out`.
        out: PNG or SVG file to write.
    """
    draw_curves(pd.concat([pd.read_csv(file) for file in files]), out)
    print(out)


if __name__ == "__main__":
    tyro.cli(main, prog="python -m benchmarks.policies.figure")
