"""Write what agents have found after the last round, for the tables of reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from graph_bandit_lab.analysis.scores import fields_of, mean_regrets, score_agents
from graph_bandit_lab.analysis.statistics import summarize
from graph_bandit_lab.formats import MISSING, format_interval, format_ratio, format_share

SIMPLE_REGRET, TOP_SHARE = "final_simple_regret", "final_top_share"
NAMES = {"total_regret": "R_T", SIMPLE_REGRET: "simple regret"}
DIGITS = {"total_regret": 1, SIMPLE_REGRET: 3}


def findings_of_run(results: pd.DataFrame) -> Mapping[str, tuple[str, str]]:
    """Return mean simple regret with its 95 % interval, and mean share of the top 1 %, by label.

    Args:
        results: of `load_results`, on one environment.

    Returns:
        Texts for each agent; an empty dict if nothing was recorded.
    """
    if results[SIMPLE_REGRET].isna().all():
        return {}
    shares = {summary.label: summary.mean for summary in summarize(results, TOP_SHARE, "share")}
    return {
        summary.label: (
            format_interval(replace(summary, one_trajectory=False), DIGITS[SIMPLE_REGRET]),
            format_share(shares[summary.label]),
        )
        if summary.finished
        else (MISSING, MISSING)
        for summary in summarize(results, SIMPLE_REGRET)
    }


def findings_of_sweep(results: pd.DataFrame) -> list[Mapping[str, tuple[str, str]]]:
    """Return relative simple regret, and mean share of the top 1 % over environments, by label.

    Args:
        results: of `load_results`.

    Returns:
        Texts for the agents of each of the `fields_of` results, over the trials in which all of them recorded
        something; an empty dict for a field without such trials.
    """
    texts: list[Mapping[str, tuple[str, str]]] = []
    for field, top_share in zip(fields_of(results, SIMPLE_REGRET), fields_of(results, TOP_SHARE), strict=True):
        shares = mean_regrets([top_share]).mean()
        scores = score_agents(field.trials, field.reference)
        texts.append(
            {score.label: (format_ratio(score.relative), format_share(shares[score.label])) for score in scores}
        )
    return texts
