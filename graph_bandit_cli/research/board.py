"""`graph-bandit board`: check entries of the board of the testbed, and write its page."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

NONE = tyro.conf.arg(help_behavior_hint="(default: none)")  # for empty tuples, in `--help`


@dataclass(frozen=True)
class Command:
    """Settings of a check."""

    entries: Annotated[tyro.conf.Positional[tuple[Path, ...]], NONE] = ()
    """Files of `graph-bandit export`, and folders of such files, `*.sqlite.xz`."""
    board: Annotated[tuple[Path, ...], NONE] = ()
    """Files and folders of entries that are on the board already: none of their agents may come again. What is checked
    is new then, so this version must be able to play its agents of this package."""
    dry_run: bool = False
    """Apply the rules alone, in half a minute: nothing is played."""
    share: float = 0.1
    """Share of the repetitions of each agent of this package that is played again; one at least."""
    seed: int = 0
    """With the digest of the file, it decides which repetitions these are."""
    workers: int | None = None
    """Processes that play, each on one thread; 0: one for each core; None: this process itself plays."""
    page: Path | None = None
    """Folder for the page of the board, `index.html`. Refused entries are named there, and not ranked."""

    def run(self) -> int:
        """Check the entries, say what came of it, and write the page; 1 if one was refused."""
        from graph_bandit_lab.board import Replays, check_entries, list_entries, read_rules, write_board
        from graph_bandit_lab.execution import choose_workers

        if not list_entries(self.entries):
            where = f"There are none in {self.entries[0]}" if self.entries else "Got no file and no folder"
            raise ValueError(f"Expected entries of the board, `*.sqlite.xz`. {where}.")
        replays = None if self.dry_run else Replays(share=self.share, seed=self.seed)
        open_workers, _ = choose_workers(self.workers, None)
        rules = read_rules()
        checked = check_entries(self.entries, rules, replays, self.board, open_workers, _say)
        for sent in checked:
            print("\n".join(sent.lines))
        if self.page is not None:
            print(write_board(checked, rules, self.page))
        return 1 if any(sent.faults for sent in checked) else 0


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
