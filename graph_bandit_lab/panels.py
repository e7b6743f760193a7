"""One panel an environment: the figures of sweeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from graph_bandit_lab.figures import LEGEND_ROW, LEGEND_WIDTH, MAX_POINTS, STYLE, agent_lines

COLUMNS = 3
MAX_PANELS = 24
SYMBOLS = {
    "num_nodes": "N",
    "num_graphs": "K",
    "edge_prob": "p",
    "feature_dim": "d",
    "noise_std": "noise",
    "horizon": "T",
}


def name_environments(environments: Sequence[dict[str, Any]]) -> list[str]:
    """Say of each environment what sets it apart from the others; of one alone, nothing."""
    varying = [key for key in environments[0] if len({json.dumps(one[key]) for one in environments}) > 1]
    # Edge probabilities mean something to ER graphs only.
    return [
        ", ".join(
            f"{SYMBOLS[key]} = {one[key]}" if key in SYMBOLS else str(one[key])
            for key in varying
            if key != "edge_prob" or one["graph_model"] == "er"
        )
        for one in environments
    ]


def panels_figure(results: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Draw cumulative regret on each environment, mean and standard deviation over repetitions as the paper does.

    Args:
        results: of `load_results`; what is not finished is left out.
        order: labels of the agents, best first.

    Returns:
        A panel for each of the first 24 environments.
    """
    lines = agent_lines(order)
    keys = results["environment"].map(lambda one: json.dumps(one, sort_keys=True))
    kept = list(dict.fromkeys(keys))
    names = name_environments([json.loads(key) for key in kept])
    shown = kept[:MAX_PANELS]
    columns = min(COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    with mpl.rc_context(STYLE):
        legend = max(1, min(3, LEGEND_WIDTH // (max(map(len, order)) + 8)))  # columns
        height = 3.1 * rows + 0.5 + LEGEND_ROW * (-(-len(order) // legend) + 1)
        figure = Figure(figsize=(4.2 * columns, height), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes, key, name in zip(panels.flat, shown, names, strict=False):
            for label in order:
                chosen = results[(keys == key) & (results["label"] == label) & (results["status"] == "finished")]
                if chosen.empty:
                    continue
                curves = np.stack([regret.cumsum() for regret in chosen["regret"]])
                points = np.unique(np.linspace(0, curves.shape[1] - 1, min(curves.shape[1], MAX_POINTS)).astype(int))
                mean, deviation = curves[:, points].mean(axis=0), curves[:, points].std(axis=0)
                color, dash = lines[label]
                axes.plot(points + 1, mean, dash, color=color, linewidth=1.8, label=label)
                low = np.clip(mean - deviation, 0, None)
                axes.fill_between(points + 1, low, mean + deviation, color=color, alpha=0.12, linewidth=0)
            axes.set_title(name, fontsize=9 if len(name) > 36 else 11)
            axes.set_ylim(bottom=0)
            axes.margins(x=0)
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            axes.tick_params(labelsize=10)
        for axes in panels.flat[len(shown) :]:
            axes.axis("off")
        for axes in panels.flat[max(0, len(shown) - columns) : len(shown)]:
            axes.set_xlabel("round $t$", fontsize=12)
        figure.supylabel("cumulative regret $R_t$ (reward units)", fontsize=12)
        found = [
            panels.flat[0].plot([], [], lines[label][1], color=lines[label][0], linewidth=2.2)[0] for label in order
        ]
        figure.legend(found, order, loc="outside lower center", ncols=legend)
    return figure
