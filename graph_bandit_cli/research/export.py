"""`graph-bandit export`: write all finished repetitions of a folder to one small file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Command:
    """Settings of an export."""

    folder: tyro.conf.Positional[Path]
    """Folder of results, the `--out` of a run or a sweep. It is only read, also while something plays into it."""
    out: Path
    """The file, from which `--continue` of a run or a sweep goes on. An earlier export is replaced."""

    def run(self) -> int:
        """Write the file, and say how large it is and what it leaves out."""
        from graph_bandit_lab.storage import export_results

        exported = export_results(self.folder, self.out)
        print(f"{exported.path}: {exported.repetitions:,} repetitions, {exported.path.stat().st_size / 1e3:,.0f} kB")
        if exported.failed:
            print(f"Left out, because they have failed: {exported.failed}.")
        return 0
