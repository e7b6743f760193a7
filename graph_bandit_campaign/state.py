"""The state of a campaign."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeAlias, get_args

import msgspec

from graph_bandit_campaign.checks import Kind
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.results.facts import Comment, Failure, Measurement, Result, Veto

LEVEL = 0.9  # of intervals
Count = Annotated[int, msgspec.Meta(ge=0)]
Spread = Annotated[float, msgspec.Meta(ge=0)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
Kept: TypeAlias = str | int | float | bool | tuple[str, ...] | None
"""A setting of a command, as it is kept."""

CUT = 0.5  # between a miss, 0, and a hit, 1
LEAST = 5  # candidates that failed, and that were measured, before a model learns from failures


@dataclass(frozen=True)
class Suggestion:
    """A graph to measure next, and the prediction for it when it was suggested."""

    id: str
    """Id of the graph."""
    mean: float | None = None
    """Predicted value, in the units of the measurements; None: the agent made no prediction."""
    std: Spread | None = None
    """Standard deviation of that prediction."""
    noise_std: Spread | None = None
    """Estimated standard deviation of the noise of one measurement."""
    probability: Probability | None = None
    """Probability that its result beats the best value measured by then; None: there was no prediction."""
    low: float | None = None
    """Lower bound of the 90 % interval of one more result; None: there was no prediction."""
    high: float | None = None
    """Upper bound of that interval. As much lies above it as below `low`: 5 %."""
    by_goal: Mapping[str, Suggestion] = field(default_factory=dict)
    """With several goals, the prediction of each, by its name; its `probability` is that of a result in the range, if
    the goal has one. Above, only `id` and `probability` are known then: that the results are on the front, so that no
    measured graph is as good in every goal and better in one."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return `low` and `high`; None without a prediction."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def result_std(self) -> float | None:
        """Return the standard deviation of a measurement around `mean`, from prediction and noise together."""
        return None if self.std is None or self.noise_std is None else math.hypot(self.std, self.noise_std)


@dataclass(frozen=True)
class CampaignState:
    """Everything that is needed to resume a campaign; the agent is retrained from it.

    Attributes:
        agent: as on the command line.
        maximize: True if large values are wanted.
        seed: seed of all randomness.
        measured: results, by the round in which they came in and by id.
        failures: what could not be measured; `failed` are those that have no value all the same.
        pending: ids of graphs that are being measured.
        rounds: the suggestions of each `ask`.
        target: name of the measured quantity.
        algorithm: version of the agent's algorithm; another version may suggest other graphs from the same
            measurements.
        structures: SMILES of the molecules that were suggested, measured or marked, by id, so that one is known after
            it has left the pool or got another id.
        by_default: True if nobody named the agent.
        goals: what is wanted of each quantity, if several are measured; empty with one.
        written: digests of the files that the command wrote, by which it knows them as its own.
        read: digest of what the last round was chosen from, beside the results: the pool and other files.
        told: whether results came in, or went, since the last round.
        features: values of the user's own columns that came with results, by id and column.
        vetoed: graphs that are not to be suggested, because somebody says so.
        pinned: ids of graphs that are to be in the next batch, or were, because somebody says so.
        comments: texts about graphs, in the order in which they came.
        command: settings of the last `suggest` other than their defaults, by name, to repeat it; empty without one.
        kind: what the values of the one goal are; empty: not decided yet, `is_class` looks at them.

    Raises:
        ValueError: if an id is pending twice, or measured or failed too. With several goals, a graph is measured when
            there is a result for each. If the goal is a class, and a result is neither 0 nor 1.
    """

    agent: str
    maximize: bool
    seed: Count
    measured: tuple[Measurement, ...] = ()
    failures: tuple[Failure, ...] = ()
    pending: tuple[str, ...] = ()
    rounds: tuple[tuple[Suggestion, ...], ...] = ()
    target: str = ""
    algorithm: Annotated[int, msgspec.Meta(ge=1)] = 1
    structures: Mapping[str, str] = field(default_factory=dict)
    by_default: bool = False
    goals: tuple[Goal, ...] = ()
    written: tuple[str, ...] = ()
    read: str = ""
    told: bool = False
    features: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    vetoed: tuple[Veto, ...] = ()
    pinned: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()
    command: Mapping[str, Kept] = field(default_factory=dict)
    kind: Kind = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f'Expected `kind` to be "class", "number" or None. Got {self.kind!r}.')
        odd = (result for result in self.measured if result.value not in (0, 1) or result.bound or result.noise)
        if self.kind == "class" and (third := next(odd, None)):
            text = f"Expected 0 or 1 for `{third.id}`, since the goal is a class. Got {third.text}."
            raise ValueError(f'{text} If its values are numbers, open the campaign with `kind="number"`.')
        ended = {*self.settled(), *self.failed}
        if bad := next((key for key, n in Counter(self.pending).items() if n > 1 or key in ended), None):
            raise ValueError(f"Expected each id to be measured, failed or pending, once. Got `{bad}` more than once.")

    @property
    def results(self) -> tuple[Result, ...]:
        """Return what is known of graphs: measurements, then failures."""
        return self.measured + self.failures

    @property
    def quantities(self) -> tuple[str, ...]:
        """Return the names of what is measured."""
        return tuple(goal.name for goal in self.goals) or (self.target,)

    @property
    def is_class(self) -> bool:
        """Return whether the goal is a class: it is said to be, or nothing is said, and all values are 0 and 1."""
        if self.kind or self.goals:
            return self.kind == "class" and not self.goals
        are_exact = not any(result.bound or result.noise is not None for result in self.measured)
        return are_exact and {result.value for result in self.measured} == {0, 1}

    @property
    def hits(self) -> tuple[str, ...]:
        """Return the ids of the graphs with a result of the class that is wanted."""
        wanted = 1.0 if self.maximize else 0.0
        return tuple(dict.fromkeys(result.id for result in self.measured if result.value == wanted))

    @property
    def vetoes(self) -> dict[str, Veto]:
        """Return the vetoes by the ids of their graphs."""
        return {veto.id: veto for veto in self.vetoed}

    def settled(self) -> dict[str, None]:
        """Return the ids of the graphs that are measured: those with a result or, with several goals, one for each."""
        goals_of: dict[str, set[str]] = {}
        for measurement in self.measured:
            goals_of.setdefault(measurement.id, set()).add(measurement.goal)
        wanted = len(self.goals) or 1
        return dict.fromkeys(identifier for identifier, names in goals_of.items() if len(names) == wanted)

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the ids of the graphs that could not be measured, and are not measured all the same."""
        valued, settled = {(result.id, result.goal) for result in self.measured}, self.settled()
        ids = (each.id for each in self.failures if (each.id, each.goal) not in valued and each.id not in settled)
        return tuple(dict.fromkeys(ids))

    @property
    def known(self) -> set[str]:
        """Return the ids of all graphs that results, rounds or marks are about."""
        ids = {result.id for result in self.results} | {each.id for each in self.comments}
        suggested = {each.id for batch in self.rounds for each in batch}
        return ids | suggested | {*self.pending, *self.pinned, *self.vetoes, *self.structures}

    def waiting_pins(self) -> tuple[str, ...]:
        """Return the ids of pinned graphs that are to be in the next batch: neither measured nor failed nor pending."""
        taken = {*self.settled(), *self.failed, *self.pending}
        return tuple(key for key in self.pinned if key not in taken)

    def of(self, goal: Goal) -> CampaignState:
        """Return the same campaign as if it had this goal alone; a graph that has a result is not pending there.

        Args:
            goal: one of `goals`.
        """
        measured = tuple(replace(result, goal="") for result in self.measured if result.goal == goal.name)
        with_result, failed = {result.id for result in measured}, {*self.failed}
        return replace(
            self,
            goals=(),
            kind="number",
            target=goal.name,
            maximize=goal.sign > 0,
            measured=measured,
            failures=tuple(replace(each, goal="") for each in self.failures if each.id in failed - with_result),
            pending=tuple(identifier for identifier in self.pending if identifier not in with_result),
            rounds=tuple(
                tuple(entry.by_goal.get(goal.name, entry) for entry in suggested) for suggested in self.rounds
            ),
        )

    def renamed(self, names: Mapping[str, str]) -> CampaignState:
        """Return the same campaign with other ids of graphs, some of which become one.

        Args:
            names: the new id of each that changes.
        """
        if not names.keys() & self.known:
            return self
        vetoed = {veto.id: veto for veto in (replace(veto, id=names.get(veto.id, veto.id)) for veto in self.vetoed)}
        pinned = dict.fromkeys(names.get(key, key) for key in self.pinned)
        renamed = replace(
            self,
            measured=tuple(replace(result, id=names.get(result.id, result.id)) for result in self.measured),
            failures=tuple(replace(each, id=names.get(each.id, each.id)) for each in self.failures),
            vetoed=(*vetoed.values(),),
            pinned=tuple(key for key in pinned if key not in vetoed),
            comments=tuple(replace(each, id=names.get(each.id, each.id)) for each in self.comments),
            pending=(),
        )
        return renamed.waiting_for(names.get(key, key) for key in self.pending)

    def waiting_for(self, ids: Iterable[str]) -> CampaignState:
        """Return the same campaign with some graphs pending: those that are neither measured nor failed nor vetoed."""
        out = {*self.settled(), *self.failed, *self.vetoes}
        return replace(self, pending=tuple(key for key in dict.fromkeys(ids) if key not in out))

    def with_goals(self, goals: tuple[Goal, ...]) -> CampaignState:
        """Return the same campaign with other goals; results of goals that have gone are left out."""
        names = {goal.name for goal in goals} or {""}
        measured = tuple(result for result in self.measured if result.goal in names)
        failures = tuple(each for each in self.failures if each.goal in names)
        return replace(self, goals=goals, measured=measured, failures=failures, pending=()).waiting_for(self.pending)

    def views(self) -> tuple[CampaignState, ...]:
        """Return the campaign `of` each of several goals, or the campaign itself."""
        return tuple(self.of(goal) for goal in self.goals) or (self,)

    def counted(self, rounds: float = math.inf) -> tuple[Measurement, ...]:
        """Return the measurements that count: all, but no bounds of a graph that has an exact value.

        Args:
            rounds: leave out what came in after more rounds had been suggested.

        Raises:
            ValueError: if there are several goals, whose values have nothing in common: ask the campaign `of` one.
        """
        if self.goals:
            raise ValueError("Expected a campaign of one goal. Got several: look at each by `of(goal)`.")
        measured = [measurement for measurement in self.measured if measurement.round <= rounds]
        exact = {measurement.id for measurement in measured if not measurement.bound}
        return tuple(measurement for measurement in measured if not (measurement.bound and measurement.id in exact))

    def means(self, rounds: float = math.inf, exact: bool = False) -> dict[str, float]:
        """Return the mean of the measurements of each graph, by its id; of its bounds if it has nothing else.

        Args:
            rounds: as in `counted`.
            exact: leave out graphs that have bounds alone.
        """
        values: dict[str, list[float]] = {}
        for measurement in self.counted(rounds):
            if not (exact and measurement.bound):
                values.setdefault(measurement.id, []).append(measurement.value)
        return {identifier: sum(repeats) / len(repeats) for identifier, repeats in values.items()}

    def leader(self, rounds: float = math.inf) -> tuple[str, float] | None:
        """Return the id and value of the graph that is best for certain; None if there is none.

        A graph that has bounds alone is at least as good as a bound from the side of worse values. A bound from the
        other side does not tell that it is good.

        Args:
            rounds: as in `counted`.
        """
        values, choose = self.means(rounds, exact=True), max if self.maximize else min
        for measurement in self.counted(rounds):
            if measurement.bound == ("above" if self.maximize else "below"):
                value = measurement.value
                values[measurement.id] = choose(values.get(measurement.id, value), value)
        return choose(values.items(), key=lambda pair: pair[1]) if values else None

    def best(self, rounds: float = math.inf) -> float | None:
        """Return the value of `leader`; None if there is none.

        Args:
            rounds: as in `counted`.
        """
        leader = self.leader(rounds)
        return None if leader is None else leader[1]

    def yardstick(self) -> float | None:
        """Return `best`, with which predictions are compared; None while results that are equal tell no scale.

        Of a class, it is the number between both.
        """
        if self.is_class:
            return CUT if len({result.value for result in self.measured}) > 1 else None
        several = len(set(self.means().values())) > 1
        return self.best() if several and self.means(exact=True) else None


def are_enough(failed: int, measured: int) -> bool:
    """Return whether the model learns from failures, by how many candidates failed and how many were measured."""
    return min(failed, measured) >= LEAST
