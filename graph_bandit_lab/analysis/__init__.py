"""Analyse results: summaries, scores, comparisons, tuning, the paper's numbers, without torch."""

from graph_bandit_lab.analysis.aggregates import aggregate_agents
from graph_bandit_lab.analysis.scores import compare_folders, compare_with_chance, fields_of, score_agents
from graph_bandit_lab.analysis.statistics import bootstrap_interval, mean_interval, paired_interval, summarize
from graph_bandit_lab.analysis.tuning import TUNED_NAME, table_of_choices, write_tuned

__all__ = [
    "TUNED_NAME",
    "aggregate_agents",
    "bootstrap_interval",
    "compare_folders",
    "compare_with_chance",
    "fields_of",
    "mean_interval",
    "paired_interval",
    "score_agents",
    "summarize",
    "table_of_choices",
    "write_tuned",
]
