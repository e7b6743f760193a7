"""Show progress: a bar of rounds in a terminal, else a line for each repetition."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import NoReturn

from tqdm import tqdm

from graph_bandit_lab.design.names import name_environments
from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.episodes.records import RoundRecord
from graph_bandit_lab.execution.worker import Outcome, play
from graph_bandit_lab.formats import format_duration


class Progress:
    """A bar with rounds a second and the time left.

    It grows with each round that is played in this process, and with each repetition that is played elsewhere.

    Args:
        to_do: the repetitions that will be played.
        shown: show the bar.
    """

    def __init__(self, to_do: Sequence[Repetition], shown: bool) -> None:
        self._count, self._numbers, self._failed = len(to_do), itertools.count(1), 0
        environments = {repetition.key.environment_key: repetition.environment for repetition in to_do}
        self._environments = dict(zip(environments, name_environments(list(environments.values())), strict=True))
        self._shown = shown and bool(to_do)
        self._rounds = sum(repetition.key.environment["horizon"] for repetition in to_do)
        # None: tqdm hides the bar unless it goes to a terminal.
        self._bar: tqdm[NoReturn] = tqdm(
            total=self._rounds, unit="round", smoothing=0, disable=None if self._shown else True, file=sys.stderr
        )
        self._counted = 0  # rounds of the repetition that is being played in this process

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def play(self, repetition: Repetition, diagnose: bool) -> Outcome:
        """Play a repetition in this process, and count each of its rounds."""
        self._counted = 0
        self._bar.set_description(self.name(repetition))
        return play(repetition, diagnose, on_round=self._count_round)

    def _count_round(self, record: RoundRecord) -> None:
        self._counted += 1
        self._bar.update()

    def finish(self, repetition: Repetition, outcome: Outcome) -> None:
        """Count a repetition that is over, and print a line if there is no bar."""
        number, played = next(self._numbers), len(outcome.result.actions)
        self._bar.update(played - self._counted)
        self._rounds -= repetition.key.environment["horizon"] - played  # if it ended early
        self._bar.total = self._rounds
        self._counted = 0
        self._failed += bool(outcome.error)
        self._bar.set_postfix_str(f"{number} of {self._count}" + (f", {self._failed} failed" if self._failed else ""))
        if self._shown and self._bar.disable:
            print(f"{number} of {self._count}: {self.line(repetition, outcome)}", file=sys.stderr, flush=True)

    def line(self, repetition: Repetition, outcome: Outcome) -> str:
        """Describe the outcome of a repetition in a line."""
        return f"{self.name(repetition)}: {outcome.result!r}, {format_duration(outcome.wall_time)}"

    def name(self, repetition: Repetition) -> str:
        """Name a repetition: agent, environment and seed."""
        return f"{self.name_pair(repetition)}, seed {repetition.seed}"

    def name_pair(self, repetition: Repetition) -> str:
        """Name agent and environment of a repetition."""
        where = repetition.task or self._environments[repetition.key.environment_key]
        return f"{repetition.label}{where and f' on {where}'}"

    def print(self, text: str) -> None:
        """Print a text above the bar."""
        self._bar.write(text, file=sys.stderr)
