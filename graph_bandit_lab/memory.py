"""Whether a pool fits into memory, before anything is read."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

BYTES_PER_MOLECULE = 40_000  # with graphs and fingerprints; 49,699 of 13 to 40 atoms take 2.2 GB in all
BYTES_AT_ALL = 500_000_000  # libraries, network and what a block needs
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def check_memory(pool: Path) -> None:
    """Refuse a pool that does not fit into memory.

    Raises:
        ValueError: if it needs more than is available; it says how much.
    """
    rows = count_rows(pool)
    needed, available = BYTES_AT_ALL + rows * BYTES_PER_MOLECULE, available_memory()
    if needed > available:
        fitting = max(0, int((available - BYTES_AT_ALL) // BYTES_PER_MOLECULE))
        raise ValueError(
            f"Expected a pool that fits into memory. {pool} has {rows:,} rows, which need about {needed / 1e9:.1f} GB; "
            f"{available / 1e9:.1f} GB are available. Take a part of it, of at most {fitting:,} rows."
        )


def available_memory() -> float:
    """Return how many bytes this process can still take, in its container too."""
    free = float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    limit = CGROUP_LIMIT.read_text().strip() if CGROUP_LIMIT.is_file() else "max"
    return free if limit == "max" else min(free, float(limit))


def count_rows(path: Path) -> int:
    """Count the lines of a table, or the rows of a Parquet file; 0 if there is none."""
    if not path.is_file():
        return 0
    if path.name.lower().endswith(".parquet"):
        from pyarrow.parquet import read_metadata  # the extra `parquet`

        return int(read_metadata(path).num_rows)
    with gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
