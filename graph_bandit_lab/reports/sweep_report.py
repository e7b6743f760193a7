"""The report of many environments: scores, panels, and a table of every environment, from stored results only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from graph_bandit_lab.analysis.paper import TABLE_1
from graph_bandit_lab.analysis.scores import (
    Field,
    Score,
    compare_agents,
    exceptions_to,
    fields_of,
    mean_regrets,
    score_agents,
)
from graph_bandit_lab.analysis.statistics import count_repetitions, summarize
from graph_bandit_lab.design.keys import with_later_defaults
from graph_bandit_lab.reports.figures import agent_lines
from graph_bandit_lab.reports.panels import MAX_PANELS, name_environments, panels_figure

MAX_FAILURES = 20  # that are listed; the log has all
MAX_AGENTS = 12  # that are drawn, and have a column in the table of environments
MAX_EXCEPTIONS = 24  # environments that are named


def sweep_content(results: pd.DataFrame) -> dict[str, Any]:
    """Return what the template of a sweep shows, and its figure.

    Args:
        results: of `load_results`, of more than one environment.
    """
    keys = results["environment"].map(lambda one: json.dumps(one, sort_keys=True))
    environments = [json.loads(key) for key in dict.fromkeys(keys)]
    names = dict(zip(dict.fromkeys(keys), name_environments(environments), strict=True))
    all_fields = fields_of(results)
    fields = [_field_content(field, names) for field in all_fields]
    ranked = [score.label for field in fields for score in field["scores"]]
    order = list(dict.fromkeys([*ranked, *results["label"]]))
    shown = order[:MAX_AGENTS]
    means = mean_regrets(all_fields).reindex(index=list(names), columns=order)
    failed = results.assign(key=keys)[results["status"] == "failed"]
    return {
        "fields": fields,
        "counts": {one.label: count_repetitions(one) for one in summarize(results)},
        "times": results.groupby("label")["wall_time"].sum().map(format_duration).to_dict(),
        "agents_shown": shown,
        "all_agents": len(order),
        "names": [(name, _row(means.loc[key, shown])) for key, name in names.items()],
        "panels": MAX_PANELS,
        "failures": [
            (row["label"], names[row["key"]], row["seed"], str(row["error"]).strip().splitlines()[-1])
            for row in failed.head(MAX_FAILURES).to_dict("records")
        ],
        "all_failures": len(failed),
        "colors": {label: color for label, (color, _) in agent_lines(order).items()},
        "environment": _settings_over_all(environments),
        "regret": panels_figure(results[results["label"].isin(shown)], shown),
    }


def format_duration(seconds: float) -> str:
    """Write a time in the unit in which it is easily read."""
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _field_content(field: Field, names: Mapping[str, str]) -> dict[str, Any]:
    scores = score_agents(field.trials, field.reference)
    return {
        "scores": scores,
        "published": {label: TABLE_1[agent] for label, agent in field.paper.items()},
        "differences": differences_to_the_best(field, scores),
        "exceptions": _exceptions(field, scores, names),
        "trials": len(field.trials),
        "planned": field.planned,
        "absent": field.absent,
    }


def differences_to_the_best(field: Field, scores: Sequence[Score]) -> dict[str, str]:
    """Write relative regret less that of the best (of the paper's six, where they are there), with its interval."""
    best = next((score.label for score in scores if score.label in field.reference), "")
    found = {one.label: compare_agents(field.trials, one.label, best, field.reference) for one in scores}
    return {
        label: "–" if label == best else f"{one.difference:.3f} [{one.low:.3f}, {one.high:.3f}]"
        for label, one in found.items()
    }


def _exceptions(field: Field, scores: list[Score], names: Mapping[str, str]) -> str:
    """Say on which environments another agent is lower than the best of those that are ranked."""
    best = next((score.label for score in scores if score.label in field.reference), None)
    if best is None or len(names) < 2:
        return ""
    found = exceptions_to(field.trials, best, field.reference)
    count = field.trials.index.get_level_values("environment").nunique()
    among = "the paper's six" if field.paper else "these agents"
    text = f"{best} has the lowest mean of {among} on {count - len(found)} of {count} environments"
    named = [f"{names[key]}: {label}" for key, label in list(found.items())[:MAX_EXCEPTIONS]]
    more = f"; and {len(found) - len(named)} more" if len(found) > len(named) else ""
    return f"{text}. Lowest elsewhere: {'; '.join(named)}{more}." if found else f"{text}."


def _row(means: pd.Series[float]) -> dict[str, Any]:
    values = {str(label): None if np.isnan(value) else float(value) for label, value in means.items()}
    return {"means": values, "lowest": min((value for value in values.values() if value is not None), default=None)}


def _settings_over_all(environments: list[dict[str, Any]]) -> dict[str, str]:
    """Say of each setting which values it takes."""
    environments = [with_later_defaults(environment) for environment in environments]
    return {
        name: ", ".join(dict.fromkeys(str(environment[name]) for environment in environments))
        for name in environments[0]
    }
