"""`graph-bandit backtest`: replay a finished table of molecules."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_campaign import BacktestSettings
from graph_bandit_cli.measure.words import in_words_of_the_command


@dataclass(frozen=True)
class Command(BacktestSettings):
    """Settings of a backtest."""

    def run(self) -> int:
        """Replay the table, and write results and page."""
        from graph_bandit_campaign import run_backtest  # here, because torch takes a second to load

        with in_words_of_the_command():
            run_backtest(self)
        return 0
