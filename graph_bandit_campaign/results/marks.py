"""Vetoes and comments: facts of a campaign, by which people say what no result says. They teach its agent nothing."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from graph_bandit_campaign.results.measurement import Count

LONGEST = 2000  # characters of a text


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
