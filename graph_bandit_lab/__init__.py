"""The laboratory: run agents on environments, keep every result, and show the regret."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import _graph_bandit_strangers  # noqa: F401 - refuses to run beside another `agents` or `registry`

if TYPE_CHECKING:
    from graph_bandit_lab.design.environment import EnvironmentSettings
    from graph_bandit_lab.design.settings import AgentSpec, RunSettings
    from graph_bandit_lab.episodes.loop import BanditResult, run_bandit
    from graph_bandit_lab.execution.cores import count_cores
    from graph_bandit_lab.execution.experiment import run_experiment
    from graph_bandit_lab.reports.report import write_report
    from graph_bandit_lab.storage.results import load_results

_HOMES = {
    "AgentSpec": "design.settings",
    "BanditResult": "episodes.loop",
    "EnvironmentSettings": "design.environment",
    "RunSettings": "design.settings",
    "count_cores": "execution.cores",
    "load_results": "storage.results",
    "run_bandit": "episodes.loop",
    "run_experiment": "execution.experiment",
    "write_report": "reports.report",
}
__all__ = [
    "AgentSpec",
    "BanditResult",
    "EnvironmentSettings",
    "RunSettings",
    "count_cores",
    "load_results",
    "run_bandit",
    "run_experiment",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Import a name where it is first used: a worker needs neither pandas nor matplotlib, and starts sooner without."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
