"""Draw one agent under a product of settings, like the paper's Figure 3: a panel for each value of one setting."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from graph_bandit_lab.design.keys import LATER_AGENT_DEFAULTS, with_later_defaults
from graph_bandit_lab.design.names import SYMBOLS, varying_settings
from graph_bandit_lab.reports.figures import agent_lines
from graph_bandit_lab.reports.panels import MAX_COLUMNS, draw_panels


def settings_figure(results: pd.DataFrame) -> Figure | None:
    """Draw an agent's cumulative regret by its settings, mean and standard deviation over repetitions.

    Args:
        results: of `load_results`, on one environment.

    Returns:
        A panel for each value of the setting with fewer values, and a line for each value of the other; None unless
        the results are those of one agent under the product of two settings.
    """
    finished = results[results["status"] == "finished"]
    firsts = finished.drop_duplicates("label")
    settings = [with_later_defaults(own, LATER_AGENT_DEFAULTS) for own in firsts["agent_settings"]]
    if finished["agent"].nunique() != 1 or len(settings) < 4:
        return None
    varying = varying_settings(settings)
    values = {key: list(dict.fromkeys(json.dumps(each.get(key)) for each in settings)) for key in varying}
    if len(varying) != 2 or len(settings) != len(values[varying[0]]) * len(values[varying[1]]):
        return None
    panel, line = sorted(varying, key=lambda key: len(values[key]))
    if len(values[panel]) > MAX_COLUMNS:
        return None
    names = [_name(line, json.loads(value)) for value in values[line]]
    curves: dict[tuple[str, str], np.ndarray] = {}
    for label, own in zip(firsts["label"], settings, strict=True):
        regrets = finished.loc[finished["label"] == label, "regret"]
        key = json.dumps(own.get(panel)), _name(line, own.get(line))
        curves[key] = np.stack([regret.cumsum() for regret in regrets])
    drawn = [
        (_name(panel, json.loads(value)), {name: curves[value, name] for name in names}) for value in values[panel]
    ]
    return draw_panels(drawn, agent_lines(names), len(drawn))


def _name(setting: str, value: object) -> str:
    return f"{SYMBOLS.get(setting, setting.replace('_', ' '))} = {value}"
