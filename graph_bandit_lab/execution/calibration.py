"""Time a few warm rounds of each kind of agent at a few sizes, to estimate a sweep that was never timed."""

from __future__ import annotations

import itertools
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import registry
from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.episodes.feedback import choose
from graph_bandit_lab.execution.costs import Costs, Part, Timing, parts_of, typical_size
from graph_bandit_lab.execution.executors import InProcess, Workers
from graph_bandit_lab.execution.warm_up import warm_up
from graph_bandit_lab.execution.worker import with_shared_graphs

if TYPE_CHECKING:
    from agents.contract import Agent

SECONDS = 90.0  # of a calibration, about; fewer where there is little to time
SECONDS_EACH = 5.0  # of an agent on an instance, at most
VALUES = 3  # of K, and of N, at which a kind is timed: the smallest, the middle and the largest
ROUNDS = 200  # at most, that an agent plays on an instance; batches, where it chooses these
LEAST_ROUNDS = 3
OWN = 0.6  # share of an agent's time for its first rounds; the rest is for rounds after longer histories
GROWTH = 4  # each history is this many times as long as the one before
LATER_ROUNDS = 2  # after each of them; or batches
KNOWN = 3  # instances of a kind from which the time of a larger one is estimated
PATIENCE = 2.0  # an instance may take this many times its share
SEED = 2**31 - 1  # of instances and agents


@dataclass(frozen=True)
class Probe:
    """Agents to time on one instance."""

    repetitions: tuple[Repetition, ...]
    """One for each kind of agent, all on the same environment."""

    @property
    def size(self) -> float:
        """Return K N."""
        environment = self.repetitions[0].key.environment
        return typical_size(environment["num_graphs"]) * typical_size(environment["num_nodes"])


def calibrate(
    repetitions: Sequence[Repetition],
    open_workers: Callable[[], Workers] = InProcess,
    seconds: float | None = None,
    progress: bool = True,
) -> Costs:
    """Time warm rounds of each kind of agent at a few sizes of its environments, and fit their growth.

    Small instances come first, and what they leave of the time goes to the larger ones. An instance that would take
    too long, by what is known by then, is left to the fit.

    Args:
        repetitions: whose time is to be estimated.
        open_workers: opens the workers that will play them; all are kept busy here too, as they will be.
        seconds: about how long it may take; None: 90 seconds, or 5 for each agent on each instance where that is less.
        progress: show a bar.

    Returns:
        Estimates of the time of any repetition of these kinds, in seconds.
    """
    waiting, flying = deque(choose_probes(repetitions)), dict[Future[list[Timing]], Probe]()
    timings: list[Timing] = []
    if seconds is None:
        seconds = min(SECONDS, SECONDS_EACH * sum(len(probe.repetitions) for probe in waiting))
    begin = time.monotonic()
    hidden = None if progress else True  # None: hidden unless it goes to a terminal
    bar: tqdm[NoReturn] = tqdm(
        total=len(waiting),
        desc=f"Timing a few rounds, about {seconds:.0f} s",
        unit="instance",
        disable=hidden,
        file=sys.stderr,
    )
    workers = open_workers()
    workers.share(repetitions)
    try:
        while waiting or flying:
            while waiting and len(flying) < workers.slots:
                share = max(0.0, begin + seconds - time.monotonic()) * workers.slots / (len(waiting) + len(flying))
                probe = waiting.popleft()
                if _takes_too_long(probe, Costs(timings), share):
                    bar.update()
                else:
                    flying[workers.submit(time_probe, probe, share)] = probe
            for future in wait(flying, return_when=FIRST_COMPLETED).done if flying else ():
                flying.pop(future)
                bar.update()
                try:
                    timings += future.result()
                except BrokenExecutor:  # the worker died; what it did not time is left to the fit
                    continue
    except BaseException:
        workers.abandon()
        raise
    finally:
        bar.close()
    workers.shutdown()
    return Costs(timings, took=time.monotonic() - begin)


def choose_probes(repetitions: Iterable[Repetition]) -> list[Probe]:
    """Choose instances of each kind of environment, small ones first, and agents of each kind that plays there.

    Members of a kind (with other rates, or other probabilities of an edge) take turns.
    """
    kinds: dict[str, dict[tuple[float, float], dict[str, dict[str, list[Repetition]]]]] = {}
    for repetition in repetitions:
        key = repetition.key
        size = typical_size(key.environment["num_graphs"]), typical_size(key.environment["num_nodes"])
        agents = kinds.setdefault(key.environment_kind, {}).setdefault(size, {}).setdefault(key.environment_key, {})
        agents.setdefault(key.agent_kind, []).append(repetition)
    probes = []
    for sizes in kinds.values():
        graphs, nodes = (_spread({size[axis] for size in sizes}) for axis in (0, 1))
        chosen = [size for size in sorted(sizes) if size[0] in graphs and size[1] in nodes]
        for turn, size in enumerate(chosen or sorted(sizes)[:1]):
            environments = list(sizes[size].values())
            agents = environments[turn % len(environments)]
            probes.append(Probe(tuple(same[turn % len(same)] for same in agents.values())))
    return sorted(probes, key=lambda probe: probe.size)


def time_probe(probe: Probe, seconds: float) -> list[Timing]:
    """Draw an instance and let each agent play on it, after a warm-up; in a worker.

    Args:
        probe: what to time.
        seconds: to be shared between the agents, each of which plays three rounds, or batches, at least.
    """
    from agents.contract import one_thread  # which imports torch

    probe = Probe(tuple(map(with_shared_graphs, probe.repetitions)))
    for repetition in probe.repetitions:
        warm_up(repetition)
    deadline = time.perf_counter() + seconds
    with one_thread():
        instance = _Instance(probe.repetitions[0])
        timings = [_timing(probe.repetitions[0], "instance", instance.drawn)]
        for number, repetition in enumerate(probe.repetitions):
            share = (deadline - time.perf_counter()) / (len(probe.repetitions) - number)
            timings += _time_agent(repetition, instance, share)
        instance.env.close()
    return timings


def _time_agent(repetition: Repetition, instance: _Instance, seconds: float) -> list[Timing]:
    """Time an agent's `reset`, its first rounds, and rounds after longer histories: what it has played, repeated."""
    begin, horizon = time.perf_counter(), repetition.key.environment["horizon"]
    batch = min(repetition.feedback.batch, horizon)
    timings: list[Timing] = []
    laps: list[NDArray[np.float64]] = []
    actions: list[int] = []
    rewards: list[float] = []
    try:
        agent = repetition.make_agent()
        timings.append(_timing(repetition, "reset", instance.reset(agent)))
        while len(laps) < min(ROUNDS * batch, horizon):
            if len(laps) >= LEAST_ROUNDS * batch and time.perf_counter() - begin > OWN * seconds:
                break
            chosen, earned, lap = instance.play(agent, min(batch, horizon - len(laps)))
            actions += chosen
            rewards += earned
            laps += [lap / len(chosen)] * len(chosen)
        length, longest, later = len(laps), laps[-1][0] * batch, LATER_ROUNDS * batch
        while length < horizon - later:
            left = seconds - (time.perf_counter() - begin)
            if longest * GROWTH * (1 + LATER_ROUNDS) > left:  # the fit after so many results, and the rounds
                break
            more = min(GROWTH * length, horizon - later) - length
            agent.update(instance.observation, np.resize(actions, more), np.resize(rewards, more))
            length += more
            played = np.array([instance.play(agent, batch)[2] for _ in range(LATER_ROUNDS)])
            longest = played[:, 0].max()
            middle = length + (1 + later) / 2
            timings.append(_timing(repetition, "round", played.mean(axis=0) / batch, middle, later))
            length += later
    except Exception:  # it diverges, or is broken: where it plays, that is reported
        logging.getLogger(__name__).debug("The calibration of %s stopped early.", repetition.label, exc_info=True)
    for first, last in _stretches(len(laps)):
        mean = np.mean(laps[first - 1 : last], axis=0)
        timings.append(_timing(repetition, "round", mean, (first + last) / 2, last + 1 - first))
    return timings


class _Instance:
    """An instance on which agents take turns, with a clock."""

    def __init__(self, repetition: Repetition) -> None:
        repetition.read_graphs()  # as a worker has before it plays
        begin = _now()
        self.env = registry.make_environment(**repetition.to_arguments(horizon=10**9, replacement=True))
        self.observation, self.info = self.env.reset(seed=SEED)
        self.drawn = _now() - begin
        """Wall time and CPU time of drawing it."""

    def reset(self, agent: Agent) -> NDArray[np.float64]:
        """Show the graphs to an agent; return the time that it takes."""
        begin = _now()
        agent.reset(self.observation, seed=SEED, graph_set=getattr(self.env.unwrapped, "graph_set", None))
        return _now() - begin

    def play(self, agent: Agent, batch: int) -> tuple[list[int], list[float], NDArray[np.float64]]:
        """Play a batch, of which the agent learns in one; return its actions, its rewards and the time of all."""
        begin, shown = _now(), self.observation
        actions = choose(agent, shown, self.info["action_mask"], batch)
        rewards = []
        for action in actions:
            self.observation, observed, _, _, self.info = self.env.step(action)
            rewards.append(float(observed))
        told = (actions[0], rewards[0]) if len(actions) == 1 else (np.array(actions), np.array(rewards))
        agent.update(shown, *told)
        return actions, rewards, _now() - begin


def _now() -> NDArray[np.float64]:
    """Return wall time, and CPU time of this thread."""
    return np.array([time.perf_counter(), time.thread_time()])


def _stretches(rounds: int) -> list[tuple[int, int]]:
    """Return first and last round of stretches that double in length: 1, 2, 3 and 4, 5 to 8, 9 to 16, ..."""
    lasts = [0, *itertools.takewhile(lambda last: last < rounds, (2**k for k in itertools.count())), rounds]
    return [(before + 1, last) for before, last in itertools.pairwise(lasts) if before < last]


def _timing(
    repetition: Repetition, what: str, seconds: NDArray[np.float64], middle: float = 1.0, count: int = 1
) -> Timing:
    part: Part = next(part for part in parts_of(repetition) if part[0] == what)
    environment = repetition.key.environment
    size = typical_size(environment["num_graphs"]), typical_size(environment["num_nodes"])
    edge_prob = environment.get("edge_prob", 1.0)
    wall, cpu = seconds.tolist()
    return Timing(part, *size, edge_prob, wall, cpu, middle, count)


def _takes_too_long(probe: Probe, costs: Costs, share: float) -> bool:
    """Say whether an instance would take much more than its share of the time, by what was timed so far."""
    parts = {part for repetition in probe.repetitions for part in parts_of(repetition)}
    if min(map(costs.count, parts)) < (KNOWN if share else 1):
        return False
    least = [(repetition, LEAST_ROUNDS * repetition.feedback.batch) for repetition in probe.repetitions]
    return sum(itertools.starmap(costs.seconds, least)) > PATIENCE * share


def _spread(values: set[float]) -> set[float]:
    """Return the smallest, the middle and the largest."""
    ordered = sorted(values)
    return {ordered[round(share * (len(ordered) - 1))] for share in np.linspace(0, 1, VALUES)}
