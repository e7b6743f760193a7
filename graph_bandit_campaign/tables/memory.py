"""Estimate the memory that a pool needs, before any graph is made."""

from __future__ import annotations

from pathlib import Path

import psutil

BYTES_PER_MOLECULE = 5_000  # texts, categories and traits; those of 13 to 40 atoms take 2.6 kB
BYTES_PER_GRAPH = 40_000  # for an agent that reads atoms and bonds: `gnn-ts` takes 33 kB a molecule
BYTES_PER_MEASUREMENT = 100_000  # its kernel with a block of 4,096 molecules in float64, three times
BYTES_PER_PAIR = 40  # of measurements: the kernel, its factor, and what is needed to compute both
BYTES_PER_NUMBER = 80  # of the user's own columns: as read, as joined, and as the agent ranks and standardises it
BYTES_AT_ALL = 500_000_000  # libraries, network and one block of the computation
LIMIT, USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")  # of a container on Linux


class Budget:
    """The memory that is left for a pool.

    Args:
        results: how many measurements there are; they need memory, too.
        columns: how many numbers of the user's own each molecule has.
        graphs: whether an agent reads atoms and bonds.
    """

    def __init__(self, results: int, columns: int = 0, graphs: bool = False) -> None:
        self.results, self.available = results, available_memory()
        self.each = (BYTES_PER_GRAPH if graphs else BYTES_PER_MOLECULE) + columns * BYTES_PER_NUMBER
        self.fixed = BYTES_AT_ALL + results * (BYTES_PER_MEASUREMENT + results * BYTES_PER_PAIR)

    @property
    def most_rows(self) -> int:
        """Return how many molecules fit."""
        return max(0, int((self.available - self.fixed) // self.each))

    def refusal(self, path: Path, rows: int) -> str:
        """Return the message for a pool that does not fit."""
        needed = self.fixed + rows * self.each
        return (
            f"Expected a pool that fits into memory. {path} has {rows:,} rows, which with {self.results:,} results "
            f"need about {needed / 1e9:.1f} GB, and {self.available / 1e9:.1f} GB are available. Give `graph-bandit "
            f"prepare {path} --out FOLDER`, and the folder in its place; or use a part of it, at most "
            f"{self.most_rows:,} rows."
        )


def available_memory() -> float:
    """Return how many bytes are available, within the limit of the container if there is one."""
    known = [float(psutil.virtual_memory().available)]
    if LIMIT.is_file() and USED.is_file() and (limit := LIMIT.read_text(encoding="ascii").strip()) != "max":
        known.append(float(limit) - float(USED.read_text(encoding="ascii")))
    return min(known)
