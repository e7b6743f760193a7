"""The memory that a pool may take."""

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


def find_most_rows(results: int, columns: int = 0, graphs: bool = False) -> int:
    """Return how many molecules fit into memory.

    Args:
        results: how many measurements there are; they need memory, too.
        columns: how many numbers of the user's own each molecule has.
        graphs: whether an agent reads atoms and bonds.
    """
    per_row = (BYTES_PER_GRAPH if graphs else BYTES_PER_MOLECULE) + columns * BYTES_PER_NUMBER
    fixed = BYTES_AT_ALL + results * (BYTES_PER_MEASUREMENT + results * BYTES_PER_PAIR)
    return max(0, int((available_memory() - fixed) // per_row))


def refuse_large(path: Path, rows: int, most: int) -> None:
    """Refuse a pool that does not fit.

    Raises:
        ValueError: if it has more than so many rows.
    """
    if rows > most:
        raise ValueError(
            f"Expected a pool that fits into memory, at most {most:,} rows with these results. {path} has {rows:,}. "
            "Choose a `molecule-` agent without files of features, or use a part of it."
        )


def available_memory() -> float:
    """Return how many bytes are available, within the limit of the container if there is one."""
    limits = [float(psutil.virtual_memory().available)]
    if LIMIT.is_file() and USED.is_file() and (limit := LIMIT.read_text(encoding="ascii").strip()) != "max":
        limits.append(float(limit) - float(USED.read_text(encoding="ascii")))
    return min(limits)
