"""Play a campaign on dirty tables, and kill it: python -m benchmarks.attack.dirty --data adme.csv [--kills 50]."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro

from benchmarks.attack.attempts import Attempt
from benchmarks.attack.dirty.games import KILLED, CommandGame, PythonGame
from benchmarks.attack.dirty.team import Team
from graph_bandit_lab.reports import print_columns


@dataclass(frozen=True, kw_only=True)
class Command:
    """Settings of the attack."""

    data: Path
    """CSV table of molecules with three measured quantities."""
    smiles: str = "SMILES"
    """Its column of SMILES."""
    solubility: str = "LOG SOLUBILITY PH 6.8 (ug/mL)"
    """Its column to maximise."""
    clearance: str = "LOG HLM_CLint (mL/min/kg)"
    """Its column to minimise."""
    efflux: str = "LOG MDR1-MDCK ER (B-A/A-B)"
    """Its column with the limit."""
    rows: int = 100
    """Molecules of the pool."""
    rounds: int = 3
    """Rounds of a campaign."""
    kills: int = 50
    """Kills of the command, and as many or a few more of a program with a `Campaign`."""
    agent: str = "molecule-ucb:short_list=50"
    """Agent, as on the command line."""
    seed: int = 0
    """Seed of all attempts."""
    markdown: bool = False
    """Print the table in Markdown."""

    def run(self) -> int:
        """Print how many attempts were survived, and the faults; return 1 if there are any."""
        with tempfile.TemporaryDirectory() as folder:
            attempts = []
            for attempt in self.attempts(Path(folder)):
                attempts.append(attempt)
                print(f"{len(attempts)}. {attempt.kind}: {attempt.fault or 'survived'}", file=sys.stderr, flush=True)
        tried = Counter(attempt.kind for attempt in attempts)
        faults = Counter(attempt.kind for attempt in attempts if attempt.fault)
        rows: list[tuple[str, ...]] = [("attempt", "tried", "survived")]
        rows += [(kind, str(count), str(count - faults[kind])) for kind, count in tried.items()]
        print_columns(rows, markdown=self.markdown)
        print("\n".join(f"{attempt.kind}: {attempt.fault}" for attempt in attempts if attempt.fault))
        return int(bool(faults))

    def attempts(self, folder: Path) -> Iterator[Attempt]:
        """Play and kill."""
        generator = np.random.default_rng(self.seed)
        columns = (self.smiles, self.solubility, self.clearance, self.efflux)
        team = Team(self.data, columns, self.rows, generator)
        torch.set_num_threads(1)  # threads do not survive in the processes that start from here
        game = CommandGame(team, folder / "command", self.agent)
        program = PythonGame(team, folder / "python", self.agent, self.rounds)
        yield from game.play(self.rounds)
        for _ in range(self.kills):
            yield game.kill(generator)
        killed = 0
        while killed < self.kills:
            for attempt in program.kill(generator):
                killed += attempt.kind == KILLED
                yield attempt


if __name__ == "__main__":
    raise SystemExit(tyro.cli(Command, description=__doc__).run())
