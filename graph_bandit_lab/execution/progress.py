"""Show progress: a bar of repetitions in a terminal, else a line for each."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from graph_bandit_lab.design.names import name_environments
from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.execution.worker import Outcome
from graph_bandit_lab.formats import format_duration


class Progress:
    """A bar with the repetitions that are over, and the time left.

    Args:
        to_do: the repetitions that will be played.
        shown: show the bar.
    """

    def __init__(self, to_do: Sequence[Repetition], shown: bool) -> None:
        from tqdm import tqdm

        environments = {repetition.key.environment_key: repetition.environment for repetition in to_do}
        self._environments = dict(zip(environments, name_environments(list(environments.values())), strict=True))
        self._shown, self._count, self._over, self._failed = shown and bool(to_do), len(to_do), 0, 0
        hidden = None if self._shown else True  # None: tqdm hides the bar unless it goes to a terminal
        self._bar = tqdm(total=len(to_do), unit="repetition", smoothing=0, disable=hidden, file=sys.stderr)
        self.close = self._bar.close

    def finish(self, repetition: Repetition, outcome: Outcome) -> None:
        """Count a repetition that is over, and print a line if there is no bar."""
        self._over += 1
        self._failed += bool(outcome.error)
        self._bar.set_postfix_str(f"{self._failed} failed" if self._failed else "")
        self._bar.update()
        if self._shown and self._bar.disable:
            self.print(f"{self._over} of {self._count}: {self.line(repetition, outcome)}")

    def line(self, repetition: Repetition, outcome: Outcome) -> str:
        """Describe the outcome of a repetition in a line."""
        result, status = outcome.result, outcome.result.status
        played = f"regret {result.regret.sum():.4g} in {len(result.actions)} rounds"
        unfinished = "" if status == "finished" else f"{status}, "
        return f"{self.name(repetition)}: {unfinished}{played}, {format_duration(outcome.wall_time)}"

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
