"""The laboratory: run agents on environments, keep every result, and show the regret."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph_bandit_lab.campaign import Campaign
    from graph_bandit_lab.experiment import run_experiment
    from graph_bandit_lab.loop import BanditResult, run_bandit
    from graph_bandit_lab.report import write_report
    from graph_bandit_lab.results import load_results
    from graph_bandit_lab.settings import EnvironmentSettings, RunSettings

_HOMES = {
    "BanditResult": "loop",
    "Campaign": "campaign",
    "EnvironmentSettings": "settings",
    "RunSettings": "settings",
    "load_results": "results",
    "run_bandit": "loop",
    "run_experiment": "experiment",
    "write_report": "report",
}
__all__ = [
    "BanditResult",
    "Campaign",
    "EnvironmentSettings",
    "RunSettings",
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
