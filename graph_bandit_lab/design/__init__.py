"""Define experiments: settings, grids, sweep files, and the keys of repetitions."""

from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.names import RunKey, describe_environment, name_environments
from graph_bandit_lab.design.plan import Grid, Repetition, Sweep, SweepPlan
from graph_bandit_lab.design.settings import AgentSpec, PlaySettings, RunSettings
from graph_bandit_lab.design.sweep_file import Overrides, read_sweep

__all__ = [
    "AgentSpec",
    "EnvironmentSettings",
    "Grid",
    "Overrides",
    "PlaySettings",
    "Repetition",
    "RunKey",
    "RunSettings",
    "Sweep",
    "SweepPlan",
    "describe_environment",
    "name_environments",
    "read_sweep",
]
