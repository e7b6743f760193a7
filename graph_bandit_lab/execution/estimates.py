"""Estimate how long repetitions take of which none is stored: play a few rounds of each kind."""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, NoReturn, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

import registry
from graph_bandit_lab.design.keys import SIZES, to_json
from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.episodes.feedback import Feedback
from graph_bandit_lab.episodes.loop import run_bandit
from graph_bandit_lab.execution.execute import run_in_parallel
from graph_bandit_lab.execution.executors import Workers
from graph_bandit_lab.execution.worker import warm_up, with_shared_graphs

if TYPE_CHECKING:
    from agents.contract import Agent

Times: TypeAlias = NDArray[np.float64]
"""Wall time and CPU time in seconds, `(2,)`."""

SECONDS = 90.0  # after which no other kind is tried
BATCHES = 5  # that are played at the beginning, and again halfway
SEED = 0  # of the order of kinds of equal size


@dataclass(frozen=True, eq=False)
class Estimates:
    """Times of repetitions, and what they are estimated from."""

    wall: NDArray[np.float64]
    """Seconds of each repetition; `nan` if no agent could be timed."""
    cpu: NDArray[np.float64]
    """The same in CPU time: how long it would take on cores that do nothing else."""
    tried: int
    kinds: int
    took: float
    """Seconds that it took to try them."""


def estimate_times(
    repetitions: Sequence[Repetition],
    open_workers: Callable[[], Workers],
    progress: bool = True,
    seconds: float = SECONDS,
) -> Estimates:
    """Estimate the time of each repetition by a few rounds of one of its kind.

    Repetitions of a kind have equal sizes, and equal settings but for numbers with a fraction. The largest kinds are
    tried first, since most of the time goes to them. One that is left when the time is up counts as the one nearest in
    size that was tried, in proportion to K N T: of the same agent, or else, as where an agent is broken, of another.

    Args:
        repetitions: whose time is to be estimated.
        open_workers: opens the workers that will play them; all are kept busy here too, as they will be.
        progress: show a bar.
        seconds: after which no other kind is tried.
    """
    begin = time.monotonic()
    shuffled = random.Random(SEED).sample(repetitions, len(repetitions))  # noqa: S311 - no secrets
    kinds = {_kind_of(repetition): repetition for repetition in shuffled}
    largest_first = sorted(kinds.values(), key=_size_of, reverse=True)  # agents of a size are still shuffled
    in_time = takewhile(lambda _: time.monotonic() < begin + seconds, zip(largest_first))
    timed: dict[str, tuple[Repetition, Times]] = {}
    workers = open_workers()
    workers.share(repetitions)
    bar: tqdm[NoReturn] = tqdm(
        total=len(kinds),
        desc=f"Timing a few rounds, for about {seconds:.0f} s at most",
        unit="kind",
        disable=None if progress else True,  # None: hidden unless it goes to a terminal
        file=sys.stderr,
    )
    with bar, closing(run_in_parallel(time_repetition, in_time, workers)) as results:
        for (repetition,), result in results:
            bar.update()
            if not isinstance(result, Exception):  # of a broken agent, which is reported where it plays
                timed[_kind_of(repetition)] = repetition, result
    estimates = {
        kind: timed[kind][1] if kind in timed else _carry_over(timed.values(), repetition)
        for kind, repetition in kinds.items()
    }
    wall, cpu = np.array([estimates[_kind_of(repetition)] for repetition in repetitions]).T
    return Estimates(wall, cpu, len(timed), len(kinds), time.monotonic() - begin)


def time_repetition(repetition: Repetition) -> Times:
    """Estimate the time of a repetition by a few rounds of it; in a worker.

    After the first rounds the agent is told their results again and again, until it knows as many as halfway. All later
    rounds are taken to last as long as the next ones do. It is rough: a cost that grows with t is met, one that grows
    with t^2 is a quarter too low, and what an agent does now and then, or how soon it settles on one graph, is missed.
    """
    from agents.contract import one_thread  # which imports torch

    repetition = with_shared_graphs(repetition)
    warm_up(repetition)
    repetition.read_graphs()  # as a worker has before it plays
    horizon, batch = repetition.key.environment["horizon"], repetition.feedback.batch
    few = batch * min(BATCHES, max(1, horizon // 2 // batch))
    times: list[Times] = [_now()]
    with one_thread():
        env = registry.make_environment(**repetition.to_arguments(horizon=2 * few, replacement=True))
        fewest = np.min(repetition.key.environment["num_graphs"])  # where graphs change, any set has as many
        agent = cast("Agent", _Experienced(repetition.make_agent(), few, horizon // 2 - few, fewest))
        run_bandit(env, agent, feedback=Feedback(batch=batch), on_round=lambda record: times.append(_now()))
        env.close()
    halfway = times[min(few, len(times) - 1)]  # where the agent diverges before, it will again
    later = (times[-1] - halfway) / max(1, len(times) - 1 - few)
    seconds: Times = halfway - times[0] + max(0, horizon - few) * later
    return seconds


class _Experienced:
    """An agent that is told the results of its first rounds again and again.

    Args:
        agent: plays.
        first: number of the first rounds.
        more: number of results that it is told after them.
        fewest: number of graphs among which all results are told.
    """

    def __init__(self, agent: Agent, first: int, more: int, fewest: int) -> None:
        self._agent, self._first, self._more, self._fewest = agent, first, more, fewest
        self._actions: list[int] = []
        self._rewards: list[float] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._agent, name)

    def update(self, observation: object, action: ArrayLike, reward: ArrayLike) -> None:
        self._agent.update(observation, action, reward)
        self._actions += np.atleast_1d(action).tolist()
        self._rewards += np.atleast_1d(reward).tolist()
        if len(self._actions) == self._first and self._more > 0:
            actions = np.resize(self._actions, self._more) % self._fewest
            self._agent.update(observation, actions, np.resize(self._rewards, self._more))


def _now() -> Times:
    """Return wall time, and CPU time of this thread."""
    return np.array([time.perf_counter(), time.thread_time()])


def _kind_of(repetition: Repetition) -> str:
    key = repetition.key
    return to_json([key.agent_kind, key.environment_kind, *(key.environment[name] for name in SIZES)])


def _carry_over(timed: Collection[tuple[Repetition, Times]], repetition: Repetition) -> Times:
    """Return the times of the nearest repetition that was timed, in proportion to the sizes; `nan` if there is none."""
    key, size = repetition.key, _size_of(repetition)

    def distance(pair: tuple[Repetition, Times]) -> tuple[bool, bool, float]:
        other, ratio = pair[0].key, _size_of(pair[0]) / size
        return other.agent_kind != key.agent_kind, other.environment_kind != key.environment_kind, abs(math.log(ratio))

    nearest, seconds = min(timed, key=distance, default=(repetition, np.full(2, np.nan)))
    return seconds * size / _size_of(nearest)


def _size_of(repetition: Repetition) -> float:
    """Return K N T, of typical sizes where they vary."""
    return float(np.prod([np.mean(repetition.key.environment[name]) for name in SIZES]))
