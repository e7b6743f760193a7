"""`graph-bandit watch`: show how far a run or a sweep is, while it is played."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

if TYPE_CHECKING:
    from rich.console import Console

    from graph_bandit_lab.analysis import Standing
    from graph_bandit_lab.storage import ResultsFollower

LEISURE = 20  # times what a look takes: the cores are for those who play
LONGEST = 10.0  # seconds of leisure


@dataclass(frozen=True)
class Command:
    """Settings of the watch."""

    folder: tyro.conf.Positional[Path]
    """Folder of results, the `--out` of a run or a sweep. It is only read."""
    once: bool = False
    """Print the numbers once. Where the output is not a terminal, they are always printed once."""
    every: float = 2.0
    """Seconds between two looks."""

    def run(self) -> int:
        """Show the numbers until nobody plays any more; return 1 if that is before the end."""
        from rich.console import Console

        from graph_bandit_lab.reports import lines_of_standing
        from graph_bandit_lab.storage import ResultsFollower

        if not 0 < self.every < math.inf:
            raise ValueError(f"Expected `--every` to be positive and finite. Got {self.every!r}.")
        follower, console = ResultsFollower(self.folder), Console()
        if not self.once and console.is_terminal:
            try:
                return self._watch(follower, console)
            except KeyboardInterrupt:  # as one leaves a watch
                return 0
        standing = self._look(follower)
        print("\n".join(lines_of_standing(standing)))
        return int(standing.state == "stopped")

    def _watch(self, follower: ResultsFollower, console: Console) -> int:
        from rich.live import Live
        from rich.text import Text

        from graph_bandit_lab.reports import lines_of_standing

        with Live(console=console, auto_refresh=False) as live:
            while True:
                begin = time.monotonic()
                standing = self._look(follower)
                lines = lines_of_standing(standing, console.width, console.height)
                live.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"), refresh=True)
                if standing.state not in ("begun", "played"):
                    return int(standing.state == "stopped")
                time.sleep(max(self.every, min(LEISURE * (time.monotonic() - begin), LONGEST)))

    def _look(self, follower: ResultsFollower) -> Standing:
        from graph_bandit_lab.analysis import stand

        snapshot = follower.read()
        if not (snapshot.driven or snapshot.plan or snapshot.repetitions or snapshot.damaged):
            raise FileNotFoundError(
                f"Expected results in {self.folder}, or a process that plays there. A sweep that was started just now "
                "may still be planning: wait a few seconds."
            )
        return stand(snapshot, datetime.now(UTC))
