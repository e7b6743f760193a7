"""Give molecules to a program a few at a time, several programs at once; those it cannot do together go alone."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from graph_bandit_campaign.screening.program import PATIENCE, Outcome, Program

PAUSE = 0.02  # seconds between two looks at the programs


@dataclass(frozen=True)
class Scorer:
    """A program that computes the value of molecules."""

    command: Sequence[str]
    """The program and its arguments."""
    chunk: int
    """How many molecules it is given at a time."""
    jobs: int
    """How many programs run at a time."""
    timeout: float
    """Seconds after which a program is ended."""

    def score(self, molecules: Mapping[str, str]) -> Generator[Outcome]:
        """Yield what comes out for some of the molecules, as soon as it is there; in the end there are values for all.

        Where nothing counts that a program wrote, since it failed or took too long, each of its molecules is tried once
        alone; one that fails alone has the value None. Close the generator to end all programs.

        Args:
            molecules: SMILES by id.

        Raises:
            OSError: if the program cannot be started.
        """
        pairs = [*molecules.items()]
        waiting = deque(dict(pairs[start : start + self.chunk]) for start in range(0, len(pairs), self.chunk))
        running: list[Program] = []
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    running.append(Program(self.command, waiting.popleft(), self.timeout))
                ended = [(program, outcome) for program in running if (outcome := program.poll()) is not None]
                for program, outcome in ended:
                    running.remove(program)
                    if outcome.problem and len(outcome.molecules) > 1:
                        waiting.extend({name: smiles} for name, smiles in outcome.molecules.items())
                    elif outcome.problem:
                        outcome = replace(outcome, values=dict.fromkeys(outcome.molecules))
                    yield outcome
                if not ended:
                    time.sleep(PAUSE)
        finally:
            _end(running)


def _end(programs: Sequence[Program]) -> None:
    """End programs, all at the same time."""
    for program in programs:
        program.stop()
    deadline = time.monotonic() + PATIENCE
    for number, program in enumerate(programs):
        try:
            program.end(max(0.0, deadline - time.monotonic()))
        except BaseException:  # a second Ctrl-C: nobody waits any more
            for other in programs[number + 1 :]:
                other.end()
            raise
