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
"""A setting of a command, as it is saved."""

CUT = 0.5  # between a miss, 0, and a hit, 1
LEAST = 5  # failed candidates, and measured candidates, before a model learns from failures


@dataclass(frozen=True)
class Suggestion:
    """A graph to measure next, and the prediction for it when it was suggested."""

    id: str
    """Id of the graph."""
    mean: float | None = None
    """Predicted value, in the units of the measurements. None if the agent made no prediction."""
    std: Spread | None = None
    """Standard deviation of that prediction."""
    noise_std: Spread | None = None
    """Estimated standard deviation of the noise of one measurement."""
    probability: Probability | None = None
    """Probability that its result beats the best value measured so far. None without a prediction."""
    low: float | None = None
    """Lower bound of the 90 % interval of one more result. None without a prediction."""
    high: float | None = None
    """Upper bound of that interval. The probability is 5 % above it, and 5 % below `low`."""
    by_goal: Mapping[str, Suggestion] = field(default_factory=dict)
    """With several goals, the prediction for each, by its name. If the goal has a range, its `probability` is that of a
    result in the range. The outer object then has only `id` and `probability`, the probability that the results are on
    the front: no measured graph is as good in every goal and better in one."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return `low` and `high`, or None without a prediction."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def result_std(self) -> float | None:
        """Return the standard deviation of a measurement around `mean`, including prediction and noise."""
        return None if self.std is None or self.noise_std is None else math.hypot(self.std, self.noise_std)


@dataclass(frozen=True)
class CampaignState:
    """Everything needed to resume a campaign. The agent is retrained from it.

    Attributes:
        agent: as on the command line.
        maximize: True if large values are good.
        seed: seed of all randomness.
        measured: results, ordered by the round in which they arrived and by id.
        failures: failed measurements. `failed` excludes the graphs that have a value nevertheless.
        pending: ids of graphs that are being measured.
        rounds: the suggestions of each `ask`.
        target: name of the measured quantity.
        algorithm: version of the agent's algorithm. Another version may suggest other graphs from the same
            measurements.
        structures: SMILES of the suggested, measured or annotated molecules, by id. They identify a molecule after it
            has left the pool or got another id.
        by_default: True if the user did not choose the agent.
        goals: goals for each quantity, if several are measured. Empty for one quantity.
        written: digests of the files that the command wrote, which identify its own files.
        read: digest of the inputs of the last round other than results: the pool and other files.
        told: True if results were added or removed since the last round.
        features: values of the user's own columns in the results, by id and column.
        vetoed: graphs that the user has excluded.
        pinned: ids of graphs that the user wants, or wanted, in the next batch.
        comments: texts about graphs, in the order of arrival.
        command: settings of the last `suggest` that differ from their defaults, by name. Empty without a command.
        kind: type of the values of a single goal. If empty, it is undecided, and `is_class` inspects the values.

    Raises:
        ValueError: if a pending id is repeated, measured or failed, or the goal is a class and a result is neither 0
            nor 1. With several goals, a graph is measured if it has a result for each.
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
        """Return all results: measurements, then failures."""
        return self.measured + self.failures

    @property
    def quantities(self) -> tuple[str, ...]:
        """Return the names of the measured quantities."""
        return tuple(goal.name for goal in self.goals) or (self.target,)

    @property
    def is_class(self) -> bool:
        """Return True if the goal is a class: declared, or not declared and all values are 0 and 1."""
        if self.kind or self.goals:
            return self.kind == "class" and not self.goals
        are_exact = not any(result.bound or result.noise is not None for result in self.measured)
        return are_exact and {result.value for result in self.measured} == {0, 1}

    @property
    def hits(self) -> tuple[str, ...]:
        """Return the ids of the graphs with a result of the desired class."""
        wanted = 1.0 if self.maximize else 0.0
        return tuple(dict.fromkeys(result.id for result in self.measured if result.value == wanted))

    @property
    def vetoes(self) -> dict[str, Veto]:
        """Return the vetoes by the ids of their graphs."""
        return {veto.id: veto for veto in self.vetoed}

    def settled(self) -> dict[str, None]:
        """Return the ids of the measured graphs: with several goals, those with a result for each."""
        goals_of: dict[str, set[str]] = {}
        for measurement in self.measured:
            goals_of.setdefault(measurement.id, set()).add(measurement.goal)
        wanted = len(self.goals) or 1
        return dict.fromkeys(identifier for identifier, names in goals_of.items() if len(names) == wanted)

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the ids of the graphs that failed and have no value."""
        valued, settled = {(result.id, result.goal) for result in self.measured}, self.settled()
        ids = (each.id for each in self.failures if (each.id, each.goal) not in valued and each.id not in settled)
        return tuple(dict.fromkeys(ids))

    @property
    def known(self) -> set[str]:
        """Return the ids of all graphs in results, rounds or annotations."""
        ids = {result.id for result in self.results} | {each.id for each in self.comments}
        suggested = {each.id for batch in self.rounds for each in batch}
        return ids | suggested | {*self.pending, *self.pinned, *self.vetoes, *self.structures}

    def waiting_pins(self) -> tuple[str, ...]:
        """Return the ids of pinned graphs for the next batch: not measured, failed or pending."""
        taken = {*self.settled(), *self.failed, *self.pending}
        return tuple(key for key in self.pinned if key not in taken)

    def of(self, goal: Goal) -> CampaignState:
        """Return the same campaign with this goal alone. A graph with a result for it is not pending there.

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
        """Return the same campaign with other ids of graphs. Several graphs may get the same id.

        Args:
            names: new ids, by the old ids that change.
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
        """Return the same campaign with some graphs pending, except measured, failed and vetoed graphs."""
        out = {*self.settled(), *self.failed, *self.vetoes}
        return replace(self, pending=tuple(key for key in dict.fromkeys(ids) if key not in out))

    def with_goals(self, goals: tuple[Goal, ...]) -> CampaignState:
        """Return the same campaign with other goals. Results of removed goals are left out."""
        names = {goal.name for goal in goals} or {""}
        measured = tuple(result for result in self.measured if result.goal in names)
        failures = tuple(each for each in self.failures if each.goal in names)
        return replace(self, goals=goals, measured=measured, failures=failures, pending=()).waiting_for(self.pending)

    def views(self) -> tuple[CampaignState, ...]:
        """Return the campaign `of` each of several goals, or the campaign itself for one goal."""
        return tuple(self.of(goal) for goal in self.goals) or (self,)

    def counted(self, rounds: float = math.inf) -> tuple[Measurement, ...]:
        """Return the measurements that count: all, except bounds of a graph with an exact value.

        Args:
            rounds: leave out results that arrived after more rounds.

        Raises:
            ValueError: if there are several goals, whose values are not comparable. Use `of` for one of them.
        """
        if self.goals:
            raise ValueError("Expected a campaign of one goal. Got several: look at each by `of(goal)`.")
        measured = [measurement for measurement in self.measured if measurement.round <= rounds]
        exact = {measurement.id for measurement in measured if not measurement.bound}
        return tuple(measurement for measurement in measured if not (measurement.bound and measurement.id in exact))

    def means(self, rounds: float = math.inf, exact: bool = False) -> dict[str, float]:
        """Return the mean measurement of each graph, by its id, or the mean of its bounds if it has only bounds.

        Args:
            rounds: as in `counted`.
            exact: if True, leave out graphs with bounds only.
        """
        values: dict[str, list[float]] = {}
        for measurement in self.counted(rounds):
            if not (exact and measurement.bound):
                values.setdefault(measurement.id, []).append(measurement.value)
        return {identifier: sum(repeats) / len(repeats) for identifier, repeats in values.items()}

    def leader(self, rounds: float = math.inf) -> tuple[str, float] | None:
        """Return the id and value of the graph that is certainly the best, or None if there is none.

        A graph with bounds only is at least as good as a bound on the good side. A bound on the bad side does not
        count.

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
        """Return the value of `leader`, or None if there is none.

        Args:
            rounds: as in `counted`.
        """
        leader = self.leader(rounds)
        return None if leader is None else leader[1]

    def yardstick(self) -> float | None:
        """Return the value that predictions are compared with: `best`, or None while all results are equal.

        For a class, it is the threshold between the two values.
        """
        if self.is_class:
            return CUT if len({result.value for result in self.measured}) > 1 else None
        several = len(set(self.means().values())) > 1
        return self.best() if several and self.means(exact=True) else None


def are_enough(failed: int, measured: int) -> bool:
    """Return True if enough candidates failed and were measured for a model of failures."""
    return min(failed, measured) >= LEAST
