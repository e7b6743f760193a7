from .driver import LOG_NAME as LOG_NAME
from .driver import Tally as Tally
from .driver import plan_run as plan_run
from .driver import run_experiment as run_experiment
from .driver import run_sweep as run_sweep
from .execute import run_in_parallel as run_in_parallel
from .executors import DaskExecutor as DaskExecutor
from .executors import InProcess as InProcess
from .executors import Processes as Processes
from .executors import SchedulerLostError as SchedulerLostError
from .executors import Workers as Workers
from .executors import choose_workers as choose_workers
from .planning import describe_work as describe_work
from .planning import plan_sweep as plan_sweep
from .worker import Outcome as Outcome

__all__ = [
    "LOG_NAME",
    "DaskExecutor",
    "InProcess",
    "Outcome",
    "Processes",
    "SchedulerLostError",
    "Tally",
    "Workers",
    "choose_workers",
    "describe_work",
    "plan_run",
    "plan_sweep",
    "run_experiment",
    "run_in_parallel",
    "run_sweep",
]
