"""Define the goal of a measured quantity: large or small values, or a range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from graph_bandit_campaign.checks import check_flags

Aim: TypeAlias = Literal["maximize", "minimize", "target", "limit"]


@dataclass(frozen=True)
class Goal:
    """The goal for one measured quantity.

    Raises:
        ValueError: if ends are missing or not allowed, `strict` is not a bool, or the weight is not a positive number.
    """

    name: str
    """Name of the quantity, a column of the results."""
    aim: Aim = "maximize"
    """Large values, small values, values near a range, or values anywhere inside a range."""
    low: float | None = None
    """Lower end of the range, or None."""
    high: float | None = None
    """Upper end of the range, or None."""
    strict: bool = False
    """True if the ends of a limit are excluded."""
    weight: float | None = None
    """Weight in a weighted sum. None if the front is wanted, with all weightings."""

    def __post_init__(self) -> None:
        check_flags(self)
        if not self.name or self.aim not in get_args(Aim):
            raise ValueError(f"Expected a name and one of {get_args(Aim)}. Got {self.name!r}, {self.aim!r}.")
        ends = [end for end in (self.low, self.high) if end is not None]
        if self.has_range != bool(ends) or not all(map(math.isfinite, ends)) or ends != sorted(ends):
            wanted = f"`{self.name}` with {'a finite' if self.has_range else 'no'} range, since its aim is {self.aim}"
            raise ValueError(f"Expected {wanted}. Got {self.low} to {self.high}.")
        if self.weight is not None and (self.aim == "limit" or not 0 < self.weight < math.inf):
            raise ValueError(f"Expected a positive weight, and none of a limit. Got {self.weight} for {self.name}.")

    @property
    def sign(self) -> float:
        """Return -1 if small values are good, otherwise 1."""
        return -1.0 if self.aim == "minimize" else 1.0

    @property
    def has_range(self) -> bool:
        """Return True if the goal has a range of values."""
        return self.aim in ("target", "limit")

    @property
    def better(self) -> str:
        """Return the side on which all values are as good or better: "above" or "below", or an empty text."""
        if self.aim == "maximize" or (self.has_range and self.high is None):
            return "above"
        return "below" if self.aim == "minimize" or (self.has_range and self.low is None) else ""

    @property
    def text(self) -> str:
        """Return the goal in a few words."""
        low, high = ("" if end is None else f"{end:g}" for end in (self.low, self.high))
        if self.aim in ("maximize", "minimize"):
            return f"{self.aim} {self.name}"
        if self.aim == "target":
            return f"{self.name} near {low}..{high}"
        equal = "" if self.strict else "="
        if not low or not high:
            return f"{self.name} {'<' if high else '>'}{equal} {high or low}"
        return f"{self.name} {low}..{high}"


def check_goals(goals: Sequence[Goal]) -> tuple[Goal, ...]:
    """Return the goals, if they can be combined.

    Raises:
        ValueError: if there are no goals, two with the same name, only limits, or weights for some of them.
    """
    names, wanted = [goal.name for goal in goals], [goal for goal in goals if goal.aim != "limit"]
    if not wanted or len(set(names)) < len(names):
        got = ", ".join(goal.text for goal in goals) or "none"
        raise ValueError(f"Expected goals of different names, and at least one other than limits. Got {got}.")
    without = [goal.name for goal in wanted if goal.weight is None]
    if 0 < len(without) < len(wanted):
        raise ValueError(f"Expected weights for all goals or for none. Without a weight: {', '.join(without)}.")
    return tuple(goals)


def list_aims(goals: Sequence[Goal]) -> str:
    """List the measured quantities and their aims, sorted: the part that cannot change in a campaign.

    Limits may be added and removed.
    """
    return ", ".join(sorted(f"{goal.aim} {goal.name}" for goal in goals if goal.aim != "limit"))
