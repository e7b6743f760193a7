"""Count the verdicts of backtests on values that were shuffled among the molecules."""
