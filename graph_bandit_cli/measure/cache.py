"""`graph-bandit cache`: show how much is kept of earlier tables, and clear it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """Settings of the cache."""

    clear: bool = False
    """Delete all that is kept. It is computed again where it is needed."""

    def run(self) -> int:
        """Print the folder and its size."""
        from graph_bandit_env.storage import cache_path, clear_cache, measure_cache

        count, size = measure_cache()
        if self.clear:
            clear_cache()
        files = "1 file" if count == 1 else f"{count:,} files"
        print(f"{cache_path()}: {files}, {size / 1e6:,.1f} MB{' deleted' if self.clear else ''}.")
        return 0
