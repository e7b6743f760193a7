"""`graph-bandit backtest`: replay a finished table of molecules."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_campaign import BacktestSettings, run_backtest


@dataclass(frozen=True)
class Command(BacktestSettings):
    """Settings of a backtest."""

    def run(self) -> int:
        """Replay the table, and write results and page."""
        run_backtest(self)
        return 0
