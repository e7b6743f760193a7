"""The goal of one measured quantity: large or small values, or a range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from graph_bandit_campaign.checks import check_flags

Aim: TypeAlias = Literal["maximize", "minimize", "target", "limit"]


@dataclass(frozen=True)
class Goal:
    """What is wanted of one measured quantity.

    Raises:
        ValueError: if ends are missing or not wanted, `strict` is not a bool, or the weight not a positive number.
    """

    name: str
    """Name of the quantity, a column of the results."""
    aim: Aim = "maximize"
    """Large values, small values, values near a range, or only values inside a range, however far inside."""
    low: float | None = None
    """Lower end of the range; None: there is none."""
    high: float | None = None
    """Upper end of the range; None: there is none."""
    strict: bool = False
    """Whether the ends of a limit do not meet it themselves."""
    weight: float | None = None
    """Weight in a weighted sum; None: the front is wanted, with all ways to weigh."""

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
        """Return -1 if small values are wanted, else 1."""
        return -1.0 if self.aim == "minimize" else 1.0

    @property
    def has_range(self) -> bool:
        """Return whether the goal is about a range of values."""
        return self.aim in ("target", "limit")

    @property
    def better(self) -> str:
        """Return the side to which no value is worse: "above" or "below"; an empty text if there is none."""
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
    """Return goals that can be pursued together.

    Raises:
        ValueError: if there are none, two of one name, limits alone, or weights for some of them.
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
    """Return which quantities are measured, and what for, in one order: what may not change in a campaign.

    Limits may come and go.
    """
    return ", ".join(sorted(f"{goal.aim} {goal.name}" for goal in goals if goal.aim != "limit"))
