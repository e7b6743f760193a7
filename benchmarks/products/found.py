"""Count the best products that are found, against beliefs of blocks, hill climbing and chance."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.pools.study import Cells, Study, Table
from benchmarks.products.objectives import OBJECTIVES, Purpose, make_objective
from benchmarks.products.searchers import SEARCHERS

LOOKS = (1000, 2000, 6100)  # evaluations after which it is counted
BEST = 100


@dataclass(frozen=True, kw_only=True)
class FoundStudy(Study):
    """Search libraries whose products have known values, and count how many of the best 100 are found."""

    purpose: Purpose = "report"
    """Blocks, queries and interactions on which settings were chosen, or others."""
    objectives: tuple[str, ...] = tuple(OBJECTIVES)
    """Objectives to search by: `similarity-93M` has all quinazolines of the literature, others 250,000 products."""
    searchers: tuple[str, ...] = tuple(SEARCHERS)
    """Ways to search."""
    starts: int = 5
    """Plays of each, with other random numbers."""
    evaluations: int = LOOKS[-1]
    """After how many a play ends."""

    key = ("purpose", "objective", "searcher", "start")
    scores = ("additive", *(f"found {look}" for look in LOOKS), "seconds", "memory")

    def tasks(self) -> Iterator[tuple[Purpose, str, str, int]]:
        """Yield each objective with each searcher and start."""
        for objective in self.objectives:
            for searcher in self.searchers:
                for start in range(self.starts):
                    yield self.purpose, objective, searcher, start

    def play(self, purpose: Purpose, name: str, searcher: str, start: int) -> Iterator[tuple[float, ...]]:
        """Search once; one row: the share of sums, what was found, seconds of a core, and peak memory in GB."""
        objective = make_objective(name, purpose, self.data)
        best = int(np.nanargmax(objective.values))
        seed = int(np.random.SeedSequence(start, spawn_key=(best,)).generate_state(1)[0])
        begin, looked, found = time.process_time(), list[int](), list[float]()
        player = SEARCHERS[searcher](objective.library, seed)
        looks = [look for look in LOOKS if look <= self.evaluations]
        while len(found) < len(looks):
            numbers = player.ask()
            looked += numbers[~np.isnan(objective.values[numbers])].tolist()
            player.tell(numbers, objective.values[numbers].astype(np.float64))
            while len(found) < len(looks) and len(looked) >= looks[len(found)]:
                found.append(objective.count_found(looked[: looks[len(found)]], BEST))
                if found[-1] == BEST:  # and no more can be found
                    found += [BEST] * (len(looks) - len(found))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        found += [np.nan] * (len(LOOKS) - len(found))
        yield objective.additive, *found, time.process_time() - begin, memory

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield the worst and the best of the starts, for each objective and searcher."""
        heads = (*(f"found after {look:,}" for look in LOOKS), "seconds", "GB")
        cells: list[Cells] = [("objective", "sums explain", "searcher", *heads)]
        for (objective, searcher), part in rows.groupby(["objective", "searcher"], sort=False):
            counts = [part[f"found {look}"] for look in LOOKS]
            found = [
                f"{least:.0f}-{most:.0f}" for least, most in ((of_look.min(), of_look.max()) for of_look in counts)
            ]
            ends = f"{part['seconds'].mean():.0f}", f"{part['memory'].max():.2f}"
            cells.append((str(objective), f"{part['additive'].mean():.2f}", str(searcher), *found, *ends))
        starts = rows["start"].nunique()
        yield Table(f"Of the best {BEST} products, in the worst and the best of {starts} plays", cells)
