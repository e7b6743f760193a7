"""The laboratory: run agents on environments, keep every result, and show the regret."""

from graph_bandit_lab.experiment import run_experiment
from graph_bandit_lab.loop import BanditResult, run_bandit
from graph_bandit_lab.report import write_report
from graph_bandit_lab.results import load_results
from graph_bandit_lab.settings import EnvironmentSettings, RunSettings

__all__ = [
    "BanditResult",
    "EnvironmentSettings",
    "RunSettings",
    "load_results",
    "run_bandit",
    "run_experiment",
    "write_report",
]
