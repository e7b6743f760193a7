"""A result: a measured value, a bound of it, or a failure; with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

import msgspec

from graph_bandit_campaign.checks import check_noise, check_value

Count = Annotated[int, msgspec.Meta(ge=0)]
Bound: TypeAlias = Literal["", "above", "below"]
"""What is known of a result: its value; or only that it lies above or below a number."""
Fact: TypeAlias = tuple[str, str, float | None, str, float | None]
"""What a result says: id, goal, value (None: failed), bound and noise."""
TYPED = ""
"""The source of results that no table holds: somebody typed them, or a program told them."""
SIGNS = {"above": ">", "below": "<", "": ""}


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
    sources: tuple[str, ...] = (TYPED,)
    """The tables that hold it, by their paths from the folder of the campaign's file; `TYPED`: it was told by hand."""
    by: str = ""
    """Who told it; empty if nobody said."""
    at: str = ""
    """When it was told, in UTC."""

    def __post_init__(self) -> None:
        check_value(self.id, self.value)
        if self.bound not in get_args(Bound):
            raise ValueError(
                'Expected `bound` to be "above" for a result above the number, "below" for one below, or "" for an '
                f"exact value. Got {self.bound!r}."
            )
        check_noise(self.id, self.noise, self.bound)

    @property
    def fact(self) -> Fact:
        """Return what it says, wherever it comes from."""
        return self.id, self.goal, self.value, self.bound, self.noise

    @property
    def text(self) -> str:
        """Return it as in the cell of a table: `4.5` or `>4.5`."""
        return f"{SIGNS[self.bound]}{self.value:.6g}"


@dataclass(frozen=True)
class Failure:
    """A graph that could not be measured; a value of it counts before that."""

    id: str
    """Id of the graph."""
    round: Count = 0
    """How many rounds had been suggested when that was told."""
    goal: str = ""
    """With several goals, the name of that which could not be measured."""
    sources: tuple[str, ...] = (TYPED,)
    """As of a `Measurement`."""
    by: str = ""
    """Who told it; empty if nobody said."""
    at: str = ""
    """When it was told, in UTC."""
    text = "failed"

    @property
    def fact(self) -> Fact:
        """Return what it says, wherever it comes from."""
        return self.id, self.goal, None, "", None


Result: TypeAlias = Measurement | Failure
