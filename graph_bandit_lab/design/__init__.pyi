from .environment import EnvironmentSettings as EnvironmentSettings
from .keys import RunKey as RunKey
from .names import describe_environment as describe_environment
from .names import name_environments as name_environments
from .plan import Grid as Grid
from .plan import Repetition as Repetition
from .plan import Sweep as Sweep
from .plan import SweepPlan as SweepPlan
from .plan import derive_seeds as derive_seeds
from .settings import AgentSpec as AgentSpec
from .settings import PlaySettings as PlaySettings
from .settings import RunSettings as RunSettings
from .sweep_file import Overrides as Overrides
from .sweep_file import list_presets as list_presets
from .sweep_file import read_sweep as read_sweep

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
    "derive_seeds",
    "describe_environment",
    "list_presets",
    "name_environments",
    "read_sweep",
]
