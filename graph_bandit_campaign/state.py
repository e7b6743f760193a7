"""The state of a campaign: dataclasses that are saved as one JSON file."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Literal, NoReturn, TypeAlias, get_args

import msgspec

from graph_bandit_campaign.checks import check_value

FORMAT = 1
LEVEL = 0.9  # of intervals
Bound: TypeAlias = Literal["", "above", "below"]
"""What is known of a result: its value; or only that it lies above or below a number."""
Count = Annotated[int, msgspec.Meta(ge=0)]
Spread = Annotated[float, msgspec.Meta(ge=0)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]


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
    """Lower bound of the 90 % interval of one more result; None: there was no prediction, or the file is an old one."""
    high: float | None = None
    """Upper bound of that interval. As much lies above it as below `low`: 5 %."""

    def __post_init__(self) -> None:
        if (self.low, self.high) == (None, None):
            return
        if self.low is None or self.high is None or not -math.inf < self.low <= self.high < math.inf:
            raise ValueError(f"Expected finite `low` <= `high`, or neither. Got {self.low} and {self.high}.")

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return `low` and `high`, or those of a normal result where the file is an old one."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        if self.mean is None or self.result_std is None:
            return None
        half = NormalDist().inv_cdf((1 + LEVEL) / 2) * self.result_std
        return self.mean - half, self.mean + half

    @property
    def result_std(self) -> float | None:
        """Return the standard deviation of a measurement around `mean`, from prediction and noise together."""
        return None if self.std is None or self.noise_std is None else math.hypot(self.std, self.noise_std)


@dataclass(frozen=True)
class Measurement:
    """A measured value."""

    id: str
    """Id of the graph."""
    value: float
    """The measured value."""
    round: Count
    """How many rounds had been suggested when the value came in; 0: it was known before the campaign."""
    bound: Bound = ""
    """"above" or "below" if the result is only known to lie above or below `value`; "": it is `value`."""

    def __post_init__(self) -> None:
        check_value(self.id, self.value)
        if self.bound not in get_args(Bound):
            raise ValueError(
                'Expected `bound` to be "above" for a result above the number, "below" for one below, or "" for an '
                f"exact value. Got {self.bound!r}."
            )


@dataclass(frozen=True)
class CampaignState:
    """Everything that is needed to resume a campaign; the agent is retrained from it.

    Attributes:
        agent: as on the command line.
        maximize: True if large values are wanted.
        seed: seed of all randomness.
        measured: results, in the order in which they came in.
        failed: ids of graphs that could not be measured.
        pending: ids of graphs that are being measured.
        rounds: the suggestions of each `ask`.
        target: name of the measured quantity.
        question: the argument `question` of the last `ask`.
        algorithm: version of the agent's algorithm; another version may suggest other graphs from the same
            measurements.
        structures: SMILES of the molecules that were suggested or, by `replace_results`, measured, by id, so that one
            is known after it has left the pool or got another id.
        by_default: True if nobody named the agent; files of earlier versions do not say so, and theirs counts as named.

    Raises:
        ValueError: if an id is in two of `measured`, `failed` and `pending`, or twice in one of the last two.
    """

    agent: str
    maximize: bool
    seed: Count
    measured: tuple[Measurement, ...] = ()
    failed: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    rounds: tuple[tuple[Suggestion, ...], ...] = ()
    target: str = ""
    question: str = ""
    algorithm: Annotated[int, msgspec.Meta(ge=1)] = 1
    structures: Mapping[str, str] = field(default_factory=dict)
    by_default: bool = False

    def __post_init__(self) -> None:
        where = dict.fromkeys((measurement.id for measurement in self.measured), "measured")
        for status, identifiers in (("failed", self.failed), ("pending", self.pending)):
            for identifier in identifiers:
                if identifier in where:
                    raise ValueError(
                        f"Expected each id to be measured, failed or pending. Got `{identifier}` as "
                        f"{where[identifier]} and {status}."
                    )
                where[identifier] = status

    def counted(self, rounds: float = math.inf) -> tuple[Measurement, ...]:
        """Return the measurements that count: all, but no bounds of a graph that has an exact value.

        Args:
            rounds: leave out what came in after more rounds had been suggested.
        """
        told = [measurement for measurement in self.measured if measurement.round <= rounds]
        exact = {measurement.id for measurement in told if not measurement.bound}
        return tuple(measurement for measurement in told if not (measurement.bound and measurement.id in exact))

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
        """Return `best`, with which predictions are compared; None while results that are equal tell no scale."""
        several = len(set(self.means().values())) > 1
        return self.best() if several and self.means(exact=True) else None

    def to_json(self) -> str:
        """Write the state as text that people can read too."""
        fields = {"format": FORMAT, **dataclasses.asdict(self)}
        if self.algorithm == 1:  # the files of the first version lack this key, and every version can read them
            del fields["algorithm"]
        for name in ("structures", "by_default"):
            if not fields[name]:
                del fields[name]
        for measurement in fields["measured"]:
            if not measurement["bound"]:  # earlier versions lack this key, and can read files without bounds
                del measurement["bound"]
        for suggestion in (suggestion for suggested in fields["rounds"] for suggestion in suggested):
            if suggestion["low"] is None:
                del suggestion["low"], suggestion["high"]
        return json.dumps(fields, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, path: Path) -> CampaignState:
        """Read the text that `to_json` wrote.

        Raises:
            ValueError: if the text is not a campaign, or one of another version; the message names what is wrong.
        """
        try:
            fields = json.loads(text, object_pairs_hook=_read_object, parse_constant=_refuse_constant)
            found = fields.pop("format", "none") if isinstance(fields, dict) else FORMAT
            if found is True or found != FORMAT:
                raise ValueError(f"Expected `format` {FORMAT}. Got {found}: it is of another version")
            state = msgspec.convert(fields, cls)
            missing = [key for key in ("measured", "failed", "pending", "rounds") if key not in fields]
            if missing:
                raise ValueError(f"Expected the keys `{'`, `'.join(missing)}`. The file does not have them")
            _refuse_unknown_keys(cls, [fields])
            _refuse_unknown_keys(Measurement, fields["measured"])
            _refuse_unknown_keys(Suggestion, [suggestion for suggested in fields["rounds"] for suggestion in suggested])
        except RecursionError:
            reason = "Brackets are nested too deeply"
        except ValueError as error:
            reason = str(error).rstrip(".")
        else:
            return state
        raise ValueError(
            f"Expected {path} to be the state of a campaign. {reason}. Correct the file, or move it away to start a "
            "new campaign."
        )


def _read_object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"The key `{next(key for key in keys if keys.count(key) > 1)}` is there twice")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"Expected finite numbers. Got {name}")


def _refuse_unknown_keys(kind: type, objects: Iterable[Mapping[str, object]]) -> None:
    known = {known.name for known in dataclasses.fields(kind)}
    unknown = next((key for fields in objects for key in fields if key not in known), None)
    if unknown is not None:
        raise ValueError(f"Expected no key `{unknown}`: {kind.__name__} has {', '.join(sorted(known))}")
