"""`graph-bandit backtest`: replay a finished table of molecules."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_campaign import BacktestSettings


@dataclass(frozen=True)
class Command(BacktestSettings):
    """Settings of a backtest."""

    def run(self) -> int:
        """Replay the table, and write results and page."""
        from graph_bandit_campaign import run_backtest  # here, because torch takes a second to load

        run_backtest(self)
        return 0
