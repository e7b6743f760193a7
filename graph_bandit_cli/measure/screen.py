"""`graph-bandit screen`: have a program compute the values of what is suggested, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_campaign import ScreenSettings


@dataclass(frozen=True)
class Command(ScreenSettings):
    """Settings of a screen."""

    def run(self) -> int:
        """Choose molecules and have their values computed, until the evaluations are spent."""
        from graph_bandit_campaign import screen  # here, because torch takes a second to load

        screen(self)
        return 0
