"""How often a backtest gives a verdict on values that were shuffled among the molecules."""
