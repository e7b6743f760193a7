"""Play one repetition on one thread, in any process, and return its outcome."""

from __future__ import annotations

import logging
import time
import traceback
import warnings
from dataclasses import dataclass, field, replace

import numpy as np

import registry
from graph_bandit_lab.design.names import to_json
from graph_bandit_lab.design.own_graphs import to_arguments
from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.episodes.loop import run_bandit
from graph_bandit_lab.episodes.records import BanditResult
from graph_bandit_lab.storage.rows import software_versions

GRAPHS, NODES, ROUNDS = 4, 5, 3  # limits of the small instance

_warm: set[str] = set()  # agents and environments that this process has played, without rates and sizes


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of one repetition."""

    result: BanditResult
    wall_time: float
    """Seconds of the whole repetition: instance, `reset`, rounds and diagnostics, without the warm-up."""
    error: str = ""
    """The traceback if the status is "failed", otherwise empty."""
    versions: dict[str, str] = field(default_factory=software_versions)
    """Software versions of the process that played."""
    remarks: tuple[str, ...] = ()
    """Sentences on graph features that the agent ignores, features that it adds, and the fit of its model."""


def play(repetition: Repetition, diagnose: bool = False) -> Outcome:
    """Play a repetition. An exception becomes part of the outcome, so that one repetition cannot stop the others.

    The result depends only on settings and seed, because one thread plays in any process. The time excludes `warm_up`,
    which runs first.
    """
    from agents.contract import BlindAgentWarning, one_thread  # which import torch

    with warnings.catch_warnings(action="ignore", category=BlindAgentWarning), one_thread():  # the driver warns once
        warm_up(repetition)
        begin = time.perf_counter()
        try:
            env = registry.make_environment(**repetition.to_arguments())
            agent = repetition.make_agent()
            result = run_bandit(env, agent, repetition.seed, diagnose=diagnose, feedback=repetition.feedback)
            env.close()
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - stored with its traceback; a SystemExit would end the worker
            return failed(traceback.format_exc(), time.perf_counter() - begin)
    said = (str(getattr(agent, name, "")) for name in ("blindness", "addition", "remark"))
    return Outcome(result, time.perf_counter() - begin, remarks=tuple(filter(None, said)))


def failed(error: str, wall_time: float = 0.0) -> Outcome:
    """Return the outcome of a repetition that has failed."""
    nothing = np.zeros(0)
    return Outcome(BanditResult(nothing.astype(np.int64), nothing, nothing, "failed"), wall_time, error)


def warm_up(repetition: Repetition) -> None:
    """Play a few rounds on a small instance of the same kind, once per process, and discard them.

    The first rounds of an agent in a process import and compile code, which is not counted. The instance and the agent
    are separate, with their own generators, so that results do not change.
    """
    from agents.contract import one_thread  # which imports torch

    key = repetition.key
    settings = {name: value for name, value in key.agent_settings.items() if not isinstance(value, float)}
    kind = to_json([key.agent, settings, key.environment["graph_model"], key.environment["reward_model"]])
    if kind in _warm:
        return
    _warm.add(kind)
    try:
        with one_thread():
            own = repetition.read_graphs()
            limits = {"num_graphs": GRAPHS, "num_nodes": NODES, "actions_per_round": GRAPHS}
            sizes = {
                name: np.minimum(size, limits[name]).tolist()
                for name, size in key.environment.items()
                if name in limits and size is not None
            }
            few = {**key.environment, **sizes, "horizon": ROUNDS, "replacement": True}
            small = to_arguments(few, own and own.first(GRAPHS))
            env = registry.make_environment(**small)
            agent = repetition.make_agent()
            run_bandit(env, agent, feedback=replace(repetition.feedback, random_rounds=0))
            env.close()
    except KeyboardInterrupt:
        raise
    except BaseException:  # errors of an agent are reported when it plays
        logging.getLogger(__name__).debug("The warm-up of %s raised.", repetition.label, exc_info=True)
