"""`graph-bandit suggest`: choose molecules to measure next."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_campaign import SuggestSettings, suggest


@dataclass(frozen=True)
class Command(SuggestSettings):
    """Settings of a suggestion."""

    def run(self) -> int:
        """Choose molecules, and write suggestions, campaign and page."""
        suggest(self)
        return 0
