"""`graph-bandit prepare`: make a pool of any size ready to be read part by part."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_campaign import PrepareSettings, prepare
from graph_bandit_cli.measure.words import in_words_of_the_command


@dataclass(frozen=True)
class Command(PrepareSettings):
    """Settings of the preparation."""

    def run(self) -> int:
        """Prepare the pool, or continue."""
        with in_words_of_the_command():
            prepare(self)
        return 0
