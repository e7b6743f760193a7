"""A result: a measured value, or a bound of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

import msgspec

from graph_bandit_campaign.checks import check_noise, check_value

Count = Annotated[int, msgspec.Meta(ge=0)]
Bound: TypeAlias = Literal["", "above", "below"]
"""What is known of a result: its value; or only that it lies above or below a number."""


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
    goal: str = ""
    """With several goals, the name of that which was measured."""
    noise: float | None = None
    """Standard deviation of the measuring noise of this result, in its units; None: it is not known."""

    def __post_init__(self) -> None:
        check_value(self.id, self.value)
        if self.bound not in get_args(Bound):
            raise ValueError(
                'Expected `bound` to be "above" for a result above the number, "below" for one below, or "" for an '
                f"exact value. Got {self.bound!r}."
            )
        check_noise(self.id, self.noise, self.bound)
