"""What is told of graphs: values, bounds and failures, which teach; vetoes and comments, which do not."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import msgspec

from graph_bandit_campaign.checks import check_noise, check_value

Count = Annotated[int, msgspec.Meta(ge=0)]
Bound: TypeAlias = Literal["", "above", "below"]
"""What is known of a result: its value; or only that it lies above or below a number."""
Fact: TypeAlias = tuple[str, str, float | None, str, float | None]
"""What a result says: id, goal, value (None: failed), bound and noise."""
TYPED = ""
"""The source of results that no table holds: somebody typed them, or a program told them."""
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


@dataclass(frozen=True)
class Veto:
    """A graph that is not to be suggested, because somebody says so."""

    id: str
    """Id of the graph."""
    reason: str = ""
    """Why; empty if nobody said."""
    by: str = ""
    """Who said so; empty if it is not known."""
    round: Count = 0
    """How many rounds had been suggested then."""

    @property
    def text(self) -> str:
        """Return the id, why, and who said so."""
        words = ", ".join(filter(None, (self.reason, f"by {self.by}" * bool(self.by))))
        return f"{self.id} ({words})" if words else self.id


@dataclass(frozen=True)
class Comment:
    """A text about a graph."""

    id: str
    """Id of the graph."""
    text: str
    """What is said."""
    by: str = ""
    """Who says so; empty if it is not known."""
    round: Count = 0
    """How many rounds had been suggested then."""

    @property
    def words(self) -> str:
        """Return the id, what is said, and who says so."""
        return f"{self.id}: {self.text}" + f" (by {self.by})" * bool(self.by)


def check_text(name: str, text: str) -> str:
    """Return a text without blanks around it, with a line feed at the end of each line.

    Raises:
        ValueError: if it is too long, or has characters that cannot be printed, other than blanks, ends of lines, tabs.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    unseen = (sign for sign in text if not sign.isprintable() and sign not in "\n\t")
    bad = next((sign for sign in unseen if unicodedata.category(sign) != "Zs"), "")
    if len(text) > LONGEST or bad:
        got = f"the character {bad!a}" if bad else f"{len(text):,} characters"
        raise ValueError(f"Expected `{name}` of at most {LONGEST:,} characters that can be printed. Got {got}.")
    return text.strip()
