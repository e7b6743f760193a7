"""What a campaign remembers: a few dataclasses that are one JSON file."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMAT = 1


@dataclass(frozen=True)
class Suggestion:
    """A graph to measure next, and what was expected of it when it was suggested."""

    id: str
    """Of the graph."""
    mean: float | None = None
    """Predicted value, in the units of the measurements; None: the agent does not predict."""
    std: float | None = None
    """Standard deviation of that prediction."""
    noise_std: float | None = None
    """Standard deviation of the noise of one measurement, as estimated."""
    probability: float | None = None
    """Probability that its true value beats the best one measured by then; None: nothing was measured."""

    @property
    def result_std(self) -> float | None:
        """Return the standard deviation of a measurement about `mean`: of prediction and noise together."""
        return None if self.std is None or self.noise_std is None else math.hypot(self.std, self.noise_std)


@dataclass(frozen=True)
class Measurement:
    """A value that came back."""

    id: str
    """Of the graph."""
    value: float
    """What was measured."""
    round: int
    """How many rounds had been suggested when it was told; 0: known before the campaign."""


@dataclass(frozen=True)
class CampaignState:
    """All that a campaign is resumed from; the agent is trained anew from it.

    Attributes:
        agent: as it is written on the command line.
        maximize: whether large values are wanted.
        seed: of all randomness.
        measured: in the order in which they were told.
        failed: graphs whose measurement failed.
        pending: graphs that are being measured.
        rounds: suggestions of each `ask`.
        target: name of what is measured.
        question: what the last `ask` was given as such.
        algorithm: version of the agent's algorithm; another one may suggest other graphs from equal measurements.
    """

    agent: str
    maximize: bool
    seed: int
    measured: tuple[Measurement, ...] = ()
    failed: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    rounds: tuple[tuple[Suggestion, ...], ...] = ()
    target: str = ""
    question: str = ""
    algorithm: int = 1

    def means(self) -> dict[str, float]:
        """Return the mean of the measurements of each graph, by its id."""
        values: dict[str, list[float]] = {}
        for one in self.measured:
            values.setdefault(one.id, []).append(one.value)
        return {identifier: sum(found) / len(found) for identifier, found in values.items()}

    def to_json(self) -> str:
        """Write the state as text that people can read too."""
        fields = {"format": FORMAT, **dataclasses.asdict(self)}
        if self.algorithm == 1:  # as files were before there was another, so that every version reads them
            del fields["algorithm"]
        return json.dumps(fields, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, path: Path) -> CampaignState:
        """Read what `to_json` wrote.

        Raises:
            ValueError: if it is no campaign, or one of a later version.
        """
        try:
            found: dict[str, Any] = json.loads(text)  # whatever it holds: what is no campaign is told below
            if found.pop("format") != FORMAT:
                raise ValueError(f"Expected {path} in format {FORMAT}. It is of another version of graph-bandit-env.")
            return cls(
                **{
                    **found,
                    "measured": tuple(Measurement(**one) for one in found["measured"]),
                    "failed": tuple(found["failed"]),
                    "pending": tuple(found["pending"]),
                    "rounds": tuple(tuple(Suggestion(**one) for one in suggested) for suggested in found["rounds"]),
                }
            )
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"Expected {path} to be the state of a campaign. Got something else ({type(error).__name__}: {error}). "
                "Move it away to begin anew."
            ) from error
