"""Play one repetition on one thread, in whatever process, and return its outcome."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import registry
from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.episodes.loop import run_bandit
from graph_bandit_lab.episodes.records import BanditResult, RoundRecord
from graph_bandit_lab.execution.warm_up import warm_up
from graph_bandit_lab.storage.rows import software_versions


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of one repetition."""

    result: BanditResult
    wall_time: float
    """Seconds of the whole repetition: its instance, `reset`, rounds and diagnostics; not the warm-up before it."""
    error: str = ""
    """The traceback if the status is "failed", else empty."""
    versions: dict[str, str] = field(default_factory=software_versions)
    """Software versions of the process that played."""
    blindness: str = ""
    """What the graphs differ in and the agent does not read, in sentences."""


def play(
    repetition: Repetition, diagnose: bool = False, on_round: Callable[[RoundRecord], object] = lambda record: None
) -> Outcome:
    """Play a repetition. An exception becomes part of the outcome, so that one repetition cannot stop the others.

    The result depends on settings and seed alone: one thread plays, in whatever process. The time is that of the play
    alone: `warm_up` comes first.
    """
    from agents.contract import BlindAgentWarning, one_thread  # which import torch

    repetition = with_shared_graphs(repetition)
    with warnings.catch_warnings(action="ignore", category=BlindAgentWarning), one_thread():  # the driver says it once
        warm_up(repetition)
        begin = time.perf_counter()
        try:
            env = registry.make_environment(**repetition.to_arguments())
            agent = repetition.make_agent()
            result = run_bandit(
                env, agent, repetition.seed, on_round=on_round, diagnose=diagnose, feedback=repetition.feedback
            )
            env.close()
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - stored with its traceback; a SystemExit would end the worker
            return failed(traceback.format_exc(), time.perf_counter() - begin)
    blindness = str(getattr(agent, "blindness", ""))
    return Outcome(result, time.perf_counter() - begin, blindness=blindness)


def with_shared_graphs(repetition: Repetition) -> Repetition:
    """Return the repetition, reading its graphs from the file that the driver has sent to this worker of a cluster."""
    if repetition.pool is None or "distributed" not in sys.modules:
        return repetition
    from distributed import get_worker

    try:
        copy = Path(get_worker().local_directory, repetition.shared_name)
    except ValueError:  # this process is not a worker of a cluster
        return repetition
    return replace(repetition, pool=replace(repetition.pool, source=str(copy))) if copy.is_file() else repetition


def failed(error: str, wall_time: float = 0.0) -> Outcome:
    """Return the outcome of a repetition that has failed."""
    nothing = np.zeros(0)
    return Outcome(BanditResult(nothing.astype(np.int64), nothing, nothing, "failed"), wall_time, error)


def prepare_process() -> None:
    """Ignore Ctrl-C, which the driver handles, and exit when the driver does, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_the_driver, daemon=True).start()


def _leave_with_the_driver() -> None:
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()  # returns at once if it is gone already
        os._exit(1)
