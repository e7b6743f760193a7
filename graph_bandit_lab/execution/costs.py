"""Estimate how long repetitions take, from timed parts of a few: growth with K, N and t is fitted to what was timed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graph_bandit_lab.design.plan import Repetition

Part: TypeAlias = tuple[str, str, str]
"""What was timed ("instance", "reset" or "round"), the kind of agent or instance, and the kind of environment."""
Floats: TypeAlias = NDArray[np.float64]

REFITS = 4  # of the weights of a fit
EARLY, SETTLED = 10, 30  # rounds after which an effect of the beginning has halved, or a lasting one is half there


def typical_size(size: int | Sequence[int]) -> float:
    """Return a size of an environment, or the mean of its least and its most."""
    return sum(size) / 2 if isinstance(size, Sequence) else size


@dataclass(frozen=True)
class Timing:
    """Seconds that one part of the play took at one size."""

    part: Part
    num_graphs: float
    num_nodes: float
    edge_prob: float
    wall: float
    """Wall time; of rounds, the mean of one."""
    cpu: float
    """The same in CPU time of the thread that plays."""
    round: float = 1.0
    """Of rounds, the mean t."""
    count: int = 1
    """Rounds that the mean is over."""


class Costs:
    """Times of repetitions, as sums of non-negative terms in the sizes of the environment and the round.

        instance    1, K, K N, K N^2, p K N^2, K^2, K^3                              of a kind of environment
        reset       1, K, K N, p K N^2, K^2, (K N)^2                                 of a kind of agent
        round t     1, K, K N, K^2, K^3, t, t N, t K, t^2                            of a kind of agent, and a batch
                    + (1, N) x (1, 1 / (1 + t/10), t / (t + 30))                     of both

    The terms in t are of algorithms whose rounds get longer, as where a fit passes over all observations. The last ones
    depend on what is played: a batch of five graphs takes longer, the more distinct ones it has. Coefficients minimise
    squared relative errors.

    Args:
        timings: of each part, at some sizes.
        clock: the time that is estimated: "wall" or "cpu".
        took: seconds that the timing took.
    """

    def __init__(self, timings: Iterable[Timing], clock: Literal["wall", "cpu"] = "wall", took: float = 0.0) -> None:
        self.timings, self.clock, self.took = tuple(timings), clock, took
        self._fits: dict[tuple[str, str], _Fit] = {}
        by_kind: dict[tuple[str, str], list[Timing]] = {}
        for timing in self.timings:
            by_kind.setdefault(timing.part[:2], []).append(timing)
        self._by_kind = by_kind

    def by_cpu(self) -> Costs:
        """Return estimates of CPU time: how long it would take on cores that do nothing else."""
        return Costs(self.timings, "cpu", self.took)

    @property
    def busy(self) -> float:
        """Return how many times its CPU time all that was timed has taken."""
        wall, cpu = (sum(getattr(timing, clock) * timing.count for timing in self.timings) for clock in ("wall", "cpu"))
        return wall / cpu if cpu else 1.0

    @property
    def rounds(self) -> int:
        """Return the number of rounds that were timed."""
        return sum(timing.count for timing in self.timings if timing.part[0] == "round")

    @property
    def instances(self) -> int:
        """Return the number of instances that were drawn."""
        return sum(timing.part[0] == "instance" for timing in self.timings)

    def count(self, part: Part) -> int:
        """Return at how many instances a part was timed, on whatever kind of environment."""
        return len({(t.part[2], t.num_graphs, t.num_nodes, t.edge_prob) for t in self._by_kind.get(part[:2], ())})

    def seconds(self, repetition: Repetition, rounds: int | None = None) -> float:
        """Estimate the time of a repetition; `nan` if its agent was never timed.

        Args:
            repetition: any.
            rounds: T; None: its horizon.
        """
        environment = repetition.key.environment
        size = typical_size(environment["num_graphs"]), typical_size(environment["num_nodes"])
        edge_prob = environment.get("edge_prob", 1.0)
        bases = _sums(environment["horizon"] if rounds is None else rounds)
        return sum(self._estimate(part, *size, edge_prob, bases) for part in parts_of(repetition))

    def each(self, repetitions: Sequence[Repetition]) -> list[float]:
        """Estimate the time of each repetition; one whose agent was never timed counts as the mean of the others."""
        known: dict[str, float] = {}
        for repetition in repetitions:
            if repetition.key.settings_hash not in known:
                known[repetition.key.settings_hash] = self.seconds(repetition)
        times = np.array([known[repetition.key.settings_hash] for repetition in repetitions])
        timed = times[np.isfinite(times)]
        filled: list[float] = np.where(np.isfinite(times), times, timed.mean() if len(timed) else np.nan).tolist()
        return filled

    def _estimate(self, part: Part, num_graphs: float, num_nodes: float, edge_prob: float, bases: Floats) -> float:
        kinds = [part[:2]] if part[:2] in self._by_kind else []
        if part[0] == "instance" and not kinds:
            kinds = [kind for kind in self._by_kind if kind[0] == "instance"]
        for kind in kinds:
            if kind not in self._fits:
                self._fits[kind] = _Fit(self._by_kind[kind], self.clock)
        estimates = [self._fits[kind].estimate(part, num_graphs, num_nodes, edge_prob, bases) for kind in kinds]
        return sum(estimates) / len(estimates) if estimates else float("nan")


def parts_of(repetition: Repetition) -> tuple[Part, Part, Part]:
    """Return the parts that the time of a repetition is the sum of."""
    agent, environment, batch = repetition.key.agent_kind, repetition.key.environment_kind, repetition.feedback.batch
    player = agent if batch == 1 else f"{agent} in batches of {batch}"  # each of which ends with one fit
    return ("instance", environment, ""), ("reset", agent, ""), ("round", player, environment)


class _Fit:
    """Non-negative coefficients of the terms of one kind: some for all environments, some for each kind of them."""

    def __init__(self, timings: Sequence[Timing], clock: str) -> None:
        self._environments = list(dict.fromkeys(timing.part[2] for timing in timings))
        terms = np.array(
            [self._terms(t.part, t.num_graphs, t.num_nodes, t.edge_prob, _bases(np.array(t.round))) for t in timings]
        )
        seconds = np.array([getattr(timing, clock) for timing in timings])
        self._coefficients = _fit_relative(terms, seconds, np.array([timing.count for timing in timings]))

    def estimate(self, part: Part, num_graphs: float, num_nodes: float, edge_prob: float, bases: Floats) -> float:
        return float(self._terms(part, num_graphs, num_nodes, edge_prob, bases) @ self._coefficients)

    def _terms(self, part: Part, k: float, n: float, p: float, bases: Floats) -> Floats:
        k, n = float(k), float(n)
        if part[0] == "instance":
            return np.array([1, k, k * n, k * n**2, p * k * n**2, k**2, k**3])
        if part[0] == "reset":
            return np.array([1, k, k * n, p * k * n**2, k**2, (k * n) ** 2])
        one, early, settled, t, square = bases
        shared = [one, one * k, one * k * n, one * k**2, one * k**3, t, t * n, t * k, square]
        played = np.outer([1, n], [one, early, settled]).ravel()
        here = np.array([kind == part[2] for kind in self._environments], float)
        here = here if here.any() else np.full(len(here), 1 / len(here))  # never timed here: as elsewhere
        return np.concatenate([shared, np.outer(here, played).ravel()])


def _bases(t: Floats) -> Floats:
    """Return how the terms of a round depend on t, a row each: 1, 1 / (1 + t/10), t / (t + 30), t, t^2."""
    return np.stack([np.ones_like(t, float), EARLY / (EARLY + t), t / (t + SETTLED), t, t**2])


@cache
def _sums(rounds: int) -> Floats:
    """Return the sums of the bases over rounds."""
    sums: Floats = _bases(np.arange(1.0, rounds + 1)).sum(axis=1)
    return sums


def _fit_relative(terms: Floats, seconds: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return non-negative coefficients of least squared errors, each relative to the estimate itself.

    Errors relative to what was timed would count a long time less than a short one, and so estimate too little.
    """
    from scipy.optimize import nnls

    scales = np.where(terms.max(axis=0) > 0, terms.max(axis=0), 1.0)
    level, coefficients = np.maximum(seconds, 1e-9), np.zeros(terms.shape[1])
    for _ in range(REFITS):
        weights = np.sqrt(counts) / level
        coefficients, _ = nnls(terms / scales * weights[:, None], seconds * weights)
        level = np.maximum(terms / scales @ coefficients, 0.1 * seconds + 1e-9)
    unscaled: Floats = coefficients / scales
    return unscaled
