"""`graph-bandit serve`: show the campaigns of a folder to a team."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_serve import ServeSettings, serve


@dataclass(frozen=True)
class Command(ServeSettings):
    """Settings of the server."""

    def run(self) -> int:
        """Serve until Ctrl-C."""
        serve(self)
        return 0
