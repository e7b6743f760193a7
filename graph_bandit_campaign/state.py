"""The state of a campaign: dataclasses that are saved as one JSON file."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1


@dataclass(frozen=True)
class Suggestion:
    """A graph to measure next, and the prediction for it when it was suggested."""

    id: str
    """Id of the graph."""
    mean: float | None = None
    """Predicted value, in the units of the measurements; None: the agent made no prediction."""
    std: float | None = None
    """Standard deviation of that prediction."""
    noise_std: float | None = None
    """Estimated standard deviation of the noise of one measurement."""
    probability: float | None = None
    """Probability that the true value beats the best value measured by then; None: there was no prediction."""

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
    round: int
    """How many rounds had been suggested when the value came in; 0: it was known before the campaign."""


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
        structures: SMILES of the molecules suggested, by id, so that one is known after it has left the pool.
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
    structures: Mapping[str, str] = field(default_factory=dict)

    def means(self) -> dict[str, float]:
        """Return the mean of the measurements of each graph, by its id."""
        values: dict[str, list[float]] = {}
        for measurement in self.measured:
            values.setdefault(measurement.id, []).append(measurement.value)
        return {identifier: sum(repeats) / len(repeats) for identifier, repeats in values.items()}

    def to_json(self) -> str:
        """Write the state as text that people can read too."""
        fields = {"format": FORMAT, **dataclasses.asdict(self)}
        if self.algorithm == 1:  # the files of the first version lack this key, and every version can read them
            del fields["algorithm"]
        if not self.structures:
            del fields["structures"]
        return json.dumps(fields, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, path: Path) -> CampaignState:
        """Read the text that `to_json` wrote.

        Raises:
            ValueError: if the text is not a campaign, or one of another version.
        """
        try:
            fields: dict[str, Any] = json.loads(text)  # any other content fails below
            if fields.pop("format") != FORMAT:
                raise ValueError(f"Expected {path} in format {FORMAT}. It is of another version of graph-bandit-env.")
            return cls(
                **{
                    **fields,
                    "measured": tuple(Measurement(**result) for result in fields["measured"]),
                    "failed": tuple(fields["failed"]),
                    "pending": tuple(fields["pending"]),
                    "rounds": tuple(tuple(Suggestion(**each) for each in suggested) for suggested in fields["rounds"]),
                }
            )
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"Expected {path} to be the state of a campaign. Got something else ({type(error).__name__}: {error}). "
                "Move it away to start a new campaign."
            ) from error
