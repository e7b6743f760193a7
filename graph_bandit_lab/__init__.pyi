from .design.environment import EnvironmentSettings as EnvironmentSettings
from .design.plan import Grid as Grid
from .design.plan import Sweep as Sweep
from .design.settings import AgentSpec as AgentSpec
from .design.settings import RunSettings as RunSettings
from .design.sweep_file import read_sweep as read_sweep
from .episodes.loop import run_bandit as run_bandit
from .episodes.records import BanditResult as BanditResult
from .execution.cores import count_cores as count_cores
from .execution.driver import run_experiment as run_experiment
from .execution.driver import run_sweep as run_sweep
from .execution.executors import Processes as Processes
from .reports.report import title_of as title_of
from .reports.report import write_report as write_report
from .reports.tables import further_tables as further_tables
from .reports.tables import print_warnings as print_warnings
from .reports.tables import table_of as table_of
from .reports.tables import table_of_changes as table_of_changes
from .reports.tables import tables_of_rounds as tables_of_rounds
from .storage.instances import environment_of as environment_of
from .storage.reading import load_results as load_results

__version__: str
