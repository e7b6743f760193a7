"""`graph-bandit suggest`: choose molecules to measure next."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from graph_bandit_campaign import SuggestSettings, listening


@dataclass(frozen=True)
class Command(SuggestSettings):
    """Settings of a suggestion."""

    def run(self) -> int:
        """Choose molecules, and write suggestions, campaign and page."""
        tell("Loading the model.")
        from graph_bandit_campaign import suggest  # here, because torch takes a second to load

        with listening(tell):
            suggest(self)
        return 0


def tell(line: str) -> None:
    """Say how far the command is to who sits before a terminal; logs and other programs get the answer alone."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr, flush=True)
