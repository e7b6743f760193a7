"""Play missing repetitions in this process, in other processes, or on a cluster."""

from graph_bandit_lab.execution.executors import (
    DaskExecutor,
    InProcess,
    Processes,
    SchedulerLostError,
    Workers,
    choose_workers,
    count_cores,
    run_in_parallel,
)

__all__ = [
    "DaskExecutor",
    "InProcess",
    "Processes",
    "SchedulerLostError",
    "Workers",
    "choose_workers",
    "count_cores",
    "run_in_parallel",
]
