"""Attack every area for a while: python -m benchmarks.attack [--minutes 20] [--areas inputs kills] [--seed 0]."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from benchmarks.attack.attempts import Score, attack_area
from graph_bandit_lab.execution import Processes, run_in_parallel
from graph_bandit_lab.reports import print_columns

Name = Literal["kills", "inputs", "dirty"]
AREAS: tuple[Name, ...] = ("kills", "inputs")
SHOWN = 3  # faults of a kind


@dataclass(frozen=True, kw_only=True)
class Command:
    """Settings of the attack."""

    minutes: float = 20.0
    """Time for all areas together; each gets an equal share."""
    attempts: int | None = None
    """Most attempts on an area; None: as many as its time allows."""
    areas: tuple[Name, ...] = AREAS
    """Areas to attack."""
    data: Path | None = None
    """CSV table of molecules with three measured quantities (`benchmarks/attack/dirty.py`), for the area `dirty`."""
    killed: str = ""
    """A part of the name of the commands that the area `kills` kills, such as "a screen"."""
    seed: int = 0
    """Seed of all attempts."""
    workers: int = 2
    """Processes."""
    markdown: bool = False
    """Print the table in Markdown."""

    def __post_init__(self) -> None:
        if "dirty" in self.areas and self.data is None:
            raise ValueError("Expected `--data` with a table for the area `dirty`. Got none.")

    def run(self) -> int:
        """Print how many attempts each area survived, and the faults; return 1 if there are any."""
        seconds = 60 * self.minutes * self.workers / len(self.areas)
        scores: list[Score] = []
        given: dict[Name, list[Any]] = {"dirty": [self.data], "kills": [self.killed]}
        tasks: list[tuple[Any, ...]] = [
            (area, self.seed, seconds, self.attempts, *given.get(area, [])) for area in self.areas
        ]
        for (area, *_), outcome in run_in_parallel(attack_area, tasks, Processes(self.workers), attempts=1):
            if isinstance(outcome, Exception):
                outcome = Score(area, Counter(["the attack itself"]), {"the attack itself": [repr(outcome)]})
            scores.append(outcome)
            print(f"{area}: {outcome.tried.total():,} attempts", file=sys.stderr, flush=True)
        rows: list[tuple[str, ...]] = [("area: attempt", "tried", "survived")]
        for score in sorted(scores, key=lambda score: self.areas.index(score.area)):
            for kind, tried in sorted(score.tried.items()):
                survived = tried - len(score.faults.get(kind, []))
                rows.append((f"{score.area}: {kind}", f"{tried:,}", f"{survived:,}"))
        print_columns(rows, markdown=self.markdown)
        faults = [(kind, faults) for score in scores for kind, faults in score.faults.items()]
        for kind, texts in faults:
            print(f"\n{kind}: {len(texts)} faults")
            print("\n".join(f"  {fault}" for fault in sorted(set(texts))[:SHOWN]))
        return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(tyro.cli(Command, description=__doc__).run())
