"""Whether a pool fits into memory, before anything is read."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable
from pathlib import Path

BYTES_PER_MOLECULE = 40_000  # with graphs and fingerprints; 49,699 of 13 to 40 atoms take 2.3 GB in all
BYTES_PER_MEASUREMENT = 250_000  # twice its tangent features, in float32
BYTES_AT_ALL = 500_000_000  # libraries, network and what a block needs
MEMORY = Path("/proc/meminfo")
LIMIT, USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")


def check_memory(pool: Path, measured: Iterable[Path] = ()) -> None:
    """Refuse a pool that does not fit into memory.

    Raises:
        ValueError: if it needs more than is available; it says how much.
    """
    rows, results = count_rows(pool), sum(map(count_rows, measured))
    fixed, available = BYTES_AT_ALL + results * BYTES_PER_MEASUREMENT, available_memory()
    needed = fixed + rows * BYTES_PER_MOLECULE
    if needed > available:
        fitting = max(0, int((available - fixed) // BYTES_PER_MOLECULE))
        raise ValueError(
            f"Expected a pool that fits into memory. {pool} has {rows:,} rows, which with {results:,} results need "
            f"about {needed / 1e9:.1f} GB, and {available / 1e9:.1f} GB are available. Take a part of it, "
            f"at most {fitting:,} rows."
        )


def available_memory() -> float:
    """Return how many bytes can still be taken, in this container too; infinity, where the system does not say."""
    known = [math.inf]
    if MEMORY.is_file():
        fields = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines() if ":" in line)
        known += [1024.0 * int(fields["MemAvailable"].split()[0])] if "MemAvailable" in fields else []
    if LIMIT.is_file() and USED.is_file() and LIMIT.read_text().strip() != "max":
        known.append(float(LIMIT.read_text()) - float(USED.read_text()))
    return min(known)


def count_rows(path: Path) -> int:
    """Count the lines of a table, or the rows of a Parquet file; 0 if there is none."""
    if not path.is_file():
        return 0
    if path.name.lower().endswith(".parquet"):
        from pyarrow.parquet import read_metadata  # the extra `parquet`

        return int(read_metadata(path).num_rows)
    with gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
