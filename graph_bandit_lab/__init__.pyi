from .design.environment import EnvironmentSettings as EnvironmentSettings
from .design.plan import Grid as Grid
from .design.plan import Sweep as Sweep
from .design.settings import AgentSpec as AgentSpec
from .design.settings import RunSettings as RunSettings
from .design.sweep_file import read_sweep as read_sweep
from .episodes.loop import run_bandit as run_bandit
from .episodes.records import BanditResult as BanditResult
from .execution.driver import describe_work as describe_work
from .execution.driver import plan_run as plan_run
from .execution.driver import run_experiment as run_experiment
from .execution.driver import run_sweep as run_sweep
from .execution.executors import Processes as Processes
from .execution.executors import count_cores as count_cores
from .reports.report import write_report as write_report
from .storage.export import write_csv as write_csv
from .storage.export import write_json_lines as write_json_lines
from .storage.export import write_parquet as write_parquet
from .storage.export import write_tensorboard as write_tensorboard
from .storage.reading import environment_of as environment_of
from .storage.reading import load_results as load_results

__version__: str
