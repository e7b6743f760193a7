"""`graph-bandit prepare`: make a pool of any size ready to be read part by part."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_campaign import PrepareSettings, prepare


@dataclass(frozen=True)
class Command(PrepareSettings):
    """Settings of the preparation."""

    def run(self) -> int:
        """Prepare the pool, or continue."""
        prepare(self)
        return 0
