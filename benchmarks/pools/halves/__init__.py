"""Compare what a backtest of one half of a pool promises with what the other half then gives."""
