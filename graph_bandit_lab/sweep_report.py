"""The report of many environments: scores, panels, and a table of every environment, from stored results only."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from graph_bandit_lab.figures import agent_lines
from graph_bandit_lab.panels import MAX_PANELS, name_environments, panels_figure
from graph_bandit_lab.scores import compare_agents, complete_trials, score_agents
from graph_bandit_lab.statistics import count_repetitions, summarize


def sweep_content(results: pd.DataFrame) -> dict[str, Any]:
    """Return what the template of a sweep shows, and its figure.

    Args:
        results: of `load_results`, of more than one environment.

    Raises:
        ValueError: if no trial is finished by every agent yet.
    """
    trials = complete_trials(results)
    scores = score_agents(trials)
    if not scores:
        raise ValueError("Expected at least one instance that every agent has finished. There is none yet.")
    best = scores[0].label
    keys = results["environment"].map(lambda one: json.dumps(one, sort_keys=True))
    environments = [json.loads(key) for key in dict.fromkeys(keys)]
    means = results.assign(key=keys).pivot_table(
        index="key", columns="label", values="total_regret", aggfunc="mean", sort=False, dropna=False
    )
    return {
        "scores": scores,
        "differences": {score.label: _difference(trials, score.label, best) for score in scores},
        "counts": {one.label: count_repetitions(one) for one in summarize(results)},
        "hours": (results.groupby("label")["wall_time"].sum() / 3600).to_dict(),
        "trials": len(trials),
        "all_trials": len(set(zip(keys, results["seed"], strict=True))),
        "names": [
            (name, _row(means.loc[key]))
            for name, key in zip(name_environments(environments), dict.fromkeys(keys), strict=True)
        ],
        "shown": MAX_PANELS,
        "failures": [
            (row.label, row.seed, str(row.error).strip().splitlines()[-1])
            for row in results[results["status"] == "failed"].itertuples()
        ],
        "colors": {label: color for label, (color, _) in agent_lines([s.label for s in scores]).items()},
        "environment": _settings_over_all(environments),
        "figure": panels_figure(results, [score.label for score in scores]),
    }


def _difference(trials: pd.DataFrame, label: str, best: str) -> str:
    if label == best:
        return "–"
    found = compare_agents(trials, label, best)
    return f"{found.difference:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _row(means: pd.Series[float]) -> dict[str, float | None]:
    values = {str(label): None if np.isnan(value) else float(value) for label, value in means.items()}
    present = [value for value in values.values() if value is not None]
    return {**values, "lowest": min(present, default=None)}


def _settings_over_all(environments: list[dict[str, Any]]) -> dict[str, str]:
    """Say of each setting which values it takes."""
    return {
        name: ", ".join(dict.fromkeys(str(environment[name]) for environment in environments))
        for name in environments[0]
    }
