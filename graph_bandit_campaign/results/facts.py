"""Data about graphs: results for training (values, bounds and failures), and vetoes and comments."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import msgspec

from graph_bandit_campaign.checks import check_noise, check_value

Count = Annotated[int, msgspec.Meta(ge=0)]
Bound: TypeAlias = Literal["", "above", "below"]
"""Kind of a result: an exact value (""), or a bound that it lies above or below."""
Fact: TypeAlias = tuple[str, str, float | None, str, float | None]
"""Content of a result: id, goal, value (None: failed), bound and noise."""
TYPED = ""
"""The source of results that are not in a table: typed by a user, or reported by a program."""
LONGEST = 2000  # characters of a text
SIGNS = {"above": ">", "below": "<", "": ""}


@dataclass(frozen=True)
class Measurement:
    """A measured value."""

    id: str
    """Id of the graph."""
    value: float
    """The measured value."""
    round: Count
    """Number of rounds that had been suggested before the value arrived. 0 means before the campaign."""
    bound: Bound = ""
    """"above" or "below" if the result is only known to lie above or below `value`, otherwise ""."""
    goal: str = ""
    """With several goals, the name of the measured one."""
    noise: float | None = None
    """Standard deviation of the measurement noise of this result, in its units. None if unknown."""
    sources: tuple[str, ...] = (TYPED,)
    """The tables with this result, by paths relative to the folder of the campaign's file. `TYPED` if it was typed."""
    by: str = ""
    """Name of the reporting person. Empty if unknown."""
    at: str = ""
    """Time of the report, in UTC."""

    def __post_init__(self) -> None:
        check_value(self.id, self.value)
        check_noise(self.id, self.noise, self.bound)

    @property
    def fact(self) -> Fact:
        """Return its content, regardless of its source."""
        return self.id, self.goal, self.value, self.bound, self.noise

    @property
    def text(self) -> str:
        """Format it as the cell of a table: `4.5` or `>4.5`."""
        return f"{SIGNS[self.bound]}{self.value:.6g}"


@dataclass(frozen=True)
class Failure:
    """A graph that could not be measured. A value of the graph takes precedence."""

    id: str
    """Id of the graph."""
    round: Count = 0
    """Number of rounds that had been suggested before the report."""
    goal: str = ""
    """With several goals, the name of the one that could not be measured."""
    sources: tuple[str, ...] = (TYPED,)
    """As in `Measurement`."""
    by: str = ""
    """Name of the reporting person. Empty if unknown."""
    at: str = ""
    """Time of the report, in UTC."""
    text = "failed"

    @property
    def fact(self) -> Fact:
        """Return its content, regardless of its source."""
        return self.id, self.goal, None, "", None


Result: TypeAlias = Measurement | Failure


@dataclass(frozen=True)
class Veto:
    """A graph that a user has excluded from suggestions."""

    id: str
    """Id of the graph."""
    reason: str = ""
    """Reason. Empty if not given."""
    by: str = ""
    """Name of the user. Empty if unknown."""
    round: Count = 0
    """Number of rounds that had been suggested before."""

    @property
    def text(self) -> str:
        """Format the id, the reason, and the name of the user."""
        words = ", ".join(filter(None, (self.reason, f"by {self.by}" * bool(self.by))))
        return f"{self.id} ({words})" if words else self.id


@dataclass(frozen=True)
class Comment:
    """A text about a graph."""

    id: str
    """Id of the graph."""
    text: str
    """Text of the comment."""
    by: str = ""
    """Name of the user. Empty if unknown."""
    round: Count = 0
    """Number of rounds that had been suggested before."""

    @property
    def words(self) -> str:
        """Format the id, the text, and the name of the user."""
        return f"{self.id}: {self.text}" + f" (by {self.by})" * bool(self.by)


def check_text(name: str, text: str) -> str:
    """Strip a text, and normalize its line endings to line feeds.

    Raises:
        ValueError: if it is too long, or has unprintable characters other than blanks, line endings and tabs.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    unseen = (sign for sign in text if not sign.isprintable() and sign not in "\n\t")
    bad = next((sign for sign in unseen if unicodedata.category(sign) != "Zs"), "")
    if len(text) > LONGEST or bad:
        got = f"the character {bad!a}" if bad else f"{len(text):,} characters"
        raise ValueError(f"Expected `{name}` of at most {LONGEST:,} characters that can be printed. Got {got}.")
    return text.strip()
